/**
 * Collects concurrent hot operations so that they share a transaction. Idle: the first one starts at once. Busy: what
 * arrives meanwhile makes the next batch, so the batch grows with the load and nobody waits for a timer.
 */
import type { HotOperation } from '../../core/calls/operations.ts'
import { StorageUnavailable } from '../unavailable.ts'
import type { HotResult } from './hot-batch.ts'

/** Operations of one transaction: past some hundreds a batch only adds waiting. */
const BATCH_MAX = 512
/** Operations that may wait: some seconds of work. More is refused at once rather than answered too late. */
const QUEUE_MAX = 20_000

interface Waiting {
  readonly operation: HotOperation
  readonly resolve: (result: HotResult) => void
  readonly reject: (error: unknown) => void
}

export interface GroupCommitOptions {
  readonly run: (operations: readonly HotOperation[]) => Promise<readonly HotResult[]>
  /** Batches that may run at once. */
  readonly concurrency: number
  readonly batchMax?: number
  readonly queueMax?: number
}

export class GroupCommit {
  readonly #run: GroupCommitOptions['run']
  readonly #concurrency: number
  readonly #batchMax: number
  readonly #queueMax: number
  #queue: Waiting[] = []
  #running = 0
  #scheduled = false
  #closed = false
  #whenIdle: (() => void)[] = []

  constructor(options: GroupCommitOptions) {
    this.#run = options.run
    this.#concurrency = options.concurrency
    this.#batchMax = options.batchMax ?? BATCH_MAX
    this.#queueMax = options.queueMax ?? QUEUE_MAX
  }

  submit(operation: HotOperation): Promise<HotResult> {
    if (this.#closed) return Promise.reject(new StorageUnavailable('the storage is closing'))
    if (this.#queue.length >= this.#queueMax) {
      return Promise.reject(new StorageUnavailable('too many operations wait for the database'))
    }
    return new Promise((resolve, reject) => {
      this.#queue.push({ operation, resolve, reject })
      this.#schedule()
    })
  }

  /** Takes nothing more and resolves when everything accepted is done. */
  close(): Promise<void> {
    this.#closed = true
    if (this.#running === 0 && this.#queue.length === 0) return Promise.resolve()
    return new Promise((resolve) => this.#whenIdle.push(resolve))
  }

  /** At the end of this turn of the event loop's microtasks, so that calls made together go together. */
  #schedule(): void {
    if (this.#scheduled || this.#running >= this.#concurrency) return
    this.#scheduled = true
    queueMicrotask(() => {
      this.#scheduled = false
      this.#start()
    })
  }

  #start(): void {
    if (this.#queue.length === 0 || this.#running >= this.#concurrency) return
    const batch = this.#queue.splice(0, this.#batchMax)
    this.#running += 1
    const finished = () => {
      this.#running -= 1
      if (this.#queue.length > 0) this.#schedule()
      else if (this.#running === 0) for (const resolve of this.#whenIdle.splice(0)) resolve()
    }
    // `#settle` reports every failure to its callers, so it never rejects.
    this.#settle(batch).then(finished, finished)
    if (this.#queue.length > 0) this.#schedule()
  }

  async #settle(batch: readonly Waiting[]): Promise<void> {
    try {
      const results = await this.#run(batch.map(({ operation }) => operation))
      batch.forEach(({ resolve, reject }, index) => {
        const result = results[index]
        if (result === undefined) reject(new Error('the batch returned fewer results than operations'))
        else resolve(result)
      })
    } catch (error) {
      await this.#settleFailed(batch, error)
    }
  }

  /** One operation that cannot be written must not take the others of its batch with it: they are run apart. */
  async #settleFailed(batch: readonly Waiting[], error: unknown): Promise<void> {
    if (batch.length === 1 || error instanceof StorageUnavailable) {
      for (const { reject } of batch) reject(error)
      return
    }
    const middle = batch.length >> 1
    await this.#settle(batch.slice(0, middle))
    await this.#settle(batch.slice(middle))
  }
}
