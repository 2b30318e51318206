/** Bytes per function call, which are passed as arguments. */
const BYTES_AT_ONCE = 8_192

export function toBase64(bytes: Uint8Array): string {
  let binary = ''
  for (let at = 0; at < bytes.length; at += BYTES_AT_ONCE)
    binary += String.fromCharCode(...bytes.subarray(at, at + BYTES_AT_ONCE))
  return btoa(binary)
}

/** undefined: not base64, or incomplete in the last byte. Padding may be absent. */
export function fromBase64(text: string): Uint8Array | undefined {
  const bytes = Buffer.from(text, 'base64')
  // Other characters are skipped, so the result would be shorter than the length implies.
  const isWhole =
    bytes.length === Buffer.byteLength(text, 'base64') && text.replace(/=+$/, '').length % 4 !== 1
  return isWhole ? bytes : undefined
}
