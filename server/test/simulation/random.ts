/** What a seed decides. */
export interface Random {
  /** A whole number from 0 to `max`, both included. */
  upTo(max: number): number
  chance(part: number): boolean
  pick<Item>(items: readonly Item[]): Item
}

/** mulberry32: small, fast, and the same everywhere. */
export function randomOf(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const upTo = (max: number) => Math.floor(next() * (max + 1))
  return {
    upTo,
    chance: (part) => next() < part,
    pick: (items) => {
      const item = items[upTo(items.length - 1)]
      if (item === undefined) throw new Error('nothing to pick from')
      return item
    },
  }
}
