/**
 * Finds one of a few known words in a byte range without making a string of it. Words are grouped by length, so a
 * range of another length costs one array read.
 */
export interface WordTable<Value> {
  readonly byLength: readonly (readonly Word<Value>[] | undefined)[]
  readonly lengthMax: number
}

interface Word<Value> {
  readonly bytes: Uint8Array
  readonly value: Value
}

export function createWordTable<Value>(entries: Iterable<readonly [string, Value]>): WordTable<Value> {
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
  }
}

/** The value of the word that `bytes[from, to)` spells, if it is one of the table's. */
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
