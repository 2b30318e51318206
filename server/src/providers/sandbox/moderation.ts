/** Flags texts that ask to be flagged, so that applications can be tried without offensive text. */
import { isJsonArray } from '../../core/canonical/json-text.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts'
import { SANDBOX_MODERATION_MODEL } from './models.ts'
import { type Answered, Mistake, oneModel } from './respond-one.ts'

const INPUTS_MAX = 256
const FLAGGED = /\bflag me\b/i
const CATEGORIES = [
  'harassment',
  'harassment/threatening',
  'hate',
  'hate/threatening',
  'illicit',
  'illicit/violent',
  'self-harm',
  'self-harm/intent',
  'self-harm/instructions',
  'sexual',
  'sexual/minors',
  'violence',
  'violence/graphic',
] as const

export const sandboxModeration = oneModel({
  protocol: 'moderation',
  path: '/moderations',
  model: SANDBOX_MODERATION_MODEL,
  answer,
})

function answer(body: JsonObject, { id }: { readonly id: string }): Answered {
  const inputs = inputsOf(body['input'])
  if (inputs === undefined || inputs.length === 0 || inputs.length > INPUTS_MAX)
    return new Mistake(
      `'input' must be a string, an array of up to ${INPUTS_MAX} strings, or the parts of one message.`,
      'invalid_input',
    )
  return { id: `modr-${id}`, model: SANDBOX_MODERATION_MODEL, results: inputs.map(judged) }
}

/** Texts are classified one by one, the parts of a message together. */
function inputsOf(input: JsonValue | undefined): readonly string[] | undefined {
  if (typeof input === 'string') return [input]
  if (!isJsonArray(input)) return undefined
  if (input.length > 0 && input.every(isJsonObject))
    return [input.map(({ text }) => (typeof text === 'string' ? text : '')).join('\n')]
  return input.every((item) => typeof item === 'string') ? input : undefined
}

function judged(text: string): JsonObject {
  const flagged = FLAGGED.test(text)
  const each = (value: (isIt: boolean) => JsonValue): JsonObject =>
    Object.fromEntries(CATEGORIES.map((name) => [name, value(flagged && name === 'harassment')]))
  return {
    flagged,
    categories: each((isIt) => isIt),
    category_scores: each((isIt) => (isIt ? 0.97 : 0.001)),
    category_applied_input_types: each(() => ['text']),
  }
}
