/** Seeded chance and cuts for the passthrough's tests: the same seed gives the same case on every machine. */
export interface Chance {
  /** From 0 up to, not including, 1. */
  next(): number
  /** A whole number from 0 up to, not including, `limit`. */
  below(limit: number): number
  pick<Value>(values: readonly [Value, ...Value[]]): Value
}

export function seededChance(seed: number): Chance {
  let state = seed
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const below = (limit: number): number => Math.floor(next() * limit)
  return { next, below, pick: (values) => values[below(values.length)] ?? values[0] }
}

/** The bytes in pieces, cut at the given places. */
export function cutAt(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const bounds = [0, ...places, bytes.length]
  return bounds.slice(1).map((end, index) => bytes.slice(bounds[index], end))
}

/** The bytes in up to `piecesMax` pieces, some of them empty perhaps. */
export function cutAnywhere(bytes: Uint8Array, chance: Chance, piecesMax = 8): Uint8Array[] {
  const places = Array.from({ length: chance.below(piecesMax) }, () => chance.below(bytes.length + 1))
  return cutAt(
    bytes,
    places.toSorted((one, other) => one - other),
  )
}

export function joined(pieces: Iterable<Uint8Array>): Uint8Array {
  const all = [...pieces]
  const bytes = new Uint8Array(all.reduce((length, piece) => length + piece.length, 0))
  let at = 0
  for (const piece of all) {
    bytes.set(piece, at)
    at += piece.length
  }
  return bytes
}

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
export const bytesOf = (text: string): Uint8Array => encoder.encode(text)
export const textOf = (bytes: Uint8Array): string => decoder.decode(bytes)

/** The seed of the fuzz tests; a failure names the case's own. */
export const FUZZ_SEED = Number(process.env.FUZZ_SEED ?? 20_260_901)
