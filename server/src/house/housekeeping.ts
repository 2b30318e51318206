import type { InstanceId } from '../core/ids.ts'
import type { BlobStore } from '../storage/blobs.ts'
import type { Storage } from '../storage/storage.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'

/** Says every few seconds that this process lives, and settles what processes that no longer do left open. */
export interface Housekeeping {
  /** The last heartbeat was written: a full disk or a read-only database can be read and still takes no call. */
  readonly canWrite: () => boolean
  stop(): void
}

const HEARTBEAT_MS = 5_000
/** Four missed heartbeats: a paused process is not a dead one. */
const DEAD_AFTER_MS = 20_000
/** Contract §8: a slot that nobody renews lives 600 s. */
const LEAKED_AFTER_MS = 600_000
const EXPIRE_EVERY_MS = 60_000
const LOG_UPKEEP_EVERY_MS = 3_600_000
const DAY_MS = 86_400_000
/** Of all kept conversations together; past it the oldest go first. */
const TURNS_BYTES_MAX = 20 * 1024 ** 3
const TURNS_PER_REMOVAL = 2_000
const VIDEOS_PER_REMOVAL = 200
/** So that a flood of expired things does not hold up the heartbeat. */
const REMOVALS_MAX = 20

export async function keepHouse(house: {
  readonly storage: Pick<Storage, 'calls' | 'identity' | 'logs' | 'turns' | 'videos'>
  readonly blobs: Pick<BlobStore, 'remove'>
  readonly telemetry: Telemetry
  readonly instance: InstanceId
  /** 0: for ever. */
  readonly logRetentionDays: number
  readonly now: () => number
}): Promise<Housekeeping> {
  const { storage, telemetry, instance, now } = house
  let expiredAt = 0
  let written = true
  const beat = async (at: number): Promise<void> => {
    try {
      await storage.calls.heartbeat(instance, at)
      written = true
    } catch (error) {
      written = false
      throw error
    }
  }
  const round = async (): Promise<void> => {
    const at = now()
    await beat(at)
    const recovered = await storage.calls.recover({
      at,
      deadBefore: at - DEAD_AFTER_MS,
      leakedBefore: at - LEAKED_AFTER_MS,
    })
    if (recovered > 0)
      telemetry.log.warn({ recovered }, 'calls of a process that ended without settling them were settled')
    if (at - expiredAt < EXPIRE_EVERY_MS) return
    expiredAt = at
    await expireKept(house, at)
  }
  await round()
  await keepLog(house)
  const timers = [
    every(HEARTBEAT_MS, telemetry, { work: round, name: 'heartbeat and recovery' }),
    // Apart, since a first removal of old rows may take its time.
    every(LOG_UPKEEP_EVERY_MS, telemetry, { work: () => keepLog(house), name: 'upkeep of the log' }),
  ]
  return {
    canWrite: () => written,
    stop: () => {
      for (const timer of timers) clearInterval(timer)
    },
  }
}

/** Never twice at once. */
export function every(
  periodMs: number,
  telemetry: Telemetry,
  { work, name }: { readonly work: () => Promise<void>; readonly name: string },
): NodeJS.Timeout {
  let running = false
  const timer = setInterval(() => {
    if (running) return
    running = true
    telemetry.background.track(
      work().finally(() => {
        running = false
      }),
      name,
    )
  }, periodMs)
  timer.unref()
  return timer
}

/** Rows past their retention go, and the months to come have their place. */
async function keepLog(house: {
  readonly storage: Pick<Storage, 'logs'>
  readonly telemetry: Telemetry
  readonly logRetentionDays: number
  readonly now: () => number
}): Promise<void> {
  const at = house.now()
  const keepSince = house.logRetentionDays === 0 ? undefined : at - house.logRetentionDays * DAY_MS
  const removed = await house.storage.logs.keep({ at, keepSince })
  if (removed > 0)
    house.telemetry.log.info({ removed }, 'rows of the call log past their retention were removed')
}

async function expireKept(
  house: {
    readonly storage: Pick<Storage, 'identity' | 'turns' | 'videos'>
    readonly blobs: Pick<BlobStore, 'remove'>
    readonly telemetry: Pick<Telemetry, 'log'>
  },
  at: number,
): Promise<void> {
  await expireTurns(house.storage, at)
  await expireVideos(house, at)
  await house.storage.identity.expire(at)
}

/** Kept conversations whose time is over, or for which there is no room (`storage/turns.ts`). */
async function expireTurns(storage: Pick<Storage, 'turns'>, at: number): Promise<void> {
  for (let removals = 0; removals < REMOVALS_MAX; removals += 1) {
    const gone = await storage.turns.expire({ at, bytesMax: TURNS_BYTES_MAX, limit: TURNS_PER_REMOVAL })
    if (gone < TURNS_PER_REMOVAL) return
  }
}

/**
 * Contract §8: a video's record is kept 24 hours, and its bytes no longer than that. The bytes go first, so that a process
 * that dies in between leaves a record by which the next round finds them; nobody is shown an expired one. What the place of
 * the bytes does not do now is done in a later round.
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
