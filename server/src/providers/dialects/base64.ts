/** Arguments of one call of a function. */
const BYTES_AT_ONCE = 8_192

export function toBase64(bytes: Uint8Array): string {
  let binary = ''
  for (let at = 0; at < bytes.length; at += BYTES_AT_ONCE)
    binary += String.fromCharCode(...bytes.subarray(at, at + BYTES_AT_ONCE))
  return btoa(binary)
}
