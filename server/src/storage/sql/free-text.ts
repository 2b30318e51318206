/** Characters of a text that is indexed: PostgreSQL's index rows end at 2 704 bytes, and three bytes a character fit. */
const INDEXED_TEXT_MAX = 512

/**
 * Text that a client chose, as both engines can keep and index it: PostgreSQL does not allow NUL in text, and the
 * length is limited. Filters are shortened in the same way, so that shortened text is still found.
 */
export function indexableText(text: string): string
export function indexableText(text: string | undefined): string | null
export function indexableText(text: string | undefined): string | null {
  if (text === undefined) return null
  const bounded = text.length > INDEXED_TEXT_MAX ? text.slice(0, INDEXED_TEXT_MAX) : text
  return bounded.includes('\0') ? bounded.replaceAll('\0', '\u{fffd}') : bounded
}
