/** Reading small values out of JSON bytes that the scanner has already found well-formed. */
import type { JsonValue } from '../json.ts'

// A byte order mark at the start of a value is part of the value.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
const encoder = new TextEncoder()

/** The value written in `bytes`. Throws on anything but JSON: callers pass spans the scanner reported. */
export function parseJsonBytes(bytes: Uint8Array): JsonValue {
  return JSON.parse(decoder.decode(bytes)) as JsonValue
}

/** The text of a JSON string given without its quotes; the contents of several strings may be joined. */
export function unescapeJson(inside: Uint8Array): string {
  const text = decoder.decode(inside)
  if (!text.includes('\\')) return text
  const value: unknown = JSON.parse(`"${text}"`)
  return typeof value === 'string' ? value : text
}

export interface TextPrefix {
  readonly text: string
  readonly whole: boolean
}

/** The first `charactersMax` characters of a JSON string given without its quotes, and whether that is all of it. */
export function readTextPrefix(inside: Uint8Array, charactersMax: number): TextPrefix {
  // No character takes more than six bytes to write, so this many bytes hold enough of them.
  const bytesMax = charactersMax * 6
  if (inside.length <= bytesMax) {
    const text = unescapeJson(inside)
    return text.length <= charactersMax
      ? { text, whole: true }
      : { text: text.slice(0, charactersMax), whole: false }
  }
  return {
    text: unescapeJson(inside.subarray(0, cutBefore(inside, bytesMax))).slice(0, charactersMax),
    whole: false,
  }
}

/** V8 keeps the bytes of an array up to this length in the array itself, without memory of its own. */
const SMALL_BYTES_MAX = 64

/** JSON text of a string, as bytes. Written by hand for a short name in ASCII: 0.4 µs where the encoder takes 1.4. */
export function encodeJsonString(text: string): Uint8Array {
  const json = JSON.stringify(text)
  if (json.length > SMALL_BYTES_MAX) return encoder.encode(json)
  const bytes = new Uint8Array(json.length)
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at)
    if (code > 0x7f) return encoder.encode(json)
    bytes[at] = code
  }
  return bytes
}

/** The last position at or before `limit` that splits neither an escape nor a character. */
function cutBefore(inside: Uint8Array, limit: number): number {
  let at = 0
  let cut = 0
  while (at < limit) {
    const byte = inside[at] ?? 0
    if (byte === 0x5c) at += inside[at + 1] === 0x75 ? 6 : 2
    else if (byte < 0x80) at += 1
    else if (byte < 0xe0) at += 2
    else if (byte < 0xf0) at += 3
    else at += 4
    if (at <= limit) cut = at
  }
  return cut
}

const BACKSLASH = 0x5c
const LETTER_U = 0x75
const LETTER_C = 0x63
const LETTER_D = 0x64
const DIGIT_8 = 0x38
const LOWER_CASE = 0x20

/** Unicode code points of a JSON string given without its quotes. An unpaired surrogate counts as one. */
export function countCodePoints(inside: Uint8Array): number {
  let count = 0
  let afterHigh = false
  for (let at = 0; at < inside.length; at += 1) {
    const byte = inside[at] ?? 0
    if ((byte & 0xc0) === 0x80) continue
    let isHigh = false
    let isSecondHalf = false
    if (byte === BACKSLASH) {
      at += 1
      if (inside[at] === LETTER_U) {
        // High ones are D800 to DBFF, low ones DC00 to DFFF.
        const isHalf = ((inside[at + 1] ?? 0) | LOWER_CASE) === LETTER_D
        const isLow = ((inside[at + 2] ?? 0) | LOWER_CASE) >= LETTER_C
        const isFromEight = (inside[at + 2] ?? 0) >= DIGIT_8
        isHigh = isHalf && isFromEight && !isLow
        isSecondHalf = afterHigh && isHalf && isLow
        at += 4
      }
    }
    if (!isSecondHalf) count += 1
    afterHigh = isHigh
  }
  return count
}
