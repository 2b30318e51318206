import { isJsonArray } from '../../core/canonical/json-text.ts'
import { passedDialect } from '../dialects/passed.ts'
import { rankedList } from '../dialects/ranked-list.ts'
import { renamed } from '../dialects/rename.ts'
import type { FormRewrite, Provider } from '../provider.ts'

const RANK_NAMES = {
  model: 'model',
  query: 'query',
  documents: 'documents',
  top_n: 'top_k',
  top_k: 'top_k',
  return_documents: 'return_documents',
  truncation: 'truncation',
}

/** Both forms are close to the common ones; some names differ. */
export const voyage: Provider = {
  kind: 'voyage',
  name: 'Voyage AI',
  defaultBaseUrl: 'https://api.voyageai.com/v1',
  publicFields: [],
  dialects: {
    rerank: passedDialect({ protocol: 'rerank', path: '/rerank', rewrite: rankedList(RANK_NAMES) }),
    embeddings: passedDialect({
      protocol: 'embeddings',
      path: '/embeddings',
      rewrite: embeddings(),
      textPurpose: {
        member: 'input_type',
        words: { RETRIEVAL_QUERY: 'query', RETRIEVAL_DOCUMENT: 'document' },
      },
    }),
  },
}

function embeddings(): FormRewrite {
  const names = {
    model: 'model',
    input: 'input',
    dimensions: 'output_dimension',
    output_dimension: 'output_dimension',
    output_dtype: 'output_dtype',
    input_type: 'input_type',
    truncation: 'truncation',
    encoding_format: 'encoding_format',
  }
  return {
    request: ({ encoding_format: format, ...asked }) => {
      // Numbers are the default; requesting them explicitly is refused.
      const { members, dropped } = renamed(
        format === 'base64' ? { ...asked, encoding_format: format } : asked,
        names,
      )
      return { body: members, dropped, context: {} }
    },
    answer: (body) => (isJsonArray(body['data']) ? body : undefined),
  }
}
