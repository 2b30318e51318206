/**
 * The embedded engine: one thread commits, another reads, and a third does the reads that take long, so that reading
 * logs never delays a commit, and a sum never delays a page of them; in WAL mode none waits for another.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { Kysely, sql, type Transaction } from 'kysely'
import type { HotOperation } from '../../core/ledger/operations.ts'
import { decodeAnnouncement, encodeAnnouncement } from '../sql/announcement.ts'
import type { SqlEngine, StorageLog } from '../sql/engine.ts'
import type { HotQueue } from '../sql/calls/group-commit.ts'
import type { HotResult } from '../sql/calls/hot-batch.ts'
import { migrate } from '../sql/migrate.ts'
import type { Schema } from '../sql/schema.ts'
import { LOOK_EVERY_MS, type Looks, SqliteConnection, type ThreadNotice, Turns } from './connection.ts'
import { createSqliteDialect, type SqliteDialectOptions } from './kysely-driver.ts'
import { decodeResults, encodeOperations } from './hot/hot-codec.ts'
import type { LoadedIds, LoadedRows } from './hot/hot-transaction.ts'
import type { WrittenRows } from './hot/written-rows.ts'
import { isGone, ownPlace } from './process-place.ts'
import { type Hold, Ownership } from './single-writer/ownership.ts'
import { SingleWriter } from './single-writer/single-writer.ts'
import { startThreads } from './threads.ts'
import { StorageUnavailable } from '../failures/unavailable.ts'
import type { WorkerTask } from './messages.ts'
import type { Announcement } from '../announcement.ts'

export interface SqliteOptions {
  readonly path: string
  readonly now: () => number
  readonly log: StorageLog
  /** The newest migration to apply; undefined: all. */
  readonly schemaMost?: number | undefined
  /** Absent: this process runs no calls. */
  readonly runsCalls?: Hold | undefined
  /** How long what is in memory is trusted without a look at the database, ms; absent: the product's own time. */
  readonly trustMs?: number | undefined
  /** Called once, when the writing thread has stopped answering; absent: not watched. */
  readonly onHung?: (() => void) | undefined
}

/** The file whose lock says which processes run calls. */
export function ownerFileOf(path: string): string {
  return `${path}-owner`
}

/** Written into `changes` by a process that waits for the one that is alone. */
const JOIN_REQUEST = '{"kind":"join"}'
const JOIN_LOOK_MS = 50
const JOIN_REQUEST_EVERY_MS = 1_000
/** The one that is alone looks for requests four times a second; one that does not answer for so long hangs. */
const JOIN_PATIENCE_MS = 15_000
/** How often one of several processes checks whether it has become the only one. */
const TRY_ALONE_EVERY_MS = 5_000

const PROBE = 'written-probe'
const PROBE_BYTES = 256 * 1024
/** Announcements are kept this long for the other processes; a process that was paused longer must drop all caches. */
const CHANGES_KEPT_MS = 10 * 60_000

export async function openSqlite(options: SqliteOptions): Promise<SqlEngine> {
  // A reader is not needed for a transfer.
  if (options.schemaMost === undefined) startThreads()
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
  readonly processes = { own: ownPlace(), isGone }
  readonly writer: Kysely<Schema>
  readonly reader: Kysely<Schema>
  readonly bulkReader: Kysely<Schema>
  readonly #options: SqliteOptions
  /** Distinguishes this opening's own announcements from others'. */
  readonly #origin = randomUUID()
  readonly #writing: SqliteConnection
  readonly #reading: SqliteConnection
  /** Its thread starts with the first such read. */
  readonly #bulkReading: SqliteConnection
  readonly #turns = new Turns()
  readonly #ownership: Ownership | undefined
  readonly #hot: SingleWriter
  #tryingAlone: NodeJS.Timeout | undefined
  #listener: (change: Announcement) => void = () => {}
  #watching = false
  #closing = false
  #isCopying = false

  constructor(options: SqliteOptions) {
    this.#options = options
    const { path, runsCalls, log, trustMs } = options
    this.#ownership = runsCalls === undefined ? undefined : new Ownership(ownerFileOf(path))
    this.#hot = new SingleWriter({
      store: {
        run: (operations) => this.#decide(operations),
        commit: (rows, version) => this.#commit(rows, version),
        load: (wanted) => this.#load(wanted),
      },
      turns: this.#turns,
      trustMs,
      isAlone: () => this.#ownership?.hold === 'alone',
      onLost: ({ error, calls }) =>
        log.warn({ error, calls }, 'reservations of running calls were not stored'),
    })
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
        turns: { take: () => this.#hot.takeConnection() },
        begin: 'begin immediate',
      }),
    })
    this.#bulkReading = new SqliteConnection(
      { path, role: 'reader', origin: this.#origin },
      { notice: () => {} },
    )
    this.reader = readerOver(this.#reading, this.#turnsOfReader())
    this.bulkReader = readerOver(this.#bulkReading, this.#turnsOfReader())
  }

  /** What this process has decided is seen by whoever reads afterwards. */
  #turnsOfReader(): SqliteDialectOptions['turns'] {
    const turns = new Turns()
    return {
      take: async () => {
        await this.#hot.written()
        return turns.take()
      },
    }
  }

  async prepare(): Promise<void> {
    const { now, log, schemaMost } = this.#options
    await migrate(this.writer, { engine: 'sqlite', now, log, schemaMost })
    // When opened for a transfer, it may have no tables yet, and no listeners for changes.
    if (schemaMost !== undefined) return
    await this.#writing.run({ kind: 'watch' })
    this.#watching = true
    // Only now, because migrations may take long.
    if (this.#ownership !== undefined) await this.#startRunningCalls(this.#ownership)
    const { onHung } = this.#options
    if (onHung !== undefined) this.#writing.watch(regularly, onHung)
  }

  runHot(operations: readonly HotOperation[]): Promise<readonly HotResult[]> {
    return Promise.all(operations.map((operation) => this.#hot.submit(operation)))
  }

  openHotQueue(): HotQueue {
    return this.#hot
  }

  async #decide(operations: readonly HotOperation[]): Promise<readonly HotResult[]> {
    this.#startCopying()
    const answer = await this.#writing.run({ kind: 'hot', operations: encodeOperations(operations) })
    if (answer.kind !== 'hot') throw new Error('the storage thread answered a batch with something else')
    return decodeResults(answer.results)
  }

  async #commit(rows: WrittenRows, version: bigint): Promise<boolean> {
    this.#startCopying()
    const answer = await this.#writing.run({ kind: 'commit', rows, version })
    return answer.kind === 'done'
  }

  async #load(wanted: LoadedIds): Promise<LoadedRows> {
    const answer = await this.#writing.run({ kind: 'load', wanted })
    if (answer.kind !== 'loaded') throw new Error('the storage thread answered a load with something else')
    return answer.loaded
  }

  async #startRunningCalls(ownership: Ownership): Promise<void> {
    await this.#join(ownership)
    if (this.#options.runsCalls !== 'alone') return
    this.#tryingAlone = setInterval(() => {
      if (ownership.hold === 'together')
        this.#tryAlone(ownership).catch((error: unknown) => this.#warn(error))
    }, TRY_ALONE_EVERY_MS).unref()
  }

  /** Waits until this process may run calls: alone, or together with those that do. */
  async #join(ownership: Ownership): Promise<void> {
    const take = () => (this.#options.runsCalls === 'alone' ? ownership.take() : ownership.share())
    for (let waitedMs = 0; take() === undefined; waitedMs += JOIN_LOOK_MS) {
      if (waitedMs >= JOIN_PATIENCE_MS) throw new StorageUnavailable(OTHER_HANGS)
      if (waitedMs % JOIN_REQUEST_EVERY_MS === 0)
        this.#ask(this.#writing, joinRequest(this.#options.now(), this.#origin))
      await delay(JOIN_LOOK_MS)
    }
  }

  /** No operation runs meanwhile. */
  async #tryAlone(ownership: Ownership): Promise<void> {
    const end = await this.#hot.takeConnection()
    try {
      if (this.#closing) return
      await this.#join(ownership)
    } finally {
      end()
    }
  }

  /** Another process wants to run calls too: from now on the database decides. */
  async #letIn(): Promise<void> {
    if (this.#ownership?.hold !== 'alone') return
    const end = await this.#hot.takeConnection()
    try {
      if (this.#ownership.hold === 'alone') this.#ownership.share()
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
    await this.#hot.written()
    const connection = new SqliteConnection(
      { path: this.#options.path, role: 'reader', origin: this.#origin },
      { notice: () => {} },
    )
    try {
      return await readerOver(connection, new Turns()).transaction().execute(read)
    } finally {
      await connection.close()
    }
  }

  async close(): Promise<void> {
    this.#closing = true
    clearInterval(this.#tryingAlone)
    // The readers first: the last connection to close clears the write-ahead log, which only a writer can do.
    await Promise.all([this.#reading.close(), this.#bulkReading.close()])
    const end = await this.#turns.take()
    try {
      await this.#writing.close()
    } finally {
      end()
      this.#ownership?.close()
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
          if (row.origin === this.#origin) continue
          if (row.body === JOIN_REQUEST) this.#letIn().catch((error: unknown) => this.#warn(error))
          else this.#listener(decodeAnnouncement(row.body))
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

function readerOver(connection: SqliteConnection, turns: SqliteDialectOptions['turns']): Kysely<Schema> {
  return new Kysely({ dialect: createSqliteDialect({ connection, turns, begin: 'begin' }) })
}

function joinRequest(at: number, origin: string): WorkerTask {
  return {
    kind: 'change',
    sql: 'insert into changes (at, origin, body) values (?, ?, ?)',
    parameters: [at, origin, JOIN_REQUEST],
  }
}

const OTHER_HANGS =
  'another gateway process has this database for itself and does not answer; stop it, or wait until it goes on'
