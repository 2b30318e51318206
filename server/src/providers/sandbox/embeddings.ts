/** Vectors without meaning that are the same for the same text, so that applications can be tried. */
import { isJsonArray } from '../../core/canonical/json-text.ts'
import type { JsonObject, JsonValue } from '../../core/json.ts'
import { SANDBOX_EMBEDDING_MODEL } from './models.ts'
import { type Answered, Mistake, oneModel } from './respond-one.ts'
import { countTokens } from './tokens.ts'

const DIMENSIONS_DEFAULT = 64
const DIMENSIONS_MAX = 2_048
const INPUTS_MAX = 256

/** What is embedded: a text, or the numbers of its tokens. */
type Input = string | readonly number[]

export const sandboxEmbeddings = oneModel({
  protocol: 'embeddings',
  path: '/embeddings',
  model: SANDBOX_EMBEDDING_MODEL,
  answer,
})

function answer(body: JsonObject): Answered {
  const inputs = inputsOf(body['input'])
  const dimensions = body['dimensions'] ?? DIMENSIONS_DEFAULT
  if (inputs === undefined || inputs.length === 0 || inputs.length > INPUTS_MAX)
    return new Mistake(
      `'input' must be a string, or an array of up to ${INPUTS_MAX} strings.`,
      'invalid_input',
    )
  if (!isCount(dimensions))
    return new Mistake(`'dimensions' must be from 1 to ${DIMENSIONS_MAX}.`, 'invalid_dimensions')
  const tokens = inputs.reduce((sum, input) => sum + tokensOf(input), 0)
  return {
    object: 'list',
    data: inputs.map((input, index) => ({
      object: 'embedding',
      index,
      embedding: encoded(vectorOf(input, dimensions), body['encoding_format']),
    })),
    model: SANDBOX_EMBEDDING_MODEL,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  }
}

function inputsOf(value: JsonValue | undefined): readonly Input[] | undefined {
  if (typeof value === 'string') return [value]
  if (!isJsonArray(value)) return undefined
  if (value.length > 0 && isTokens(value)) return [value]
  const inputs = value.filter((item): item is string | number[] => typeof item === 'string' || isTokens(item))
  return inputs.length === value.length ? inputs : undefined
}

function isTokens(value: JsonValue | readonly JsonValue[]): value is number[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'number')
}

function isCount(value: JsonValue): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= DIMENSIONS_MAX
}

function tokensOf(input: Input): number {
  return typeof input === 'string' ? countTokens([input]) : input.length
}

/** Of length 1, from a generator seeded with the text (FNV-1a, then xorshift). */
function vectorOf(input: Input, dimensions: number): readonly number[] {
  const text = typeof input === 'string' ? input : input.join(' ')
  let state = 2_166_136_261
  for (let at = 0; at < text.length; at += 1) state = Math.imul(state ^ text.charCodeAt(at), 16_777_619)
  // Never 0, which the generator would not leave.
  state |= 1
  const next = (): number => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return state / 2_147_483_648
  }
  const numbers = Array.from({ length: dimensions }, next)
  const length = Math.hypot(...numbers)
  return numbers.map((number) => Math.fround(number / length))
}

/** `base64`: the numbers as 32-bit floats, little-endian, as the SDKs request them. */
function encoded(vector: readonly number[], format: JsonValue | undefined): JsonValue {
  if (format !== 'base64') return [...vector]
  const bytes = new Uint8Array(vector.length * 4)
  const view = new DataView(bytes.buffer)
  vector.forEach((number, index) => view.setFloat32(index * 4, number, true))
  return btoa(String.fromCharCode(...bytes))
}
