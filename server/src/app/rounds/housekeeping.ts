import { DAY_MS } from '../../core/durations.ts'
import type { CallId, InstanceId } from '../../core/ids.ts'
import { applyDuePrices } from '../../management/admin/due-prices.ts'
import type { BlobStore } from '../../storage/stores/blobs.ts'
import type { Storage } from '../../storage/storage.ts'
import type { Telemetry } from '../../telemetry/telemetry.ts'
import { InstanceRounds } from './instance-rounds.ts'

/** Sends this process's heartbeat every few seconds, and settles the calls of processes that have ended. */
export interface Housekeeping {
  /**
   * The last heartbeat was written: with a full disk or a read-only database, reads succeed but calls cannot be served.
   */
  readonly canWrite: () => boolean
  stop(): void
}

/** The heartbeat's interval, and how long others wait for one. */
export interface InstancePeriods {
  readonly beatMs: number
  readonly silentMs: number
}

/** Four missed beats, since a process may only be paused. */
export const INSTANCE_PERIODS: InstancePeriods = { beatMs: 5_000, silentMs: 20_000 }
/**
 * A beat later than this after the last one means that the process was suspended; one may be late because of a busy
 * store.
 */
const GAP_BEATS = 2

const EXPIRE_EVERY_MS = 60_000
const LEAKED_EVERY_MS = 60_000
const LOG_UPKEEP_EVERY_MS = 3_600_000
const LOG_UPKEEP = 'maintenance of the log'
/** Limit for all stored conversations together; beyond it the oldest are removed first. */
const TURNS_BYTES_MAX = 20 * 1024 ** 3
const TURNS_PER_REMOVAL = 2_000
const VIDEOS_PER_REMOVAL = 200
/** Limit per round; the next one continues. */
const REMOVALS_MAX = 20

export async function startHousekeeping(kept: {
  readonly storage: Pick<Storage, 'calls' | 'identity' | 'logs' | 'turns' | 'videos'>
  readonly blobs: Pick<BlobStore, 'remove'>
  readonly telemetry: Telemetry
  readonly instance: InstanceId
  /** Whether this process is still responsible for a call: it is running, or its end is still to be written. */
  readonly isRunning: (callId: CallId) => boolean
  /** 0: for ever. */
  readonly logRetentionDays: number
  readonly now: () => number
  readonly periods?: InstancePeriods
}): Promise<Housekeeping> {
  const { storage, telemetry, periods = INSTANCE_PERIODS } = kept
  const { beatMs, silentMs } = periods
  const rounds = new InstanceRounds({
    ...kept,
    calls: storage.calls,
    elapsed: () => performance.now(),
    periods: { gapMs: beatMs * GAP_BEATS, silentMs },
  })
  await rounds.beat()
  // Separate timers, so that none waits for another or fails with it. The heartbeat's first: what follows may take long.
  const timers = [every(beatMs, telemetry, { work: () => rounds.beat(), name: 'heartbeat' })]
  // Before calls are served here: those that have ended still hold their slots, and tables of the log are made while
  // nobody writes into it. Work that fails is retried in a later round.
  for (const [work, what] of [
    [() => rounds.lookAround(), 'recovery'],
    [() => keepLog(kept), LOG_UPKEEP],
  ] as const) {
    await work().catch((error: unknown) => telemetry.log.error({ error, what }, 'a periodic task failed'))
  }
  timers.push(
    every(beatMs, telemetry, { work: () => rounds.lookAround(), name: 'recovery' }),
    every(LEAKED_EVERY_MS, telemetry, { work: () => rounds.endLeaked(), name: 'recovery of leaked calls' }),
    // Now too, but no call has to wait for it.
    every(EXPIRE_EVERY_MS, telemetry, {
      work: () => expireKept(kept, kept.now()),
      name: 'expiry',
      now: true,
    }),
    every(LOG_UPKEEP_EVERY_MS, telemetry, { work: () => keepLog(kept), name: LOG_UPKEEP }),
  )
  return {
    canWrite: () => rounds.canWrite(),
    stop: () => {
      for (const timer of timers) clearInterval(timer)
    },
  }
}

export interface PeriodicWork {
  readonly work: () => Promise<void>
  readonly name: string
  /** The first time at once, instead of after a period. */
  readonly now?: boolean
}

/** Never runs concurrently with itself. A failure is logged, and the next round comes all the same. */
export function every(
  periodMs: number,
  telemetry: Pick<Telemetry, 'background'>,
  { work, name, now = false }: PeriodicWork,
): NodeJS.Timeout {
  let running = false
  const round = (): void => {
    if (running) return
    running = true
    telemetry.background.track(
      work().finally(() => {
        running = false
      }),
      name,
    )
  }
  if (now) round()
  const timer = setInterval(round, periodMs)
  timer.unref()
  return timer
}

/** Removes expired rows, and creates the partitions of the next months. */
async function keepLog(kept: {
  readonly storage: Pick<Storage, 'logs'>
  readonly telemetry: Telemetry
  readonly logRetentionDays: number
  readonly now: () => number
}): Promise<void> {
  const at = kept.now()
  const keepSince = kept.logRetentionDays === 0 ? undefined : at - kept.logRetentionDays * DAY_MS
  const removed = await kept.storage.logs.keep({ at, keepSince })
  if (removed > 0)
    kept.telemetry.log.info({ removed }, 'rows of the call log past their retention were removed')
}

async function expireKept(
  kept: {
    readonly storage: Pick<Storage, 'identity' | 'turns' | 'videos'>
    readonly blobs: Pick<BlobStore, 'remove'>
    readonly telemetry: Pick<Telemetry, 'log'>
  },
  at: number,
): Promise<void> {
  await expireTurns(kept.storage, at)
  await expireVideos(kept, at)
  await kept.storage.identity.expire(at)
}

/** Removes stored conversations that have expired or exceed the size limit (`storage/stores/turns.ts`). */
async function expireTurns(storage: Pick<Storage, 'turns'>, at: number): Promise<void> {
  for (let removals = 0; removals < REMOVALS_MAX; removals += 1) {
    const gone = await storage.turns.expire({ at, bytesMax: TURNS_BYTES_MAX, limit: TURNS_PER_REMOVAL })
    if (gone < TURNS_PER_REMOVAL) return
  }
}

/**
 * A video's record is kept 24 hours (docs/reference/contract.md#8-03), and its bytes no longer than that. The bytes are
 * removed first, so that after a crash in between the next round finds them by the record; expired ones are not shown.
 * If the blob store fails, a later round retries.
 */
export async function expireVideos(
  {
    storage,
    blobs,
    telemetry,
  }: {
    readonly storage: Pick<Storage, 'videos'>
    readonly blobs: Pick<BlobStore, 'remove'>
    readonly telemetry: Pick<Telemetry, 'log'>
  },
  at: number,
): Promise<void> {
  for (let removals = 0; removals < REMOVALS_MAX; removals += 1) {
    const expired = await storage.videos.expired(at, VIDEOS_PER_REMOVAL)
    const bare: string[] = []
    try {
      for (const { id, blob } of expired) {
        if (blob !== undefined) await blobs.remove(blob)
        bare.push(id)
      }
    } catch (error) {
      telemetry.log.warn({ error }, 'the bytes of an expired video could not be removed')
    }
    await storage.videos.forget(bare, at)
    if (bare.length < VIDEOS_PER_REMOVAL) return
  }
}

/** Maximum delay of a price change. */
const LOOK_EVERY_MS = 1_000

/** Applies scheduled prices when they are due. Every instance does it, but each change happens once. */
export function keepPrices(parts: {
  readonly storage: Pick<Storage, 'prices' | 'audit' | 'catalogue'>
  readonly telemetry: Telemetry
  readonly now: () => number
}): { stop(): void } {
  const { storage, telemetry, now } = parts
  const work = async (): Promise<void> => {
    const applied = await applyDuePrices(storage, now())
    if (applied > 0) telemetry.log.info({ applied }, 'prices came into force')
  }
  const timer = every(LOOK_EVERY_MS, telemetry, { work, name: 'activation of scheduled prices' })
  return { stop: () => clearInterval(timer) }
}
