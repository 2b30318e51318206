/**
 * The most recently used of many entries, in two generations: when the younger one is full it becomes the older, and
 * entries found in the older move to the younger. Nothing is deleted from a Map while it is in use, because in V8 each
 * table that a Map has outgrown points to the next, and everything ever kept would be copied into the old generation
 * (see `core/indexed-set.ts`).
 */
export class Recent<Key, Value> {
  readonly #generationMax: number
  #younger = new Map<Key, Value | undefined>()
  #older = new Map<Key, Value | undefined>()

  /** At most twice `generationMax` are kept; the last `generationMax` always are. */
  constructor(generationMax: number) {
    this.#generationMax = generationMax
  }

  get(key: Key): Value | undefined {
    const found = this.#younger.get(key)
    if (found !== undefined) return found
    const kept = this.#older.get(key)
    if (kept !== undefined) this.set(key, kept)
    return kept
  }

  set(key: Key, value: Value): void {
    if (this.#younger.size >= this.#generationMax && !this.#younger.has(key)) {
      this.#older = this.#younger
      this.#younger = new Map()
    }
    this.#younger.set(key, value)
  }

  /** Drops the value; its key goes with its generation. */
  drop(key: Key): void {
    if (this.#younger.has(key)) this.#younger.set(key, undefined)
    if (this.#older.has(key)) this.#older.set(key, undefined)
  }

  clear(): void {
    if (this.#younger.size > 0) this.#younger = new Map()
    if (this.#older.size > 0) this.#older = new Map()
  }
}
