/** kysely over a pg pool, with the port's errors; a connection that failed is not reused. */
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  type TransactionSettings,
} from 'kysely'
import type pg from 'pg'
import { StorageUnavailable } from '../failures/unavailable.ts'
import { translateError } from './connect.ts'

export function createPostgresDialect(pool: pg.Pool): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new PoolDriver(pool),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  }
}

class PoolDriver implements Driver {
  readonly #pool: pg.Pool

  constructor(pool: pg.Pool) {
    this.#pool = pool
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<PoolConnection> {
    try {
      return new PoolConnection(await this.#pool.connect())
    } catch (error) {
      throw translateError(error)
    }
  }

  async releaseConnection(connection: PoolConnection): Promise<void> {
    connection.release()
  }

  async beginTransaction(connection: PoolConnection, settings: TransactionSettings): Promise<void> {
    const isolation = settings.isolationLevel ? ` isolation level ${settings.isolationLevel}` : ''
    const access = settings.accessMode ? ` ${settings.accessMode}` : ''
    await connection.executeQuery(CompiledQuery.raw(`start transaction${isolation}${access}`))
  }

  async commitTransaction(connection: PoolConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('commit'))
  }

  async rollbackTransaction(connection: PoolConnection): Promise<void> {
    await connection.rollback()
  }

  /** The engine ends the pool: it has other users. */
  async destroy(): Promise<void> {}
}

class PoolConnection implements DatabaseConnection {
  readonly #client: pg.PoolClient
  #isLost = false

  constructor(client: pg.PoolClient) {
    this.#client = client
  }

  release(): void {
    this.#client.release(this.#isLost)
  }

  /** A lost connection needs no rollback: the server rolls back by itself. */
  async rollback(): Promise<void> {
    if (!this.#isLost) await this.executeQuery(CompiledQuery.raw('rollback'))
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    try {
      // The row type is the caller's, as in every kysely driver.
      const { rows, rowCount } = await this.#client.query<Row & pg.QueryResultRow>(sql, [...parameters])
      return { rows, numAffectedRows: BigInt(rowCount ?? 0) }
    } catch (error) {
      const translated = translateError(error)
      if (translated instanceof StorageUnavailable) this.#isLost = true
      throw translated
    }
  }

  streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('results are read in pages, never by a cursor')
  }
}
