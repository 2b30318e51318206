/**
 * Finds one of a few known words in a byte range without creating a string. Words are grouped by length, so a range of
 * another length costs one array read.
 */
export interface WordTable<Value> {
  readonly byLength: readonly (readonly Word<Value>[] | undefined)[]
  readonly lengthMax: number
  /** Words that differ from one of these only in case are of interest too (`spellsAlike`). */
  readonly looksAlike: boolean
}

interface Word<Value> {
  readonly bytes: Uint8Array
  readonly value: Value
}

export function createWordTable<Value>(
  entries: Iterable<readonly [string, Value]>,
  { looksAlike = false }: { readonly looksAlike?: boolean } = {},
): WordTable<Value> {
  const byLength: Word<Value>[][] = []
  const encoder = new TextEncoder()
  for (const [text, value] of entries) {
    const bytes = encoder.encode(text)
    while (byLength.length <= bytes.length) byLength.push([])
    byLength[bytes.length]?.push({ bytes, value })
  }
  return {
    byLength: byLength.map((words) => (words.length === 0 ? undefined : words)),
    lengthMax: byLength.length - 1,
    looksAlike,
  }
}

/** The value of the word in `bytes[from, to)`, if it is one of the table's. */
export function findWord<Value>(
  table: WordTable<Value>,
  bytes: Uint8Array,
  from: number,
  to: number,
): Value | undefined {
  const length = to - from
  if (length > table.lengthMax) return undefined
  const words = table.byLength[length]
  if (words === undefined) return undefined
  search: for (let index = 0; index < words.length; index++) {
    const word = words[index]
    if (word === undefined) continue
    const spelling = word.bytes
    for (let position = 0; position < length; position++) {
      if (spelling[position] !== bytes[from + position]) continue search
    }
    return word.value
  }
  return undefined
}

/** Non-ASCII letters that case-insensitive parsers take for ASCII ones: ſ for s, K for k. */
const BYTES_PER_LETTER_MAX = 3

/**
 * Whether `bytes[from, to)`, which is none of the table's words, is one of them to a case-insensitive parser such as
 * Go's.
 */
export function spellsAlike<Value>(
  table: WordTable<Value>,
  bytes: Uint8Array,
  from: number,
  to: number,
): boolean {
  if (to - from > table.lengthMax * BYTES_PER_LETTER_MAX || isPlain(bytes, from, to)) return false
  const text = new TextDecoder().decode(bytes.subarray(from, to))
  const folded = new TextEncoder().encode(text.toLowerCase().replaceAll('ſ', 's'))
  return findWord(table, folded, 0, folded.length) !== undefined
}

/** It has no capitals and only ASCII. */
function isPlain(bytes: Uint8Array, from: number, to: number): boolean {
  for (let index = from; index < to; index++) {
    const byte = bytes[index] ?? 0
    if (byte >= 0x80 || (byte >= 0x41 && byte <= 0x5a)) return false
  }
  return true
}
