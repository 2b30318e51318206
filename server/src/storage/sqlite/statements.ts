/** Prepared statements of one connection, kept by their text. */
import type { SqliteDatabase, SqliteStatement } from './library.ts'
import { Recent } from './hot/recent.ts'

/** Kept for certain; twice as many at most. */
const STATEMENTS_MAX = 128

export class Statements {
  readonly #database: SqliteDatabase
  readonly #prepared = new Recent<string, SqliteStatement>(STATEMENTS_MAX)

  constructor(database: SqliteDatabase) {
    this.#database = database
  }

  /** Integers are read as bigints, so that money is exact. */
  prepare(sql: string): SqliteStatement {
    const known = this.#prepared.get(sql)
    if (known !== undefined) return known
    const statement = this.#database.prepare(sql)
    statement.setReadBigInts(true)
    this.#prepared.set(sql, statement)
    return statement
  }
}
