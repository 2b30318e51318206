/**
 * Whether this process alone runs calls on an embedded database. It is a lock of the operating system on a file beside
 * the database, so it ends with the process: the one that is alone holds it exclusively, several share it.
 */
import { loadSqlite, type SqliteDatabase } from '../library.ts'
import { BUSY_CODE } from '../messages.ts'

export type Hold = 'alone' | 'together'

export class Ownership {
  readonly #database: SqliteDatabase
  #hold: Hold | undefined

  /** `path` of the file with the lock. */
  constructor(path: string) {
    const { DatabaseSync } = loadSqlite()
    // Nobody waits for the lock inside SQLite: that would stop the whole process.
    this.#database = new DatabaseSync(path, { timeout: 0 })
  }

  get hold(): Hold | undefined {
    return this.#hold
  }

  /** Alone if nobody else runs calls, together if others share; undefined: another process is alone. */
  take(): Hold | undefined {
    this.release()
    // Nothing is written, so no journal has to lie beside the file.
    if (this.#try('pragma journal_mode = memory') && this.#try('begin exclusive')) this.#hold = 'alone'
    else this.#takeTogether()
    return this.#hold
  }

  /** Together with others, who may come from now on; undefined: another process is alone. */
  share(): Hold | undefined {
    this.release()
    this.#takeTogether()
    return this.#hold
  }

  release(): void {
    if (this.#hold === undefined) return
    this.#database.exec('rollback')
    this.#hold = undefined
  }

  close(): void {
    this.release()
    this.#database.close()
  }

  /** A transaction that has read holds the lock that all readers share. */
  #takeTogether(): void {
    if (!this.#try('begin')) return
    if (this.#try('select count(*) from sqlite_master')) this.#hold = 'together'
    else this.#database.exec('rollback')
  }

  #try(sql: string): boolean {
    try {
      this.#database.exec(sql)
      return true
    } catch (error) {
      if (isBusy(error)) return false
      throw error
    }
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === BUSY_CODE
}
