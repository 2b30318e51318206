/** Vectors by Google: one request for each text, all in one call. */
import { isJsonArray } from '../../core/canonical/json-text.ts'
import { isJsonObject, type JsonValue } from '../../core/json.ts'
import { modelBelow } from '../dialects/gemini/gemini.ts'
import { passedDialect } from '../dialects/passed.ts'
import { renamed } from '../dialects/rename.ts'
import { vectorList } from '../dialects/vectors.ts'
import type { FormedRequest, FormInput, FormRewrite, PassedDialect } from '../provider.ts'

/** Parameters of each request. */
const PARAMETERS = { dimensions: 'outputDimensionality', task_type: 'taskType' }

const rewrite: FormRewrite = {
  request: ({ model = null, input = null, encoding_format: format, ...rest }) => {
    const name = typeof model === 'string' ? `models/${model}` : null
    const { members, dropped } = renamed(rest, PARAMETERS)
    const inputs: readonly JsonValue[] = isJsonArray(input) ? input : [input]
    return {
      body: {
        requests: inputs.map((text) => ({
          model: name,
          content: { parts: [{ text }] },
          ...members,
        })),
      },
      dropped,
      context: { model, base64: format === 'base64' },
    }
  },
  answer: ({ embeddings, usageMetadata: usage }, context) => {
    if (!isJsonArray(embeddings)) return undefined
    const vectors = embeddings.map((one) => (isJsonObject(one) ? one['values'] : undefined) ?? [])
    const tokens = isJsonObject(usage) ? usage['promptTokenCount'] : undefined
    return vectorList(vectors, context, typeof tokens === 'number' ? tokens : undefined)
  },
}

const AUTH = { kind: 'header', name: 'x-goog-api-key' } as const
const BATCH = 'batchEmbedContents'

/** Google's own calls: the path decides which of the two, and the body is unchanged except for the models it names. */
const native: PassedDialect = {
  ...passedDialect({ protocol: 'gemini-embeddings', path: '', auth: AUTH }),
  modelPlace: 'path',
  form: (input) => formAt(input, input.calledPath?.endsWith(`:${BATCH}`) === true ? BATCH : 'embedContent'),
}

export const googleEmbeddings: PassedDialect = {
  ...passedDialect({ protocol: 'embeddings', path: '', auth: AUTH, rewrite }),
  modelPlace: 'path',
  form: (input) => formAt(input, BATCH),
  geminiEmbeddings: native,
}

function formAt({ baseUrl, forwardModelId, operation }: FormInput, verb: string): FormedRequest | undefined {
  if (operation === 'count-tokens') return undefined
  return { method: 'POST', url: `${modelBelow(baseUrl, forwardModelId)}:${verb}`, headers: {} }
}
