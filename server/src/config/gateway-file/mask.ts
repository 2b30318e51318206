/**
 * `{vendor: openai, secret: ${KEY}}` is not valid YAML: braces and commas of a reference would end the map around it.
 * So each reference is masked, character by character, before YAML sees it, and unmasked in the scalar it became part
 * of. Every masked character is as long as its original, so lines and columns stay true.
 */
export interface MaskedText {
  readonly text: string
  /** Gives a scalar its references back. */
  readonly unmask: (scalar: string) => string
}

const REFERENCE = /\$?\$\{[A-Za-z_][A-Za-z0-9_]*(?::-[^}\r\n]*)?\}/g
/** Start of Unicode's private-use characters; a block of 128 replaces ASCII. */
const PRIVATE_START = 0xe000
const PRIVATE_END = 0xf8ff
const ASCII_SIZE = 0x80

export function maskReferences(text: string): MaskedText {
  const base = unusedBlock(text)
  if (base === undefined) return { text, unmask: (scalar) => scalar }
  return {
    text: text.replace(REFERENCE, (reference) => shifted(reference, 0, base)),
    unmask: (scalar) => shifted(scalar, base, -base),
  }
}

/** Moves every character of the ASCII-sized block at `from` by `distance`. */
function shifted(text: string, from: number, distance: number): string {
  let result = ''
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    result +=
      code >= from && code < from + ASCII_SIZE ? String.fromCharCode(code + distance) : text.charAt(index)
  }
  return result
}

/** A block of which the text contains no character, so that only masked text is unmasked. */
function unusedBlock(text: string): number | undefined {
  const used = new Set<number>()
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    if (code >= PRIVATE_START && code <= PRIVATE_END) used.add(Math.floor(code / ASCII_SIZE))
  }
  for (let base = PRIVATE_START; base + ASCII_SIZE - 1 <= PRIVATE_END; base += ASCII_SIZE) {
    if (!used.has(base / ASCII_SIZE)) return base
  }
  return undefined
}
