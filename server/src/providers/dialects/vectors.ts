/** Vectors of vendors that only return numbers, in the encoding the client asked for. */
import { isJsonArray } from '../../core/canonical/json-text.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts'
import type { FormRewrite } from '../provider.ts'
import { toBase64 } from './base64.ts'

const BYTES_PER_NUMBER = 4

/** The wire form itself, for a vendor without `encoding_format`: SDKs request base64 by default. */
export const floatsOnly: FormRewrite = {
  request: ({ encoding_format: format, ...body }) => ({
    body,
    dropped: [],
    context: { base64: format === 'base64' },
  }),
  answer: (body, { base64 }) => {
    const { data } = body
    if (!isJsonArray(data)) return undefined
    return base64 === true ? { ...body, data: data.map(inBase64) } : body
  },
}

function inBase64(item: JsonValue): JsonValue {
  return isJsonObject(item) ? { ...item, embedding: encodedVector(item['embedding'] ?? null) } : item
}

/** Vectors in their order, in OpenAI's form. `tokens`: those of all texts; undefined: not reported. */
export function vectorList(
  vectors: readonly JsonValue[],
  { model = null, base64 }: JsonObject,
  tokens: number | undefined,
): JsonObject {
  const data = vectors.map((vector, index) => {
    const embedding = base64 === true ? encodedVector(vector) : vector
    return { object: 'embedding', index, embedding }
  })
  const usage = tokens === undefined ? {} : { usage: { prompt_tokens: tokens, total_tokens: tokens } }
  return { object: 'list', data, model, ...usage }
}

/** 32-bit floats, little-endian, in base64; anything but a vector of numbers is left unchanged. */
export function encodedVector(vector: JsonValue): JsonValue {
  if (!isJsonArray(vector) || !vector.every((value): value is number => typeof value === 'number'))
    return vector
  const bytes = new Uint8Array(vector.length * BYTES_PER_NUMBER)
  const view = new DataView(bytes.buffer)
  vector.forEach((value, index) => view.setFloat32(index * BYTES_PER_NUMBER, value, true))
  return toBase64(bytes)
}
