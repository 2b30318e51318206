/** Prepared statements of one connection, kept by their text. */
import type { SqliteDatabase, SqliteStatement } from './library.ts'
import { Recent } from './hot/recent.ts'

/** Number always kept; at most twice as many are. */
const STATEMENTS_MAX = 128

export class Statements {
  readonly #database: SqliteDatabase
  readonly #prepared = new Recent<string, SqliteStatement>(STATEMENTS_MAX)

  readonly #texts = new Map<string, string>()

  constructor(database: SqliteDatabase) {
    this.#database = database
  }

  /** A statement text that is built once; `name` identifies it and is one of a few. */
  text(name: string, write: () => string): string {
    const known = this.#texts.get(name)
    if (known !== undefined) return known
    const text = write()
    this.#texts.set(name, text)
    return text
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
