/** The thread that owns one SQLite connection at a time: it runs one task after the other. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { type MessagePort, parentPort } from 'node:worker_threads'
import { ChangeWatch } from './change-watch.ts'
import { checkpoint, PAGE_BYTES } from './checkpoint.ts'
import { decodeOperations, encodeResults } from './hot/hot-codec.ts'
import { HotTransactions } from './hot/hot-transaction.ts'
import { loadSqlite, type SqliteDatabase } from './library.ts'
import {
  BUSY_CODE,
  type WorkerFailure,
  type WorkerMessage,
  type WorkerOptions,
  type WorkerReply,
  type WorkerRequest,
} from './messages.ts'
import { rollBack } from './roll-back.ts'
import { Statements } from './statements.ts'

/** How long one connection waits for another process's write lock before the call is refused. */
const BUSY_TIMEOUT_MS = 5_000
/** Announcements must arrive within a second; four checks per second cost almost nothing. */
const WATCH_INTERVAL_MS = 250
const CHECKPOINT_INTERVAL_MS = 1_000
/** Above this size (512 MiB) a commit makes the checkpoint itself, if the reading thread has not done so. */
const CHECKPOINT_PAGES = (512 * 1_024 * 1_024) / PAGE_BYTES
const CACHE_KIB = 32 * 1_024

/**
 * WAL with synchronous=NORMAL: a commit reaches the operating system before it is answered, so a killed process loses
 * nothing; only a crash of the machine itself may lose the last moments, never the order or the consistency.
 * recursive_triggers makes the ledger's triggers refuse `insert or replace` too. The reader is opened for writing
 * because it copies the log back; query_only keeps it from changing anything.
 */
const PRAGMAS: Record<WorkerOptions['role'], string> = {
  writer: `pragma page_size = ${PAGE_BYTES}; pragma journal_mode = wal; pragma synchronous = normal; pragma foreign_keys = on;
    pragma recursive_triggers = on; pragma wal_autocheckpoint = ${CHECKPOINT_PAGES};`,
  reader: 'pragma query_only = on;',
}
// The time-out is set here too: some versions of Node do not have the option.
const EVERY_CONNECTION = `pragma busy_timeout = ${BUSY_TIMEOUT_MS}; pragma cache_size = -${CACHE_KIB}; pragma temp_store = memory;`

class DatabaseThread {
  readonly #port: MessagePort
  readonly #database: SqliteDatabase
  readonly #statements: Statements
  readonly #hot: HotTransactions
  #inTransaction = false
  #timer: NodeJS.Timeout | undefined

  constructor(port: MessagePort, options: WorkerOptions) {
    this.#port = port
    this.#database = openDatabase(options)
    this.#statements = new Statements(this.#database)
    this.#hot = new HotTransactions(this.#statements, options.origin)
  }

  take(request: Exclude<WorkerRequest, { readonly kind: 'close' }>): void {
    try {
      this.#reply(this.#answer(request))
    } catch (error) {
      this.#reply({ kind: 'failed', id: request.id, error: describe(error) })
    }
  }

  close(): void {
    clearInterval(this.#timer)
    this.#database.close()
  }

  #answer(request: Exclude<WorkerRequest, { readonly kind: 'close' }>): WorkerReply {
    // Any other task may write.
    if (request.kind !== 'hot') this.#hot.forgetRows()
    switch (request.kind) {
      case 'query':
        return {
          kind: 'rows',
          id: request.id,
          rows: this.#statements.prepare(request.sql).all(...request.parameters),
        }
      case 'change': {
        const { changes } = this.#statements.prepare(request.sql).run(...request.parameters)
        return { kind: 'count', id: request.id, count: BigInt(changes) }
      }
      case 'transaction':
        if (request.verb === 'rollback') rollBack(this.#statements)
        else this.#statements.prepare(request.verb).run()
        this.#inTransaction = request.verb === 'begin' || request.verb === 'begin immediate'
        return { kind: 'done', id: request.id }
      case 'hot':
        return {
          kind: 'hot',
          id: request.id,
          results: encodeResults(this.#hot.run(decodeOperations(request.operations))),
        }
      case 'commit': {
        const isDone = this.#hot.commit(request.rows, request.version)
        return { kind: isDone ? 'done' : 'stale', id: request.id }
      }
      case 'load':
        return { kind: 'loaded', id: request.id, loaded: this.#hot.load(request.wanted) }
      case 'watch':
        this.#watch()
        return { kind: 'done', id: request.id }
      case 'checkpoint':
        this.#every(CHECKPOINT_INTERVAL_MS, () => checkpoint(this.#statements, BUSY_TIMEOUT_MS))
        return { kind: 'done', id: request.id }
    }
  }

  #watch(): void {
    const watch = new ChangeWatch(this.#statements)
    this.#every(WATCH_INTERVAL_MS, () => {
      const seen = watch.look()
      if (seen.rows.length > 0) this.#reply({ kind: 'changes', ...seen })
    })
  }

  #every(intervalMs: number, work: () => void): void {
    clearInterval(this.#timer)
    this.#timer = setInterval(() => {
      // Inside a transaction, the work would see uncommitted data.
      if (this.#inTransaction) return
      try {
        work()
      } catch (error) {
        this.#reply({ kind: 'timer-failed', error: describe(error) })
      }
    }, intervalMs)
  }

  #reply(message: WorkerReply): void {
    this.#port.postMessage(message)
  }
}

function openDatabase(options: WorkerOptions): SqliteDatabase {
  const { DatabaseSync } = loadSqlite()
  const database = new DatabaseSync(options.path, { timeout: BUSY_TIMEOUT_MS })
  const giveUpAt = performance.now() + BUSY_TIMEOUT_MS
  for (;;) {
    try {
      database.exec(EVERY_CONNECTION + PRAGMAS[options.role])
      return database
    } catch (error) {
      // The change to WAL does not wait for locks by itself when several processes open a new file at once.
      if (describe(error).code !== BUSY_CODE || performance.now() > giveUpAt) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
    }
  }
}

function describe(error: unknown): WorkerFailure {
  if (!(error instanceof Error)) return { message: String(error), code: undefined, stack: undefined }
  const code = 'errcode' in error && typeof error.errcode === 'number' ? error.errcode : undefined
  return { message: error.message, code, stack: error.stack }
}

if (parentPort === null) throw new Error('the storage worker runs as a worker thread only')
const port = parentPort
let connection: DatabaseThread | undefined
// Only our own process sends messages; their type is the contract of `messages.ts`.
port.on('message', (message: WorkerMessage) => {
  if (message.kind === 'close') close(message)
  else if (message.kind === 'open') {
    connection = new DatabaseThread(port, message.options)
    port.postMessage({ kind: 'open' } satisfies WorkerReply)
  } else connection?.take(message)
})

function close({ id, afterwards }: Extract<WorkerRequest, { readonly kind: 'close' }>): void {
  let reply: WorkerReply = { kind: 'done', id }
  try {
    connection?.close()
  } catch (error) {
    reply = { kind: 'failed', id, error: describe(error) }
  }
  connection = undefined
  if (afterwards === 'wait' && reply.kind === 'done') {
    forgetStatements(() => port.postMessage(reply))
    return
  }
  port.postMessage(reply)
  port.close()
}

/**
 * A prepared statement keeps the file of a closed connection open until the statement is garbage-collected; nothing else
 * ends one. Finalizers run in a later turn.
 */
function forgetStatements(done: () => void): void {
  setFlagsFromString('--expose-gc')
  // Threads cannot be given the flag.
  const collect = runInNewContext('gc') as () => void
  // The call that closed the connection still refers to it.
  setImmediate(() => {
    collect()
    setImmediate(done)
  })
}
