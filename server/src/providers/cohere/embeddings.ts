/**
 * Vectors by Cohere, in its own form: the one that imitates OpenAI's has no place for dimensions, nor for what a text is for
 * (docs/protocols.md#embeddings).
 */
import { isJsonArray } from '../../core/canonical/json-text.ts'
import { isJsonObject, type JsonValue } from '../../core/json.ts'
import { passedDialect } from '../dialects/passed.ts'
import { renamed } from '../dialects/rename.ts'
import { vectorList } from '../dialects/vectors.ts'
import type { FormRewrite, PassedDialect } from '../provider.ts'

/** Has to be said; OpenAI's clients have no word for it, and mostly embed what is to be found. */
const PURPOSE_UNSAID = 'search_document'

/** Its own members besides, which a client may add. */
const NAMES = {
  model: 'model',
  dimensions: 'output_dimension',
  output_dimension: 'output_dimension',
  input_type: 'input_type',
  max_tokens: 'max_tokens',
  truncate: 'truncate',
}

const rewrite: FormRewrite = {
  request: ({ input = null, encoding_format: format, ...rest }) => {
    const { members, dropped } = renamed(rest, NAMES)
    return {
      // Numbers, whatever the client wants: which bytes its own base64 holds is not documented.
      body: {
        input_type: PURPOSE_UNSAID,
        ...members,
        texts: isJsonArray(input) ? input : [input],
        embedding_types: ['float'],
      },
      dropped,
      context: { model: members['model'] ?? null, base64: format === 'base64' },
    }
  },
  answer: ({ embeddings, meta }, context) => {
    const vectors = isJsonObject(embeddings) ? embeddings['float'] : undefined
    return isJsonArray(vectors) ? vectorList(vectors, context, tokensIn(meta)) : undefined
  },
}

function tokensIn(meta: JsonValue | undefined): number | undefined {
  const billed = isJsonObject(meta) ? meta['billed_units'] : undefined
  const tokens = isJsonObject(billed) ? billed['input_tokens'] : undefined
  return typeof tokens === 'number' ? tokens : undefined
}

export const cohereEmbeddings: PassedDialect = passedDialect({
  protocol: 'embeddings',
  path: '/v2/embed',
  rewrite,
  textPurpose: {
    member: 'input_type',
    words: {
      RETRIEVAL_QUERY: 'search_query',
      RETRIEVAL_DOCUMENT: 'search_document',
      CLASSIFICATION: 'classification',
      CLUSTERING: 'clustering',
    },
  },
})
