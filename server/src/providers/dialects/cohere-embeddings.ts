/** Embeddings in Cohere's own form, at Cohere and where its models are hosted (docs/protocols.md#embeddings). */
import { isJsonArray } from '../../core/canonical/json-text.ts'
import { isJsonObject, type JsonValue } from '../../core/json.ts'
import type { FormRewrite, TextPurpose } from '../provider.ts'
import { renamed } from './rename.ts'
import { vectorList } from './vectors.ts'

/** Required by Cohere. OpenAI's clients cannot set it, and mostly embed documents. */
const PURPOSE_UNSAID = 'search_document'

/** Cohere's own members, which a client may add. */
const NAMES = {
  dimensions: 'output_dimension',
  output_dimension: 'output_dimension',
  input_type: 'input_type',
  max_tokens: 'max_tokens',
  truncate: 'truncate',
}

export const COHERE_PURPOSE: TextPurpose = {
  member: 'input_type',
  words: {
    RETRIEVAL_QUERY: 'search_query',
    RETRIEVAL_DOCUMENT: 'search_document',
    CLASSIFICATION: 'classification',
    CLUSTERING: 'clustering',
  },
}

/** The vendor's documentation does not name the model of an answer. */
export const cohereVectors: FormRewrite = {
  request: ({ model = null, input = null, encoding_format: format, ...rest }) => {
    const { members, dropped } = renamed(rest, NAMES)
    return {
      // Always numbers, whatever the client asked for: the format of the vendor's own base64 is not documented.
      body: {
        input_type: PURPOSE_UNSAID,
        ...members,
        texts: isJsonArray(input) ? input : [input],
        embedding_types: ['float'],
      },
      dropped,
      context: { model, base64: format === 'base64' },
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
