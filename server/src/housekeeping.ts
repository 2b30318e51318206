import type { InstanceId } from './core/ids.ts'
import type { Storage } from './storage/storage.ts'
import type { Telemetry } from './telemetry/telemetry.ts'

/** Says every few seconds that this process lives, and settles what processes that no longer do left open. */
export interface Housekeeping {
  stop(): void
}

const HEARTBEAT_MS = 5_000
/** Four missed heartbeats: a paused process is not a dead one. */
const DEAD_AFTER_MS = 20_000
/** Contract §8: a slot that nobody renews lives 600 s. */
const LEAKED_AFTER_MS = 600_000

export async function keepHouse(house: {
  readonly storage: Pick<Storage, 'calls'>
  readonly telemetry: Telemetry
  readonly instance: InstanceId
  readonly now: () => number
}): Promise<Housekeeping> {
  const { storage, telemetry, instance, now } = house
  const round = async (): Promise<void> => {
    const at = now()
    await storage.calls.heartbeat(instance, at)
    const recovered = await storage.calls.recover({
      at,
      deadBefore: at - DEAD_AFTER_MS,
      leakedBefore: at - LEAKED_AFTER_MS,
    })
    if (recovered > 0)
      telemetry.log.warn({ recovered }, 'calls of a process that ended without settling them were settled')
  }
  await round()
  let running = false
  const timer = setInterval(() => {
    if (running) return
    running = true
    telemetry.background.track(
      round().finally(() => {
        running = false
      }),
      'heartbeat and recovery',
    )
  }, HEARTBEAT_MS)
  timer.unref()
  return { stop: () => clearInterval(timer) }
}
