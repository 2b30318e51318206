/**
 * Collects what shall share a batch. Entries that a client waits for start at the end of this turn of the event loop,
 * together with all others; entries that nobody waits for join them, or start alone after a moment. While a batch runs,
 * the next one is collected, so batches grow with the load.
 */
import type { HotOperation } from '../../../core/ledger/operations.ts'
import { StorageUnavailable } from '../../failures/unavailable.ts'
import type { HotResult } from './hot-batch.ts'

/** Operations per transaction: beyond some hundreds, larger batches only add latency. */
const BATCH_MAX = 512
/** Operations that may wait: some seconds of work. More is refused at once rather than answered too late. */
const QUEUE_MAX = 20_000

/**
 * A process that is busy most of the time collects even awaited operations for a moment: a transaction's fixed cost
 * equals that of some fifteen operations, and while other work is being done waiting costs nothing. An idle one starts
 * at once.
 */
const BUSY_UTILIZATION = 0.7
const GATHER_MIN = 48
const GATHER_MS = 2
/**
 * While the store is busy more than half of the time, charges are collected longer: small batches would only wait for
 * each other, and on a single core take time from the calls.
 */
const FULL_SHARE = 0.5
/** How often the utilisation is measured. */
const LOOK_EVERY_MS = 20

/**
 * How long an operation that nobody waits for is held for others to join: a batch costs about ten times as much as one
 * more operation in it.
 */
const PATIENCE_MS = 3

export interface Entry {
  readonly operation: HotOperation
  readonly resolve: (result: HotResult) => void
  readonly reject: (error: unknown) => void
}

/** `unless-full`: a client waits, but while the store is busy most of the time the entry waits for others. */
export type Awaited = 'yes' | 'unless-full' | 'no'

export interface BatchQueueOptions<One extends Entry> {
  readonly run: (batch: readonly One[]) => Promise<readonly HotResult[]>
  /** Batches that may run at once. */
  readonly concurrency: number
  /** Whether a client waits for the entry. */
  readonly isAwaited: (entry: One) => Awaited
  readonly batchMax?: number | undefined
  readonly queueMax?: number | undefined
  /** How long a busy process collects awaited entries, ms, and how many it does not exceed by waiting. */
  readonly gatherMs?: number | undefined
  readonly gatherMin?: number | undefined
}

export class BatchQueue<One extends Entry> {
  readonly #run: BatchQueueOptions<One>['run']
  readonly #isAwaited: BatchQueueOptions<One>['isAwaited']
  readonly #concurrency: number
  readonly #batchMax: number
  readonly #queueMax: number
  readonly #gatherMin: number
  readonly #gatherMs: number
  #queue: One[] = []
  #running = 0
  #scheduled = false
  #timer: NodeJS.Timeout | undefined
  #gathering: NodeJS.Timeout | undefined
  #lookedAt = 0
  #utilization = performance.eventLoopUtilization()
  #busy = false
  /** Since when the maximum number of batches has been running, and for how long it was since the last measurement. */
  #fullSince: number | undefined
  #fullMs = 0
  #storeIsFull = false
  #closed = false
  #whenIdle: (() => void)[] = []

  constructor(options: BatchQueueOptions<One>) {
    this.#run = options.run
    this.#isAwaited = options.isAwaited
    this.#concurrency = options.concurrency
    this.#batchMax = options.batchMax ?? BATCH_MAX
    this.#queueMax = options.queueMax ?? QUEUE_MAX
    this.#gatherMin = options.gatherMin ?? GATHER_MIN
    this.#gatherMs = options.gatherMs ?? GATHER_MS
  }

  /** Entries that have not started. */
  get length(): number {
    return this.#queue.length
  }

  add(entry: One): void {
    if (this.#closed) return entry.reject(new StorageUnavailable('the storage is closing'))
    if (this.#queue.length >= this.#queueMax) {
      return entry.reject(new StorageUnavailable('too many operations wait for the database'))
    }
    this.#queue.push(entry)
    this.#look()
    if (this.#startsAtOnce(entry)) this.#schedule()
    else this.#scheduleLater()
  }

  /** Everything added so far waits for nothing but the batches that run. */
  startNow(): void {
    if (this.#queue.length > 0 && this.#running < this.#concurrency) this.#startSoon()
  }

  /** Accepts nothing more and resolves when everything accepted is done. */
  close(): Promise<void> {
    this.#closed = true
    this.#schedule()
    if (this.#running === 0 && this.#queue.length === 0) return Promise.resolve()
    return new Promise((resolve) => this.#whenIdle.push(resolve))
  }

  /** At the end of this turn of the event loop, so that calls read from many sockets in it share a batch. */
  #schedule(): void {
    if (this.#scheduled || this.#running >= this.#concurrency) return
    if (this.#busy && !this.#closed && this.#queue.length < this.#gatherMin) {
      this.#gathering ??= setTimeout(() => this.#startSoon(), this.#gatherMs)
      return
    }
    this.#startSoon()
  }

  #startSoon(): void {
    clearTimeout(this.#gathering)
    this.#gathering = undefined
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      this.#start()
    })
  }

  #look(): void {
    const now = performance.now()
    if (now - this.#lookedAt < LOOK_EVERY_MS) return
    this.#noteFull(now)
    this.#storeIsFull = this.#fullMs >= (now - this.#lookedAt) * FULL_SHARE
    this.#fullMs = 0
    this.#lookedAt = now
    const utilization = performance.eventLoopUtilization()
    this.#busy =
      performance.eventLoopUtilization(utilization, this.#utilization).utilization >= BUSY_UTILIZATION
    this.#utilization = utilization
  }

  /** Counts the time that all places were taken; called when the number of running batches has changed, and at each look. */
  #noteFull(now: number): void {
    if (this.#fullSince !== undefined) this.#fullMs += now - this.#fullSince
    this.#fullSince = this.#running >= this.#concurrency ? now : undefined
  }

  #changeRunning(by: 1 | -1): void {
    this.#running += by
    this.#noteFull(performance.now())
  }

  #startsAtOnce(entry: One): boolean {
    const awaited = this.#isAwaited(entry)
    return awaited === 'yes' || (awaited === 'unless-full' && !this.#storeIsFull)
  }

  #scheduleLater(): void {
    if (this.#scheduled || this.#closed) return
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.#schedule()
    }, PATIENCE_MS)
  }

  #start(): void {
    if (this.#queue.length === 0 || this.#running >= this.#concurrency) return
    clearTimeout(this.#timer)
    this.#timer = undefined
    const batch = this.#queue.splice(0, this.#batchMax)
    this.#changeRunning(1)
    const finished = () => {
      this.#changeRunning(-1)
      if (this.#queue.length > 0) this.#scheduleRest()
      else if (this.#running === 0) for (const resolve of this.#whenIdle.splice(0)) resolve()
    }
    // `#settle` reports every failure to its callers, so it never rejects.
    this.#settle(batch).then(finished, finished)
    if (this.#queue.length > 0) this.#scheduleRest()
  }

  #scheduleRest(): void {
    const awaited = this.#closed || this.#queue.some((entry) => this.#startsAtOnce(entry))
    if (awaited || this.#queue.length >= this.#batchMax) this.#schedule()
    else this.#scheduleLater()
  }

  async #settle(batch: readonly One[]): Promise<void> {
    try {
      const results = await this.#run(batch)
      batch.forEach(({ resolve, reject }, index) => {
        const result = results[index]
        if (result === undefined) reject(new Error('the batch returned fewer results than operations'))
        else resolve(result)
      })
    } catch (error) {
      await this.#settleFailed(batch, error)
    }
  }

  /** One operation that cannot be written must not fail the others of its batch, so they are run separately. */
  async #settleFailed(batch: readonly One[], error: unknown): Promise<void> {
    if (batch.length === 1 || error instanceof StorageUnavailable) {
      for (const { reject } of batch) reject(error)
      return
    }
    const middle = batch.length >> 1
    await this.#settle(batch.slice(0, middle))
    await this.#settle(batch.slice(middle))
  }
}
