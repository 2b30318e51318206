/** JSON texts that the store wrote itself and reads back. */

/**
 * Reads a text that `JSON.stringify` of a `Value` made when the row was written. The type is trusted, as the row is
 * ours; what is not JSON is a broken database and throws.
 */
export function parseStored<Value>(text: string): Value {
  const value: unknown = JSON.parse(text)
  return value as Value
}

/** Texts seen by one memo before it starts afresh: keys and accounts share few policies. */
const MEMO_TEXTS_MAX = 1024

/**
 * `parse` with its results kept by text. Correct for immutable results: the value depends on the text only, so nothing
 * can be out of date.
 */
export function memoizeByText<Value>(parse: (text: string) => Value): (text: string) => Value {
  const known = new Map<string, Value>()
  return (text) => {
    const found = known.get(text)
    if (found !== undefined) return found
    if (known.size >= MEMO_TEXTS_MAX) known.clear()
    const value = parse(text)
    known.set(text, value)
    return value
  }
}

/** A safe integer as a JSON number, a larger one as a string: exact either way. */
export function jsonInteger(value: bigint): number | string {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value.toString()
}
