/** Prepared statements of one connection, kept by their text; the least recently used one goes first. */
import type { SqliteDatabase, SqliteStatement } from './library.ts'

const STATEMENTS_MAX = 256

export class Statements {
  readonly #database: SqliteDatabase
  readonly #prepared = new Map<string, SqliteStatement>()

  constructor(database: SqliteDatabase) {
    this.#database = database
  }

  /** Integers are read as bigints, so that money is exact. */
  prepare(sql: string): SqliteStatement {
    const known = this.#prepared.get(sql)
    if (known !== undefined) {
      this.#prepared.delete(sql)
      this.#prepared.set(sql, known)
      return known
    }
    const statement = this.#database.prepare(sql)
    statement.setReadBigInts(true)
    this.#prepared.set(sql, statement)
    for (const oldest of this.#prepared.keys()) {
      if (this.#prepared.size <= STATEMENTS_MAX) break
      this.#prepared.delete(oldest)
    }
    return statement
  }
}
