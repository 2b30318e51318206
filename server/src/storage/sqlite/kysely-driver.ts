/** kysely over a worker thread's SQLite connection. There is one connection, so its users take turns. */
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import { StorageUnavailable } from '../failures/unavailable.ts'
import type { SqliteConnection } from './connection.ts'
import type { SqliteParameter } from './library.ts'
import type { WorkerTask } from './messages.ts'

export function createSqliteDialect(options: SqliteDialectOptions): Dialect {
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new WorkerDriver(options),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  }
}

export interface SqliteDialectOptions {
  readonly connection: SqliteConnection
  /** Who uses the connection, one after the other: resolves when it is the caller's turn, with the function that ends it. */
  readonly turns: { take(): Promise<() => void> }
  /** `begin immediate` takes the write lock at once, so that nothing read in a transaction changes before its commit. */
  readonly begin: 'begin' | 'begin immediate'
}

class WorkerDriver implements Driver {
  readonly #options: SqliteDialectOptions

  constructor(options: SqliteDialectOptions) {
    this.#options = options
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<WorkerSession> {
    const { connection, turns } = this.#options
    return new WorkerSession(connection, await turns.take())
  }

  async releaseConnection(session: WorkerSession): Promise<void> {
    session.release()
  }

  async beginTransaction(session: WorkerSession): Promise<void> {
    await session.begin(this.#options.begin)
  }

  async commitTransaction(session: WorkerSession): Promise<void> {
    await session.end('commit')
  }

  async rollbackTransaction(session: WorkerSession): Promise<void> {
    await session.end('rollback')
  }

  /** The engine closes the thread: it has other users. */
  async destroy(): Promise<void> {}
}

class WorkerSession implements DatabaseConnection {
  readonly release: () => void
  readonly #connection: SqliteConnection
  /** Set while in a transaction: the thread it began on. */
  #generation: number | undefined

  constructor(connection: SqliteConnection, release: () => void) {
    this.#connection = connection
    this.release = release
  }

  async begin(verb: SqliteDialectOptions['begin']): Promise<void> {
    await this.#connection.run({ kind: 'transaction', verb })
    this.#generation = this.#connection.generation
  }

  async end(verb: 'commit' | 'rollback'): Promise<void> {
    this.#requireThread()
    this.#generation = undefined
    await this.#connection.run({ kind: 'transaction', verb })
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    this.#requireThread()
    const answer = await this.#connection.run(taskOf(query))
    if (answer.kind === 'count') return { rows: [], numAffectedRows: answer.count }
    if (answer.kind !== 'rows') throw new Error('the storage thread answered a query with something else')
    // The row type is the caller's, as in every kysely driver.
    return { rows: answer.rows as unknown as Row[] }
  }

  streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('results are read in pages, never by a cursor')
  }

  #requireThread(): void {
    if (this.#generation !== undefined && this.#generation !== this.#connection.generation) {
      throw new StorageUnavailable('the storage thread ended in the middle of a transaction')
    }
  }
}

function taskOf({ query, sql, parameters }: CompiledQuery): WorkerTask {
  const changes =
    (query.kind === 'InsertQueryNode' ||
      query.kind === 'UpdateQueryNode' ||
      query.kind === 'DeleteQueryNode') &&
    query.returning === undefined
  return { kind: changes ? 'change' : 'query', sql, parameters: parameters.map(bindable) }
}

function bindable(parameter: unknown): SqliteParameter {
  if (parameter === null || parameter === undefined) return null
  if (typeof parameter === 'string' || typeof parameter === 'number' || typeof parameter === 'bigint') {
    return parameter
  }
  if (parameter instanceof Uint8Array) return parameter
  throw new Error(`a ${typeof parameter} cannot be stored`)
}
