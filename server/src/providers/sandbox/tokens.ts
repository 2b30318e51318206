/**
 * The sandbox's own tokenizer: up to four characters of a word with the blanks before it. Not the count of a real
 * model, but an exact one: the same pieces are streamed, limited and reported.
 */
const PIECE = /\s*[^\s]{1,4}|\s+$/gu

export function piecesOf(text: string): readonly string[] {
  return text.match(PIECE) ?? []
}

export function countTokens(texts: readonly string[]): number {
  let count = 0
  for (const text of texts) count += piecesOf(text).length
  return count
}
