/**
 * Decides where conversions run. Small bodies are converted on this thread; what would block the event loop too long is
 * done in another thread, which returns only bytes. A thread that fails is an error of its own call only.
 */
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import type { Telemetry } from '../../../telemetry/telemetry.ts'
import { openConversionThread } from './conversion-thread.ts'
import { createPacer } from './in-turns.ts'
import { createThreadPool, type PoolThread } from './thread-pool.ts'
import { type Task, type TaskResult, WorkFailure } from './work.ts'

/** The size of a document, which determines its processing time: its bytes and the number of members and items. */
export interface DocumentSize {
  readonly bytes: number
  readonly values: number
}

/** Parsing and encoding this much takes about 3 ms. */
const NEAR_BYTES_MAX = 262_144
/** A member costs a few microseconds, whatever its size. */
const NEAR_VALUES_MAX = 4_096

/** Whether a document of this size may be processed on the thread that serves calls. */
export function isNear({ bytes, values }: DocumentSize): boolean {
  return bytes <= NEAR_BYTES_MAX && values <= NEAR_VALUES_MAX
}

/**
 * Two, so that one account's large body does not delay those of others; more would compete with the calls for
 * processors.
 */
const THREADS_MAX = 2
const WAITING_MAX = 512
const WAITING_PER_ACCOUNT_MAX = 64
const WAIT_MS_MAX = 30_000
/** The largest allowed body takes a few seconds on a slow machine. */
const RUN_MS_MAX = 30_000
const IDLE_MS_MAX = 60_000
const RETRY_AFTER_MS = 2_000

/** The caller that waits for a conversion. */
export interface Waiting {
  readonly accountId: string
  /** Receives the function that cancels the work, for when the client disconnects; undefined once it is done. */
  readonly onCancel?: (cancel: (() => void) | undefined) => void
}

export interface Conversions {
  /**
   * Call before a small document is parsed on the thread that serves calls, so that many at once take turns. undefined:
   * proceed; otherwise proceed when it resolves.
   */
  turn(size: DocumentSize): Promise<void> | undefined
  /**
   * Throws `GatewayError` 50301 if too much is waiting, 41301 if it takes more memory than is allowed for one body,
   * 50000 if the thread failed; `WorkFailure` `cancelled` if it was cancelled.
   */
  run(task: Task, waiting: Waiting): Promise<TaskResult>
  /** The same for an answer that the upstream bills already: it is never refused by the queue. Throws `WorkFailure`. */
  runAnswer(task: Task, accountId: string): Promise<TaskResult>
  /** Number of bodies waiting for a thread. */
  readonly waiting: number
  close(): void
}

export interface ConversionOptions {
  /** Size of the largest body. */
  readonly bodyLimitBytes: number
  /** Opens a thread; tests pass their own. */
  readonly open?: () => PoolThread<Task, TaskResult>
}

export function createConversions({ log }: Pick<Telemetry, 'log'>, options: ConversionOptions): Conversions {
  const onError = (error: unknown): void => log.warn({ error }, 'a conversion thread could not be ended')
  const pool = createThreadPool<Task, TaskResult>(
    {
      open: options.open ?? (() => openConversionThread(options.bodyLimitBytes, onError)),
      threadsMax: THREADS_MAX,
      waitingMax: WAITING_MAX,
      waitingPerOwnerMax: WAITING_PER_ACCOUNT_MAX,
      waitMsMax: WAIT_MS_MAX,
      runMsMax: RUN_MS_MAX,
      idleMsMax: IDLE_MS_MAX,
    },
    (reason, detail) => new WorkFailure(reason, detail ?? MESSAGES[reason]),
  )
  const pacer = createPacer((next) => setImmediate(next))
  return {
    turn: ({ bytes, values }) => pacer.turn(Math.max(bytes / NEAR_BYTES_MAX, values / NEAR_VALUES_MAX)),
    async run(task, { accountId, onCancel }) {
      const work = pool.run(task, accountId)
      onCancel?.(() => work.cancel())
      try {
        return checked(await work.result)
      } catch (error) {
        throw error instanceof WorkFailure ? reportedError(error) : error
      } finally {
        onCancel?.(undefined)
      }
    },
    async runAnswer(task, accountId) {
      try {
        return checked(await pool.run(task, accountId, 'essential').result)
      } catch (error) {
        log.error({ error }, 'a large answer could not be converted')
        throw error
      }
    },
    get waiting() {
      return pool.waiting
    },
    close: () => pool.close(),
  }
}

const MESSAGES: Readonly<Record<WorkFailure['reason'], string>> = {
  full: 'too many large requests are being converted right now, try again shortly',
  waited: 'too many large requests are being converted right now, try again shortly',
  late: 'the request takes too long to convert to the protocol of its model',
  memory: 'the request takes too much memory to convert to the protocol of its model',
  crashed: 'a conversion thread ended',
  closed: 'the gateway is shutting down',
  cancelled: 'nobody waits for the conversion',
}

function reportedError(failure: WorkFailure): Error {
  switch (failure.reason) {
    case 'full':
    case 'waited':
    case 'closed':
      return new GatewayError(50301, { message: MESSAGES[failure.reason], retryAfterMs: RETRY_AFTER_MS })
    case 'late':
    case 'memory':
      return new GatewayError(41301, { message: MESSAGES[failure.reason] })
    case 'crashed':
      return new GatewayError(50000, { cause: failure })
    case 'cancelled':
      return failure
  }
}

function checked(result: TaskResult): TaskResult {
  if (result.kind !== 'threw') return result
  const error = new Error(result.message)
  if (result.stack !== undefined) error.stack = result.stack
  throw error
}
