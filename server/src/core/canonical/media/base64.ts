/** Base64 of UTF-8 text, both alphabets on the way in; the core has no Buffer. */

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const CODES = new Uint8Array(256).fill(255)
for (let index = 0; index < 64; index += 1) CODES[ALPHABET.charCodeAt(index)] = index
CODES['-'.charCodeAt(0)] = 62
CODES['_'.charCodeAt(0)] = 63
const LETTERS = new TextEncoder().encode(ALPHABET)
const PADDING = '='.charCodeAt(0)

export function encodeBase64(text: string): string {
  return encodeBase64Bytes(new TextEncoder().encode(text))
}

/** Through bytes: building a string character by character would take seconds for pictures of tens of megabytes. */
export function encodeBase64Bytes(bytes: Uint8Array): string {
  const out = new Uint8Array(Math.ceil(bytes.length / 3) * 4)
  let filled = 0
  for (let at = 0; at < bytes.length; at += 3) {
    const left = bytes.length - at
    const first = bytes[at] ?? 0
    const second = bytes[at + 1] ?? 0
    const third = bytes[at + 2] ?? 0
    out[filled] = LETTERS[first >> 2] ?? 0
    out[filled + 1] = LETTERS[((first & 3) << 4) | (second >> 4)] ?? 0
    out[filled + 2] = left > 1 ? (LETTERS[((second & 15) << 2) | (third >> 6)] ?? 0) : PADDING
    out[filled + 3] = left > 2 ? (LETTERS[third & 63] ?? 0) : PADDING
    filled += 4
  }
  return new TextDecoder().decode(out)
}

/** `undefined` if the text is not base64 or not UTF-8. */
export function decodeBase64(text: string): string | undefined {
  const bytes = decodeBase64Bytes(text)
  if (bytes === undefined) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    if (cause instanceof TypeError) return undefined
    throw cause
  }
}

export function decodeBase64Bytes(text: string): Uint8Array | undefined {
  let end = text.length
  while (end > 0 && text.charAt(end - 1) === '=') end -= 1
  if (end % 4 === 1) return undefined
  const bytes = new Uint8Array(Math.floor((end * 3) / 4))
  let held = 0
  let bits = 0
  let filled = 0
  for (let at = 0; at < end; at += 1) {
    const code = CODES[text.charCodeAt(at)] ?? 255
    if (code === 255) return undefined
    held = ((held << 6) | code) & 0xffffff
    bits += 6
    if (bits >= 8) {
      bits -= 8
      bytes[filled] = (held >> bits) & 255
      filled += 1
    }
  }
  return bytes
}
