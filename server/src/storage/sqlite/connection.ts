/**
 * One worker thread with its SQLite connection, as the process sees it: tasks in, answers out, in order. When a thread
 * dies, its current tasks fail with `StorageUnavailable`, and the next task starts a new one.
 */
import type { Worker } from 'node:worker_threads'
import { StorageConflict } from '../failures/conflict.ts'
import { StorageUnavailable } from '../failures/unavailable.ts'
import type { WorkerAnswer, WorkerFailure, WorkerOptions, WorkerReply, WorkerTask } from './messages.ts'
import { afterClosing, keepThread, takeThread } from './threads.ts'

/** Unsolicited messages of the thread. */
export type ThreadNotice = Exclude<WorkerReply, WorkerAnswer>

export interface ConnectionListener {
  readonly notice: (notice: ThreadNotice) => void
}

interface Waiting {
  readonly id: number
  readonly resolve: (answer: WorkerAnswer) => void
  readonly reject: (error: Error) => void
}

/** Calls `look` periodically; returns a function that stops it. */
export type Looks = (look: () => void) => () => void

/** How often a watched thread is checked, and after how many checks without an answer it counts as hung. */
export const LOOK_EVERY_MS = 5_000
export const SILENT_LOOKS_MAX = 12

export class SqliteConnection {
  readonly #options: WorkerOptions
  readonly #listener: ConnectionListener
  /** In the order of the requests, which is the order of the answers. */
  readonly #waiting: Waiting[] = []
  #worker: Worker | undefined
  #nextId = 1
  /** Raised whenever a thread is lost, so that a transaction notices that it is no longer in one. */
  #generation = 0
  #closed = false
  #answered = false
  #silentLooks = 0
  #hung = false
  #stopLooking: () => void = () => undefined

  constructor(options: WorkerOptions, listener: ConnectionListener) {
    this.#options = options
    this.#listener = listener
  }

  get generation(): number {
    return this.#generation
  }

  run(task: WorkerTask): Promise<WorkerAnswer> {
    if (this.#hung) return Promise.reject(new StorageUnavailable(HUNG, { untouched: true }))
    if (this.#closed) return Promise.reject(new StorageUnavailable('the storage is closed'))
    return this.#send(task)
  }

  /**
   * From now on, a thread that owes an answer for many consecutive checks is given up: everything that waits for it
   * fails, and so does everything later. Checks are counted instead of time, so that a process that was itself paused
   * does not blame its thread. Such a thread is stuck in a system call and cannot be ended, so it is not replaced.
   */
  watch(looks: Looks, onHung: () => void): void {
    this.#stopLooking = looks(() => {
      this.#silentLooks = this.#waiting.length === 0 || this.#answered ? 0 : this.#silentLooks + 1
      this.#answered = false
      if (this.#silentLooks < SILENT_LOOKS_MAX || this.#hung) return
      this.#hung = true
      this.#refuseWaiting(new StorageUnavailable(HUNG))
      onHung()
    })
  }

  /** Ends the thread after everything sent before. */
  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#stopLooking()
    const worker = this.#worker
    if (worker === undefined || this.#hung) return
    const afterwards = afterClosing()
    const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
    await this.#send({ kind: 'close', afterwards })
    if (afterwards === 'wait') return keepThread(worker)
    // An idle thread is unreferenced; a process with nothing else to do would exit before it has ended.
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
      worker.postMessage({ id, ...task })
    })
  }

  #start(): Worker {
    const worker = takeThread(this.#options)
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
    // The last message of a lost thread; its callers have been answered.
    if (this.#waiting[0]?.id !== reply.id) return
    this.#answered = true
    const waiting = this.#waiting.shift()
    if (this.#waiting.length === 0) worker.unref()
    if (waiting === undefined) return
    if (reply.kind === 'failed') waiting.reject(errorOf(reply.error))
    else waiting.resolve(reply)
  }

  #lose(worker: Worker, cause: unknown): void {
    if (this.#worker !== worker) return
    this.#worker = undefined
    const reason = cause instanceof Error ? `: ${cause.message}` : ''
    this.#refuseWaiting(new StorageUnavailable(`the storage thread ended${reason}`, { cause }))
  }

  #refuseWaiting(error: StorageUnavailable): void {
    this.#generation += 1
    for (const { reject } of this.#waiting.splice(0)) reject(error)
  }
}

const HUNG = 'the storage thread does not answer any more'

/** SQLite's primary result codes that mean "the database cannot serve", not "this statement is wrong". */
const UNAVAILABLE_CODES: ReadonlySet<number> = new Set([5, 6, 8, 10, 11, 13, 14, 23, 26])
/** SQLITE_CONSTRAINT_UNIQUE and SQLITE_CONSTRAINT_PRIMARYKEY. */
const CONFLICT_CODES: ReadonlySet<number> = new Set([2067, 1555])

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

/** A queue for an exclusive resource, served in order. */
export class Turns {
  #last: Promise<void> = Promise.resolve()

  /** Resolves when it is the caller's turn, with the function that ends it. */
  async take(): Promise<() => void> {
    const before = this.#last
    let end: () => void = () => {}
    this.#last = new Promise((resolve) => {
      end = resolve
    })
    await before
    return end
  }
}
