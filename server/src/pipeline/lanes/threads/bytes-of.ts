import type { JsonValue } from '../../../core/json.ts'

/** With a buffer of its own, so that it can be transferred instead of copied. */
export function bytesOf(value: JsonValue): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value))
}
