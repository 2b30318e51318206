/**
 * The embedded engine: one thread commits, another reads, so that reading logs never delays a commit; in WAL mode
 * neither waits for the other.
 */
import { randomUUID } from 'node:crypto'
import { Kysely, sql, type Transaction } from 'kysely'
import type { HotOperation } from '../../core/ledger/operations.ts'
import { decodeAnnouncement, encodeAnnouncement } from '../sql/announcement.ts'
import type { SqlEngine, StorageLog } from '../sql/engine.ts'
import type { HotResult } from '../sql/calls/hot-batch.ts'
import { migrate } from '../sql/migrate.ts'
import type { Schema } from '../sql/schema.ts'
import { LOOK_EVERY_MS, type Looks, SqliteConnection, type ThreadNotice, Turns } from './connection.ts'
import { createSqliteDialect } from './kysely-driver.ts'
import { decodeResults, encodeOperations } from './hot/hot-codec.ts'
import { isGone, ownPlace } from './process-place.ts'
import type { WorkerTask } from './messages.ts'
import type { Announcement } from '../announcement.ts'

export interface SqliteOptions {
  readonly path: string
  readonly now: () => number
  readonly log: StorageLog
  /** The newest migration to apply; undefined: all. */
  readonly schemaMost?: number | undefined
  /** Called once, when the writing thread has stopped answering; absent: not watched. */
  readonly onHung?: (() => void) | undefined
}

const PROBE = 'written-probe'
const PROBE_BYTES = 256 * 1024
/** Announcements are kept this long for the other processes; a process that was paused longer must drop all caches. */
const CHANGES_KEPT_MS = 10 * 60_000

export async function openSqlite(options: SqliteOptions): Promise<SqlEngine> {
  const engine = new SqliteEngine(options)
  try {
    await engine.prepare()
    return engine
  } catch (error) {
    await engine.close()
    throw error
  }
}

class SqliteEngine implements SqlEngine {
  readonly name = 'sqlite'
  readonly hotConcurrency = 1
  readonly processes = { own: ownPlace(), isGone }
  readonly writer: Kysely<Schema>
  readonly reader: Kysely<Schema>
  readonly #options: SqliteOptions
  /** Distinguishes this opening's own announcements from others'. */
  readonly #origin = randomUUID()
  readonly #writing: SqliteConnection
  readonly #reading: SqliteConnection
  readonly #turns = new Turns()
  #listener: (change: Announcement) => void = () => {}
  #watching = false
  #closing = false
  #isCopying = false

  constructor(options: SqliteOptions) {
    this.#options = options
    const { path } = options
    this.#writing = new SqliteConnection(
      { path, role: 'writer', origin: this.#origin },
      { notice: (reply) => this.#noticeWriter(reply) },
    )
    this.#reading = new SqliteConnection(
      { path, role: 'reader', origin: this.#origin },
      { notice: (reply) => this.#noticeReader(reply) },
    )
    this.writer = new Kysely({
      dialect: createSqliteDialect({
        connection: this.#writing,
        turns: this.#turns,
        begin: 'begin immediate',
      }),
    })
    this.reader = readerOver(this.#reading)
  }

  async prepare(): Promise<void> {
    const { now, log, schemaMost } = this.#options
    await migrate(this.writer, { engine: 'sqlite', now, log, schemaMost })
    // When opened for a transfer, it may have no tables yet, and no listeners for changes.
    if (schemaMost !== undefined) return
    await this.#writing.run({ kind: 'watch' })
    this.#watching = true
    // Only now, because migrations may take long.
    const { onHung } = this.#options
    if (onHung !== undefined) this.#writing.watch(regularly, onHung)
  }

  async runHot(operations: readonly HotOperation[]): Promise<readonly HotResult[]> {
    this.#startCopying()
    const end = await this.#turns.take()
    try {
      const answer = await this.#writing.run({ kind: 'hot', operations: encodeOperations(operations) })
      if (answer.kind !== 'hot') throw new Error('the storage thread answered a batch with something else')
      return decodeResults(answer.results)
    } finally {
      end()
    }
  }

  /** Committed, since rolled-back writes never reach the disk. */
  async tryWriting(): Promise<void> {
    await sql`insert into meta (name, value) values (${PROBE}, hex(randomblob(${sql.lit(PROBE_BYTES / 2)})))
      on conflict (name) do update set value = excluded.value`.execute(this.writer)
    await sql`delete from meta where name = ${PROBE}`.execute(this.writer)
  }

  async announce(transaction: Transaction<Schema>, changes: readonly Announcement[]): Promise<void> {
    const at = this.#options.now()
    const rows = changes.map((change) => ({ at, origin: this.#origin, body: encodeAnnouncement(change) }))
    await transaction.insertInto('changes').values(rows).execute()
    await transaction
      .deleteFrom('changes')
      .where('at', '<', BigInt(at - CHANGES_KEPT_MS))
      .execute()
  }

  onAnnouncement(listener: (change: Announcement) => void): void {
    this.#listener = listener
  }

  async withSnapshot<Value>(read: (snapshot: Kysely<Schema>) => Promise<Value>): Promise<Value> {
    const connection = new SqliteConnection(
      { path: this.#options.path, role: 'reader', origin: this.#origin },
      { notice: () => {} },
    )
    try {
      return await readerOver(connection).transaction().execute(read)
    } finally {
      await connection.close()
    }
  }

  async close(): Promise<void> {
    this.#closing = true
    // The reader first: the last connection to close clears the write-ahead log, which only a writer can do.
    await this.#reading.close()
    const end = await this.#turns.take()
    try {
      await this.#writing.close()
    } finally {
      end()
    }
  }

  #noticeWriter(reply: ThreadNotice): void {
    switch (reply.kind) {
      case 'open':
        // A replacement thread: announcements in between were missed.
        if (this.#watching) this.#ask(this.#writing, { kind: 'watch' })
        if (this.#watching) this.#listener({ kind: 'everything' })
        return
      case 'changes':
        if (reply.gap) this.#listener({ kind: 'everything' })
        for (const row of reply.rows) {
          if (row.origin !== this.#origin) this.#listener(decodeAnnouncement(row.body))
        }
        return
      case 'timer-failed':
        this.#warn(reply.error)
    }
  }

  /** Started with the first batch: a process that only reads, or changes a setting, needs no such thread. */
  #startCopying(): void {
    if (this.#isCopying) return
    this.#isCopying = true
    this.#ask(this.#reading, { kind: 'checkpoint' })
  }

  #noticeReader(reply: ThreadNotice): void {
    // A replacement thread makes no checkpoints until it is told to.
    if (reply.kind === 'open' && this.#isCopying) this.#ask(this.#reading, { kind: 'checkpoint' })
    if (reply.kind === 'timer-failed') this.#warn(reply.error)
  }

  #ask(connection: SqliteConnection, task: WorkerTask): void {
    if (this.#closing) return
    connection.run(task).catch((error: unknown) => this.#warn(error))
  }

  #warn(error: unknown): void {
    this.#options.log.warn({ error }, 'a regular task of the storage threads failed')
  }
}

const regularly: Looks = (look) => {
  const timer = setInterval(look, LOOK_EVERY_MS).unref()
  return () => clearInterval(timer)
}

function readerOver(connection: SqliteConnection): Kysely<Schema> {
  return new Kysely({ dialect: createSqliteDialect({ connection, turns: new Turns(), begin: 'begin' }) })
}
