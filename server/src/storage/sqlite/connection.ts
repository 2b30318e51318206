/**
 * One worker thread with its SQLite connection, as the process sees it: tasks in, answers out, in order. A thread that
 * died fails what it was doing with `StorageUnavailable`, and the next task starts a new one.
 */
import { Worker } from 'node:worker_threads'
import { StorageConflict } from '../failures/conflict.ts'
import { StorageUnavailable } from '../failures/unavailable.ts'
import type { WorkerAnswer, WorkerFailure, WorkerOptions, WorkerReply, WorkerTask } from './messages.ts'
import { workerLocation } from './worker-location.ts'

/** What the thread says unasked. */
export type ThreadNotice = Exclude<WorkerReply, WorkerAnswer>

export interface ConnectionListener {
  readonly notice: (notice: ThreadNotice) => void
}

interface Waiting {
  readonly id: number
  readonly resolve: (answer: WorkerAnswer) => void
  readonly reject: (error: Error) => void
}

export class SqliteConnection {
  readonly #options: WorkerOptions
  readonly #listener: ConnectionListener
  /** In the order in which they were asked, which is the order of the answers. */
  readonly #waiting: Waiting[] = []
  #worker: Worker | undefined
  #nextId = 1
  /** Raised whenever a thread is lost, so that a transaction notices that it is no longer in one. */
  #generation = 0
  #closed = false

  constructor(options: WorkerOptions, listener: ConnectionListener) {
    this.#options = options
    this.#listener = listener
  }

  get generation(): number {
    return this.#generation
  }

  run(task: WorkerTask): Promise<WorkerAnswer> {
    if (this.#closed) return Promise.reject(new StorageUnavailable('the storage is closed'))
    return this.#send(task)
  }

  /** Ends the thread after what was sent before. */
  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    const worker = this.#worker
    if (worker === undefined) return
    const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
    await this.#send({ kind: 'close' })
    // Owing no answer the thread is let go; a process with nothing else to do would end before it has.
    worker.ref()
    await exited
  }

  #send(task: WorkerTask): Promise<WorkerAnswer> {
    this.#worker ??= this.#start()
    const worker = this.#worker
    const id = this.#nextId++
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) worker.ref()
      this.#waiting.push({ id, resolve, reject })
      worker.postMessage({ ...task, id })
    })
  }

  #start(): Worker {
    const worker = new Worker(workerLocation(), {
      workerData: this.#options,
      name: `storage-${this.#options.role}`,
      // Node's own SQLite calls itself experimental on every start.
      execArgv: [...process.execArgv.filter(suitsThread), '--disable-warning=ExperimentalWarning'],
    })
    worker.on('message', (reply: WorkerReply) => this.#receive(worker, reply))
    let cause: unknown
    worker.on('error', (error) => {
      cause = error
    })
    worker.on('exit', () => this.#lose(worker, cause))
    // An idle thread does not keep the process alive; one that owes an answer does.
    worker.unref()
    return worker
  }

  #receive(worker: Worker, reply: WorkerReply): void {
    if (!('id' in reply)) {
      this.#listener.notice(reply)
      return
    }
    // A lost thread's last word; whoever asked was told.
    if (this.#waiting[0]?.id !== reply.id) return
    const waiting = this.#waiting.shift()
    if (this.#waiting.length === 0) worker.unref()
    if (waiting === undefined) return
    if (reply.kind === 'failed') waiting.reject(errorOf(reply.error))
    else waiting.resolve(reply)
  }

  #lose(worker: Worker, cause: unknown): void {
    if (this.#worker !== worker) return
    this.#worker = undefined
    this.#generation += 1
    const waiting = this.#waiting.splice(0)
    const reason = cause instanceof Error ? `: ${cause.message}` : ''
    for (const { reject } of waiting) {
      reject(new StorageUnavailable(`the storage thread ended${reason}`, { cause }))
    }
  }
}

/** Flags of the whole process, such as the size of its heap, are refused by a thread. */
function suitsThread(flag: string): boolean {
  return flag.startsWith('--enable-source-maps') || flag.startsWith('--cpu-prof')
}

/** SQLite's primary result codes that mean "the database cannot serve", not "this statement is wrong". */
const UNAVAILABLE_CODES = new Set([5, 6, 8, 10, 11, 13, 14, 23, 26])
/** SQLITE_CONSTRAINT_UNIQUE and SQLITE_CONSTRAINT_PRIMARYKEY. */
const CONFLICT_CODES = new Set([2067, 1555])

function errorOf(failure: WorkerFailure): Error {
  const cause = Object.assign(new Error(failure.message), { errcode: failure.code, stack: failure.stack })
  if (failure.code !== undefined) {
    if (UNAVAILABLE_CODES.has(failure.code & 0xff)) {
      return new StorageUnavailable(`SQLite: ${failure.message}`, { cause })
    }
    if (CONFLICT_CODES.has(failure.code)) return new StorageConflict(failure.message, { cause })
  }
  return new Error(failure.message, { cause })
}
