/** Rows of one kind in the memory of the process that alone writes them. */
import type { Rows } from '../../../core/ledger/hot-rows.ts'
import { Recent } from '../hot/recent.ts'

/** Rows that are certainly kept; at most twice as many. About 20 MB when all kinds are full. */
const ROWS_MAX = 4_096

/** `null`: there is no such row. */
export class MemoryRows<Id extends string, Row> implements Rows<Id, Row> {
  readonly #recent = new Recent<Id, Row | null>(ROWS_MAX)
  /** Not in the database yet, so they must not be dropped; the second ones are on their way. */
  #changed = new Map<Id, Row | null>()
  #committing: ReadonlyMap<Id, Row | null> = new Map()
  /** What was asked for and is not known. */
  #missing: Id[] = []

  get(id: Id): Row | undefined {
    const row = this.peek(id)
    if (row === undefined) this.#missing.push(id)
    return row ?? undefined
  }

  has(id: Id): boolean {
    return this.get(id) !== undefined
  }

  /** undefined: it is not known whether there is such a row. */
  peek(id: Id): Row | null | undefined {
    const recent = this.#recent.get(id)
    if (recent !== undefined) return recent
    const changed = this.#changed.get(id)
    return changed === undefined ? this.#committing.get(id) : changed
  }

  /** The ids asked for in vain since the last time. */
  takeMissing(): readonly Id[] {
    if (this.#missing.length === 0) return NOTHING
    const missing = [...new Set(this.#missing)]
    this.#missing = []
    return missing
  }

  /** A row as the database has it. */
  learn(id: Id, row: Row | null): void {
    this.#recent.set(id, row)
  }

  change(id: Id, row: Row | null): void {
    this.#recent.set(id, row)
    this.#changed.set(id, row)
  }

  get hasChanged(): boolean {
    return this.#changed.size > 0
  }

  /** What changed since the last time; it counts as committing until the next time. */
  takeChanged(): ReadonlyMap<Id, Row | null> {
    const changed = this.#changed
    this.#committing = changed
    if (changed.size > 0) this.#changed = new Map()
    return changed
  }

  forget(): void {
    this.#recent.clear()
    this.#changed = new Map()
    this.#committing = new Map()
    this.#missing = []
  }
}

const NOTHING: readonly never[] = []
