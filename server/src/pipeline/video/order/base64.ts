/** undefined: no base64. Line breaks are taken, both alphabets too. */
export function decodeBase64(text: string): Uint8Array | undefined {
  const plain = /\s/.test(text) ? text.replace(/\s+/g, '') : text
  return /^[A-Za-z0-9+/_-]+={0,2}$/.test(plain) ? Buffer.from(plain, 'base64') : undefined
}
