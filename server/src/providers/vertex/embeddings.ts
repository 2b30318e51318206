/** Vectors by Google Cloud: an instance for each text; each answer reports its own tokens. */
import { isJsonArray } from '../../core/canonical/json-text.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts'
import { passedDialect } from '../dialects/passed.ts'
import { renamed } from '../dialects/rename.ts'
import { vectorList } from '../dialects/vectors.ts'
import type { FormRewrite, PassedDialect } from '../provider.ts'
import { modelUrl } from './address.ts'

/** Parameters of the whole call, and of each text. */
const PARAMETERS = { dimensions: 'outputDimensionality', auto_truncate: 'autoTruncate' }
const OF_EACH = { task_type: 'task_type', title: 'title' }

const rewrite: FormRewrite = {
  request: ({ model = null, input = null, encoding_format: format, ...rest }) => {
    const { task_type, title, ...others } = rest
    const { members: parameters, dropped } = renamed(others, PARAMETERS)
    const { members: each } = renamed({ task_type, title }, OF_EACH)
    const inputs: readonly JsonValue[] = isJsonArray(input) ? input : [input]
    return {
      body: { instances: inputs.map((content) => ({ content, ...each })), parameters },
      dropped,
      context: { model, base64: format === 'base64' },
    }
  },
  answer: ({ predictions }, context) => {
    if (!isJsonArray(predictions)) return undefined
    const made = predictions.map(vectorIn)
    const vectors = made.map(({ values = [] }) => values)
    return vectorList(vectors, context, tokensOf(made))
  },
}

function vectorIn(prediction: JsonValue): JsonObject {
  const found = isJsonObject(prediction) ? prediction['embeddings'] : undefined
  return isJsonObject(found) ? found : {}
}

/** undefined if one of them reports nothing. */
function tokensOf(made: readonly JsonObject[]): number | undefined {
  const counts = made.map(({ statistics }) =>
    isJsonObject(statistics) ? statistics['token_count'] : undefined,
  )
  const known = counts.filter((count): count is number => typeof count === 'number')
  if (known.length === 0 || known.length < counts.length) return undefined
  return known.reduce((sum, count) => sum + count, 0)
}

export const vertexEmbeddings: PassedDialect = {
  ...passedDialect({
    protocol: 'embeddings',
    path: '',
    auth: { kind: 'google-oauth' },
    rewrite,
    textPurpose: { member: 'task_type', words: 'the same' },
  }),
  modelPlace: 'path',
  form: (input) => {
    const model = input.operation === 'count-tokens' ? undefined : modelUrl(input, 'google')
    return model === undefined ? undefined : { method: 'POST', url: `${model}:predict`, headers: {} }
  },
}
