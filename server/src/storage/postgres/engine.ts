/** The scaled engine: any number of equal instances on one PostgreSQL. */
import { randomUUID } from 'node:crypto'
import { Kysely, sql, type Transaction } from 'kysely'
import pg from 'pg'
import type { HotOperation } from '../../core/ledger/operations.ts'
import { StorageConflict } from '../failures/conflict.ts'
import type { SqlEngine, StorageLog } from '../sql/engine.ts'
import type { HotResult, Trust } from '../sql/calls/hot-batch.ts'
import { migrate } from '../sql/migrate.ts'
import type { Schema } from '../sql/schema.ts'
import { TransactionConflict } from '../sql/transaction-conflict.ts'
import { UsageSummer } from '../sql/usage/usage-summer.ts'
import { StorageUnavailable } from '../failures/unavailable.ts'
import { clientConfig, LOCK_TIMEOUT_MS, translateError } from './connect.ts'
import { READS, WRITES } from './hot-statements.ts'
import { GroupCommit, type HotQueue } from '../sql/calls/group-commit.ts'
import { runHotTransaction } from './hot-transaction.ts'
import { createPostgresDialect } from './kysely-driver.ts'
import { CHANNEL, encodeNotice, Listener } from './listener.ts'
import { keepLogPartitions } from './log-partitions.ts'
import { HotConnection, type PreparedStatements } from './round-trip.ts'
import type { Announcement } from '../announcement.ts'
import type { LogUpkeep } from '../stores/logs.ts'

export interface PostgresOptions {
  readonly databaseUrl: string
  readonly now: () => number
  readonly log: StorageLog
  /** The newest migration to apply; undefined: all. */
  readonly schemaMost?: number | undefined
}

/**
 * Batches in flight: while one writes and commits, the next has been sent and waits for its locks, so that its first
 * round trip costs no time. More only wait for each other's locks.
 */
const HOT_CONNECTIONS = 2
const HOT_STATEMENT_TIMEOUT_MS = 5_000
/**
 * A process that freezes mostly does so between the two messages of a batch. Its locks are released before other
 * processes, which wait for them at most `LOCK_TIMEOUT_MS`, time out.
 */
const HOT_IDLE_TIMEOUT_MS = LOCK_TIMEOUT_MS - 1_000
const CONNECTIONS_MAX = 8
const STATEMENT_TIMEOUT_MS = 30_000
/** About 256 kB. */
const PROBE_ROWS = 2_500
/** How often a batch is retried that was in a deadlock, or collided with a repetition of itself. */
const HOT_TRIES = 4

/**
 * The few hot statements look rows up by primary key and are the same for ever: planning them again would cost more than
 * running them, and a plan made for empty tables must not scan them when they are full. Disabled plan types count as very
 * expensive in the planner's costs, so that it would JIT-compile for a few rows.
 */
const HOT_SETTINGS = `set plan_cache_mode = force_generic_plan; set enable_seqscan = off;
  set enable_hashjoin = off; set enable_mergejoin = off; set jit = off`

const HOT_STATEMENTS: PreparedStatements = { settings: HOT_SETTINGS, reads: READS, writes: WRITES }

export async function openPostgres(options: PostgresOptions): Promise<SqlEngine> {
  const engine = new PostgresEngine(options)
  try {
    await engine.prepare()
    return engine
  } catch (error) {
    await engine.close()
    throw error
  }
}

class PostgresEngine implements SqlEngine {
  readonly name = 'postgres'
  readonly writer: Kysely<Schema>
  readonly reader: Kysely<Schema>
  readonly bulkReader: Kysely<Schema>
  readonly #options: PostgresOptions
  /** Distinguishes this opening's own announcements from others'. */
  readonly #origin = randomUUID()
  readonly #usage = new UsageSummer()
  readonly #hot: pg.Pool
  /** The pool's clients on which the hot statements are prepared. */
  readonly #connections = new WeakMap<pg.PoolClient, HotConnection>()
  readonly #pool: pg.Pool
  readonly #listener: Listener
  #hear: (change: Announcement) => void = () => {}

  constructor(options: PostgresOptions) {
    this.#options = options
    const { databaseUrl, log } = options
    const hot = clientConfig({
      databaseUrl,
      statementTimeoutMs: HOT_STATEMENT_TIMEOUT_MS,
      idleInTransactionTimeoutMs: HOT_IDLE_TIMEOUT_MS,
    })
    const general = clientConfig({ databaseUrl, statementTimeoutMs: STATEMENT_TIMEOUT_MS })
    this.#hot = openPool({ ...hot, max: HOT_CONNECTIONS }, log)
    this.#pool = openPool({ ...general, max: CONNECTIONS_MAX }, log)
    this.writer = new Kysely({ dialect: createPostgresDialect(this.#pool) })
    this.reader = this.writer
    this.bulkReader = this.writer
    this.#listener = new Listener({
      config: hot,
      origin: this.#origin,
      hear: (change) => this.#hear(change),
      log,
    })
  }

  async prepare(): Promise<void> {
    await this.#migrate()
    try {
      await this.#listener.open()
    } catch (error) {
      throw translateError(error)
    }
  }

  async runHot(operations: readonly HotOperation[]): Promise<readonly HotResult[]> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#tryHot(operations, tries === 1 ? 'open-calls' : 'nothing')
      } catch (error) {
        const again = error instanceof TransactionConflict || error instanceof StorageConflict
        if (!again) throw error
        if (tries === HOT_TRIES)
          throw new StorageUnavailable('the database is too contended', { cause: error })
      }
    }
  }

  openHotQueue(): HotQueue {
    return new GroupCommit({
      run: (operations) => this.runHot(operations),
      concurrency: HOT_CONNECTIONS,
    })
  }

  /** A temporary table needs new pages, which a full disk cannot provide; it leaves nothing behind. */
  async tryWriting(): Promise<void> {
    await this.writer.transaction().execute(async (transaction) => {
      await sql`create temporary table written_probe on commit drop as
        select md5(n::text) || md5((n + 1)::text) as filling from generate_series(1, ${sql.lit(PROBE_ROWS)}) n`.execute(
        transaction,
      )
    })
  }

  async announce(transaction: Transaction<Schema>, changes: readonly Announcement[]): Promise<void> {
    for (const change of changes) {
      const notice = encodeNotice(this.#origin, change)
      await sql`select pg_notify(${CHANNEL}, ${notice})`.execute(transaction)
    }
  }

  onAnnouncement(listener: (change: Announcement) => void): void {
    this.#hear = listener
  }

  withSnapshot<Value>(read: (snapshot: Kysely<Schema>) => Promise<Value>): Promise<Value> {
    return this.reader
      .transaction()
      .setIsolationLevel('repeatable read')
      .setAccessMode('read only')
      .execute(read)
  }

  keepLog(upkeep: LogUpkeep): Promise<number> {
    return keepLogPartitions(this.writer, upkeep)
  }

  async close(): Promise<void> {
    await this.#listener.close()
    await Promise.all([this.#hot.end(), this.#pool.end()])
  }

  /** Over a connection without time limits: a migration takes as long as it takes, and so does waiting for another's. */
  async #migrate(): Promise<void> {
    const { databaseUrl, log, now, schemaMost } = this.#options
    const pool = openPool({ ...clientConfig({ databaseUrl, statementTimeoutMs: undefined }), max: 1 }, log)
    try {
      const database = new Kysely<Schema>({ dialect: createPostgresDialect(pool) })
      await migrate(database, { engine: 'postgres', now, log, schemaMost })
    } finally {
      await pool.end()
    }
  }

  async #tryHot(operations: readonly HotOperation[], trust: Trust): Promise<readonly HotResult[]> {
    const client = await this.#connectHot()
    try {
      const results = await runHotTransaction(await this.#prepared(client), {
        operations,
        origin: this.#origin,
        usage: this.#usage,
        trust,
      })
      client.release()
      return results
    } catch (error) {
      await giveBack(client, error)
      throw error
    }
  }

  async #prepared(client: pg.PoolClient): Promise<HotConnection> {
    const known = this.#connections.get(client)
    if (known !== undefined) return known
    const connection = await HotConnection.open(client, HOT_STATEMENTS)
    this.#connections.set(client, connection)
    return connection
  }

  async #connectHot(): Promise<pg.PoolClient> {
    try {
      return await this.#hot.connect()
    } catch (error) {
      const { message } = translateError(error)
      throw new StorageUnavailable(message, { cause: error, untouched: true })
    }
  }
}

/** After a failure: rolled back and reused, or discarded if the connection is doubtful; then the server rolls back. */
async function giveBack(client: pg.PoolClient, failure: unknown): Promise<void> {
  let doubtful = failure instanceof StorageUnavailable
  if (!doubtful) {
    doubtful = await client.query('rollback').then(
      () => false,
      () => true,
    )
  }
  client.release(doubtful)
}

/** Without listeners a failing connection would end the process, whether idle or in use. */
function openPool(config: pg.PoolConfig, log: StorageLog): pg.Pool {
  const pool = new pg.Pool({ ...config, allowExitOnIdle: true })
  pool.on('error', (error) => log.warn({ error }, 'an idle database connection failed'))
  // While in use, the running query reports it.
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}
