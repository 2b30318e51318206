/**
 * Ends of calls that the store has not recorded yet: charges, abandoned calls, and reservations whose answer was lost
 * with the connection. Each is retried for as long as the process runs, in groups, so that a store that recovers
 * records them in a few transactions. They are idempotent by call id, so repeating one is safe.
 */
import { setTimeout } from 'node:timers/promises'
import type { CallId } from '../../../core/ids.ts'
import { StorageUnavailable } from '../../../storage/failures/unavailable.ts'
import type { Telemetry } from '../../../telemetry/telemetry.ts'
import { sizeOf } from './pending-codec.ts'
import type { CallStore } from '../../../storage/stores/calls.ts'
import type { PendingOperation } from './pending-operation.ts'

/** The operations of the store that are used. */
export type EndStore = Pick<CallStore, 'settle' | 'abandon' | 'log'>

export interface PendingOperations {
  /** Tries to store it at once, and then retries. */
  add(operation: PendingOperation): void
  has(callId: CallId): boolean
  count(): number
  /** Size as text, bytes. */
  bytes(): number
  /** No call may begin, because its end might not fit. Ends of calls that have begun are accepted even then. */
  isFull(): boolean
  /** Operations that the store has not accepted so far. */
  left(): readonly PendingOperation[]
  /** Tries a last time. Resolves when no attempt is in progress, to what the store has not accepted. */
  stop(): Promise<readonly PendingOperation[]>
}

export interface PendingOptions {
  readonly storage: { readonly calls: EndStore }
  readonly telemetry: Telemetry
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>
  readonly countMax?: number
  readonly bytesMax?: number
}

/** Operations per transaction of the store. */
const AT_ONCE = 200
const AGAIN_AFTER_MS = 1_000
/** Longest interval between attempts while a store is unreachable. */
const AGAIN_AFTER_MS_MAX = 5_000
/** An operation that the store refuses while it accepts others is not retried every time. */
const REFUSED_AGAIN_AFTER_MS = 30_000
const COUNT_MAX = 20_000
/** Size as text; in memory they take several times as much. */
const BYTES_MAX = 64 * 1024 * 1024

interface Waiting {
  readonly operation: PendingOperation
  readonly bytes: number
}

type Tried = 'taken' | 'away' | 'refused'

export function createPendingOperations(options: PendingOptions): PendingOperations {
  return new Pending(options)
}

class Pending implements PendingOperations {
  readonly #options: PendingOptions
  readonly #waiting = new Map<CallId, Waiting>()
  readonly #stopping = new AbortController()
  #bytes = 0
  #running: Promise<void> | undefined

  constructor(options: PendingOptions) {
    this.#options = options
  }

  add(operation: PendingOperation): void {
    const bytes = sizeOf(operation)
    this.#remove(operation.callId)
    this.#waiting.set(operation.callId, { operation, bytes })
    this.#bytes += bytes
    this.#start()
  }

  has(callId: CallId): boolean {
    return this.#waiting.has(callId)
  }

  count(): number {
    return this.#waiting.size
  }

  bytes(): number {
    return this.#bytes
  }

  isFull(): boolean {
    const { countMax = COUNT_MAX, bytesMax = BYTES_MAX } = this.#options
    return this.#waiting.size >= countMax || this.#bytes >= bytesMax
  }

  left(): readonly PendingOperation[] {
    return [...this.#waiting.values()].map(({ operation }) => operation)
  }

  async stop(): Promise<readonly PendingOperation[]> {
    this.#stopping.abort()
    await this.#running
    while (this.#waiting.size > 0) {
      const tried = await this.#tryGroup()
      if (!tried.includes('taken')) break
    }
    return this.left()
  }

  #start(): void {
    if (this.#running !== undefined || this.#waiting.size === 0 || this.#stopping.signal.aborted) return
    this.#running = this.#tryAll().finally(() => {
      this.#running = undefined
      // An operation that was added at the very end.
      this.#start()
    })
    this.#options.telemetry.background.track(this.#running, 'write what the store still has to take')
  }

  async #tryAll(): Promise<void> {
    const { signal } = this.#stopping
    const wait = this.#options.wait ?? waitUnlessStopped
    let pauseMs = AGAIN_AFTER_MS
    await wait(pauseMs, signal)
    while (this.#waiting.size > 0 && !signal.aborted) {
      const tried = await this.#tryGroup()
      if (tried.includes('taken')) {
        pauseMs = AGAIN_AFTER_MS
        continue
      }
      await wait(tried.includes('away') ? pauseMs : REFUSED_AGAIN_AFTER_MS, signal)
      pauseMs = Math.min(pauseMs * 2, AGAIN_AFTER_MS_MAX)
    }
  }

  async #tryGroup(): Promise<readonly Tried[]> {
    const { storage, telemetry } = this.#options
    const group = [...firstOf(this.#waiting.values(), AT_ONCE)].map(({ operation }) => operation)
    const tried = await Promise.all(group.map((operation) => tryOne(storage.calls, operation, telemetry)))
    for (const [index, { callId }] of group.entries()) {
      if (tried[index] === 'taken') this.#remove(callId)
      // Moved to the end, so that an operation that cannot be written does not block the others.
      if (tried[index] === 'refused') moveToEnd(this.#waiting, callId)
    }
    return tried
  }

  #remove(callId: CallId): void {
    this.#bytes -= this.#waiting.get(callId)?.bytes ?? 0
    this.#waiting.delete(callId)
  }
}

/** Sends it to the store, whatever the outcome; rejects if the store does not accept it. */
export async function writeOnce(calls: EndStore, operation: PendingOperation): Promise<void> {
  switch (operation.kind) {
    case 'settle':
      await calls.settle(operation)
      return
    case 'abandon':
      await calls.abandon(operation)
      return
    case 'lost-reservation':
      await calls.log({ log: operation.log })
      await calls.abandon(operation)
  }
}

async function tryOne(calls: EndStore, operation: PendingOperation, { log }: Telemetry): Promise<Tried> {
  try {
    await writeOnce(calls, operation)
    return 'taken'
  } catch (error) {
    if (error instanceof StorageUnavailable) return 'away'
    log.error(
      { error, callId: operation.callId },
      'the database refuses the end of a call; it will be tried again',
    )
    return 'refused'
  }
}

function* firstOf<Value>(values: Iterable<Value>, most: number): Iterable<Value> {
  let count = 0
  for (const value of values) {
    if (count === most) return
    count += 1
    yield value
  }
}

function moveToEnd<Key, Value>(map: Map<Key, Value>, key: Key): void {
  const value = map.get(key)
  if (value === undefined) return
  map.delete(key)
  map.set(key, value)
}

async function waitUnlessStopped(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await setTimeout(ms, undefined, { ref: false, signal })
  } catch (error) {
    if (!signal.aborted) throw error
  }
}
