/**
 * A set with thousands of changes per second that is sometimes iterated. Not a Set or a Map: in V8, each table that one
 * of them has outgrown points to the next, so once a table is old, everything in the later ones counts as reachable and
 * is copied into the old generation until a full collection. With small calls, that made garbage collection twenty times
 * as expensive.
 */
export interface Indexed {
  /** Its index in its set; written by the set only. */
  position?: number | undefined
}

export class IndexedSet<Item extends Indexed> {
  readonly #items: Item[] = []

  get size(): number {
    return this.#items.length
  }

  add(item: Item): void {
    if (item.position !== undefined) return
    item.position = this.#items.length
    this.#items.push(item)
  }

  /** Removing an item that is not in the set is no error. */
  remove(item: Item): void {
    const { position } = item
    if (position === undefined) return
    item.position = undefined
    const last = this.#items.pop()
    if (last === undefined || last === item) return
    last.position = position
    this.#items[position] = last
  }

  /** Visits the items that are there now; items may be removed and added meanwhile. */
  visit(look: (item: Item) => void): void {
    const present = [...this.#items]
    for (const item of present) if (item.position !== undefined) look(item)
  }
}
