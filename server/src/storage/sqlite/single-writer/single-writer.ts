/**
 * The hot operations of a process that alone runs calls on its database. It decides on rows in its own memory, at the
 * end of the turn of the event loop in which operations arrive, and commits behind: a reservation is answered at once,
 * everything else once it is committed. What memory cannot decide, and everything while other work has the connection
 * or another process shares the database, the database decides, as with several processes
 * (docs/decisions/0021-single-writer.md).
 */
import type { Granted, HotOperation, ReserveOperation } from '../../../core/ledger/operations.ts'
import { StorageUnavailable } from '../../failures/unavailable.ts'
import { type Awaited, BatchQueue, type Entry } from '../../sql/calls/batch-queue.ts'
import { type HotQueue, isAwaited } from '../../sql/calls/group-commit.ts'
import type { HotResult } from '../../sql/calls/hot-batch.ts'
import type { Turns } from '../connection.ts'
import type { LoadedIds, LoadedRows } from '../hot/hot-transaction.ts'
import type { WrittenRows } from '../hot/written-rows.ts'
import { HotMemory } from './hot-memory.ts'

/**
 * How long memory is trusted after the database was last seen unchanged by others. Under load every commit shows it;
 * an idle process asks before it decides.
 */
const TRUST_MS = 20
/** Operations that may wait, decided or not. */
const QUEUE_MAX = 20_000
/** Each load brings rows that were missing; a batch that still lacks some after so many is the database's to decide. */
const LOADS_MAX = 20

/**
 * A busy process may collect longer than one whose reservations wait too: the end of an answer is all that waits. Measured
 * at full load against 2 ms and 48: 7 % less CPU per call; 10 ms gain nothing more.
 */
const GATHER_MS = 5
const GATHER_MIN = 200

/** What the database does for it, each in the order of the calls. */
export interface HotStore {
  /** Decides and commits. */
  run(operations: readonly HotOperation[]): Promise<readonly HotResult[]>
  /** Commits what was decided; false: another process has committed since `version`, and nothing was written. */
  commit(rows: WrittenRows, version: bigint): Promise<boolean>
  load(wanted: LoadedIds): Promise<LoadedRows>
}

export interface SingleWriterOptions {
  readonly store: HotStore
  /** Of the connection: its other users take them too. */
  readonly turns: Turns
  /** False: other processes run calls too, so the database decides. */
  readonly isAlone: () => boolean
  readonly onLost: (lost: { readonly error: unknown; readonly calls: number }) => void
  /** ms; absent: 20. */
  readonly trustMs?: number | undefined
  /** Monotonic, ms. */
  readonly clock?: () => number
}

interface Waiting extends Entry {
  /** Set once memory has decided. */
  decided: Decided | undefined
}

interface Decided {
  readonly result: HotResult
  readonly epoch: number
  /** What the call was answered with; undefined: nobody was answered yet. */
  readonly granted: Granted | undefined
}

export class SingleWriter implements HotQueue {
  readonly #options: SingleWriterOptions
  readonly #clock: () => number
  readonly #trustMs: number
  readonly #memory = new HotMemory()
  readonly #queue: BatchQueue<Waiting>
  #arrived: Waiting[] = []
  #scheduled = false
  #loading = false
  #loads = 0
  /** The queue holds operations that the database has to decide before memory decides on any other. */
  #isBehind = false
  /** How much other work has the connection or waits for it. */
  #others = 0
  /** The last batch could not be written. */
  #isFailing = false
  /** Answered reservations that could not be written yet. */
  #unwritten: ReserveOperation[] = []
  #seenAt = Number.NEGATIVE_INFINITY
  #committing = false
  #whenWritten: (() => void)[] = []
  #closed = false

  constructor(options: SingleWriterOptions) {
    this.#options = options
    this.#clock = options.clock ?? (() => performance.now())
    this.#trustMs = options.trustMs ?? TRUST_MS
    this.#queue = new BatchQueue({
      run: (batch) => this.#run(batch),
      concurrency: 1,
      isAwaited: isAwaitedHere,
      batchMax: QUEUE_MAX,
      gatherMin: GATHER_MIN,
      gatherMs: GATHER_MS,
      queueMax: 2 * QUEUE_MAX,
    })
  }

  submit(operation: HotOperation): Promise<HotResult> {
    if (this.#closed) return Promise.reject(new StorageUnavailable('the storage is closing'))
    if (this.#arrived.length >= QUEUE_MAX)
      return Promise.reject(new StorageUnavailable('too many operations wait for the database'))
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { operation, resolve, reject, decided: undefined }
      if (!this.#options.isAlone() && this.#arrived.length === 0) return this.#queue.add(waiting)
      this.#arrived.push(waiting)
      this.#schedule()
    })
  }

  /** Resolves when nothing that was decided waits to be written, or writing it has failed. */
  written(): Promise<void> {
    if (!this.#memory.hasChanged && !this.#committing) return Promise.resolve()
    this.#queue.startNow()
    return new Promise((resolve) => this.#whenWritten.push(resolve))
  }

  /**
   * Takes the connection for other work. What was decided is written before, and memory decides on nothing until the
   * function that this resolves with is called.
   */
  async takeConnection(): Promise<() => void> {
    this.#others += 1
    await this.written()
    const end = await this.#options.turns.take()
    return () => {
      this.#forget()
      this.#others -= 1
      end()
      this.#schedule()
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    while (this.#arrived.length > 0) {
      this.#schedule()
      await new Promise<void>((resolve) => setImmediate(resolve))
    }
    await this.#queue.close()
    if (this.#unwritten.length === 0) return
    const end = await this.#options.turns.take()
    try {
      await this.#writeUnwritten()
    } catch (error) {
      this.#options.onLost({ error, calls: this.#unwritten.length })
    } finally {
      end()
    }
  }

  /** At the end of this turn of the event loop, so that calls read from many sockets in it are decided in a row. */
  #schedule(): void {
    if (this.#scheduled || this.#loading || this.#isBehind || this.#arrived.length === 0) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      this.#decideArrived()
    })
  }

  #decideArrived(): void {
    if (this.#loading || this.#isBehind || this.#arrived.length === 0) return
    const operations = this.#arrived.map(({ operation }) => operation)
    if (!this.#mayDecide(operations)) return this.#leaveToDatabase()
    if (this.#memory.version === undefined || this.#clock() - this.#seenAt > this.#trustMs)
      return this.#load(NO_IDS)
    const decision = this.#memory.decide(operations)
    switch (decision.kind) {
      case 'missing':
        return this.#load(decision.wanted)
      case 'failed':
        // One of them cannot be decided; the database finds out which, and decides on the others.
        return this.#leaveToDatabase()
      case 'decided': {
        const { epoch } = this.#memory
        const { results } = decision
        this.#takeArrived().forEach((waiting, index) => this.#answer(waiting, results[index], epoch))
      }
    }
  }

  #mayDecide(operations: readonly HotOperation[]): boolean {
    if (!this.#options.isAlone() || this.#others > 0 || this.#isFailing || this.#loads > LOADS_MAX)
      return false
    return operations.every((operation) => this.#suitsMemory(operation))
  }

  /** The database decides on videos, on calls that others left, and on calls that have ended. */
  #suitsMemory(operation: HotOperation): boolean {
    switch (operation.kind) {
      case 'log':
        return true
      case 'reserve':
        return operation.first === true
      case 'settle':
      case 'abandon':
        return operation.task === undefined && operation.recovery === undefined && this.#mayRun(operation)
      case 'claim':
      case 'unclaim':
      case 'progress':
        return this.#mayRun(operation)
    }
  }

  #mayRun({ callId }: Exclude<HotOperation, { readonly kind: 'log' }>): boolean {
    const call = this.#memory.openCall(callId)
    return call === undefined || (call !== null && call.recovered === undefined)
  }

  #takeArrived(): readonly Waiting[] {
    const arrived = this.#arrived
    this.#arrived = []
    this.#loads = 0
    return arrived
  }

  #answer(waiting: Waiting, result: HotResult | undefined, epoch: number): void {
    if (result === undefined) throw new Error('fewer results than operations')
    const { operation } = waiting
    if (operation.kind === 'reserve') {
      waiting.resolve(result)
      // A refusal changes nothing.
      if (result.kind !== 'outcome' || result.outcome.kind !== 'reserved') return
    }
    waiting.decided = { result, epoch, granted: this.#grantedOf(operation) }
    this.#queue.add(waiting)
  }

  #grantedOf(operation: HotOperation): Granted | undefined {
    if (operation.kind !== 'reserve') return undefined
    const call = this.#memory.openCall(operation.callId)
    if (call === null || call === undefined) throw new Error('a reserved call is not open')
    const { funding, held, monthHeld, memberHeld, quotaHeld } = call
    return { model: funding.model, fallback: funding.fallback, held, monthHeld, memberHeld, quotaHeld }
  }

  #leaveToDatabase(): void {
    this.#isBehind = this.#options.isAlone()
    for (const waiting of this.#takeArrived()) this.#queue.add(waiting)
  }

  #load(wanted: LoadedIds): void {
    this.#loading = true
    this.#loads += 1
    this.#learn(wanted).then(
      () => this.#decideLoaded(),
      () => {
        // The operations meet the same failure in the database, which tells their callers.
        this.#isFailing = true
        this.#decideLoaded()
      },
    )
  }

  #decideLoaded(): void {
    this.#loading = false
    this.#decideArrived()
  }

  async #learn(wanted: LoadedIds): Promise<void> {
    const { epoch } = this.#memory
    const at = this.#clock()
    const loaded = await this.#options.store.load(wanted)
    // Forgotten meanwhile: these rows may be older than what was written since.
    if (this.#memory.epoch !== epoch) return
    if (this.#memory.learn(wanted, loaded)) this.#seenAt = at
    else this.#isBehind ||= this.#queue.length > 0
  }

  #forget(): void {
    this.#memory.forget()
    this.#isBehind ||= this.#options.isAlone() && this.#queue.length > 0
  }

  async #run(batch: readonly Waiting[]): Promise<readonly HotResult[]> {
    const end = await this.#options.turns.take()
    try {
      return (await this.#commit(batch)) ?? (await this.#decideInDatabase(batch))
    } finally {
      end()
      // Once the queue knows that this batch has ended.
      if (this.#whenWritten.length > 0) setImmediate(() => this.#noteWritten())
    }
  }

  #noteWritten(): void {
    if (this.#committing) return
    if (this.#memory.hasChanged) this.#queue.startNow()
    else for (const resolve of this.#whenWritten.splice(0)) resolve()
  }

  /** undefined: the database has to decide the batch. */
  async #commit(batch: readonly Waiting[]): Promise<readonly HotResult[] | undefined> {
    const { epoch, version } = this.#memory
    const results: HotResult[] = []
    for (const { decided } of batch) {
      if (decided === undefined || decided.epoch !== epoch) return undefined
      results.push(decided.result)
    }
    if (!this.#memory.hasChanged) return results
    if (version === undefined) throw new Error('operations were decided on rows of no version')
    const at = this.#clock()
    this.#committing = true
    try {
      if (!(await this.#options.store.commit(this.#memory.takeWrites(), version))) return undefined
      this.#seenAt = at
      return results
    } catch (error) {
      if (!(error instanceof StorageUnavailable)) return undefined
      this.#fail(batch)
      throw error
    } finally {
      this.#committing = false
    }
  }

  async #decideInDatabase(batch: readonly Waiting[]): Promise<readonly HotResult[]> {
    this.#forget()
    this.#isBehind = this.#options.isAlone()
    try {
      await this.#writeUnwritten()
      const results = this.#options.store.run(batch.map(operationOf))
      // Rows that are loaded from now on have been changed by this batch.
      this.#isBehind = this.#options.isAlone() && this.#queue.length > 0
      this.#schedule()
      const decided = await results
      this.#isFailing = false
      return decided
    } catch (error) {
      this.#isBehind = this.#options.isAlone() && this.#queue.length > 0
      this.#schedule()
      if (error instanceof StorageUnavailable) this.#fail(batch)
      throw error
    }
  }

  /** One that cannot be written does not keep the others from it. */
  async #writeUnwritten(): Promise<void> {
    while (this.#unwritten.length > 0) {
      const [first] = this.#unwritten
      if (first === undefined) return
      try {
        await this.#options.store.run([first])
      } catch (error) {
        if (error instanceof StorageUnavailable) throw error
        this.#options.onLost({ error, calls: 1 })
      }
      this.#unwritten.shift()
    }
  }

  #fail(batch: readonly Waiting[]): void {
    this.#isFailing = true
    this.#forget()
    for (const waiting of batch) {
      const operation = operationOf(waiting)
      if (operation.kind === 'reserve' && operation.granted !== undefined) this.#unwritten.push(operation)
    }
  }
}

/** What the database is asked to decide: an answered reservation is to stay granted. */
function operationOf({ operation, decided }: Waiting): HotOperation {
  if (operation.kind !== 'reserve' || decided?.granted === undefined) return operation
  return { ...operation, granted: decided.granted }
}

function isAwaitedHere({ operation, decided }: Waiting): Awaited {
  return operation.kind === 'reserve' && decided !== undefined ? 'no' : isAwaited(operation)
}

const NO_IDS: LoadedIds = { openCalls: [], keys: [], members: [], accounts: [], limitStates: [] }
