/**
 * Notices what other connections wrote into `changes`: one PRAGMA per check, and a query only when something was
 * committed.
 */
import { numberOf, textOf } from '../sql/table.ts'
import type { ChangeRow } from './messages.ts'
import type { Statements } from './statements.ts'

export interface SeenChanges {
  readonly rows: readonly ChangeRow[]
  /** Rows were removed before they were seen here: anything may have changed. */
  readonly gap: boolean
}

export class ChangeWatch {
  readonly #statements: Statements
  #version: bigint | undefined
  #lastSeen: number

  constructor(statements: Statements) {
    this.#statements = statements
    this.#lastSeen = this.#newest()
  }

  look(): SeenChanges {
    const version = this.#statements.prepare('pragma data_version').get()?.['data_version']
    if (typeof version !== 'bigint' || version === this.#version) return { rows: [], gap: false }
    this.#version = version
    return this.#readNew()
  }

  #readNew(): SeenChanges {
    const rows = this.#statements
      .prepare('select id, origin, body from changes where id > ? order by id')
      .all(this.#lastSeen)
    const first = rows[0]
    const last = rows.at(-1)
    if (first === undefined || last === undefined) return { rows: [], gap: false }
    const gap = numberOf(first, 'id') > this.#lastSeen + 1
    this.#lastSeen = numberOf(last, 'id')
    return {
      rows: rows.map((row) => ({ origin: textOf(row, 'origin'), body: textOf(row, 'body') })),
      gap,
    }
  }

  #newest(): number {
    const row = this.#statements.prepare('select coalesce(max(id), 0) as id from changes').get()
    return row === undefined ? 0 : numberOf(row, 'id')
  }
}
