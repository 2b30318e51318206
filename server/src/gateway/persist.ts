import { setTimeout as wait } from 'node:timers/promises'
import { StorageUnavailable } from '../storage/unavailable.ts'
import type { Gateway } from './gateway.ts'

/** 1, 2, 4 … 32 s: about a minute of patience with a database that restarts. */
const TRIES_MAX = 7
const FIRST_WAIT_MS = 1_000

/**
 * Runs a door of the corridor until the store has taken it. Doors are idempotent by call id, so repeating one is safe;
 * a store that stays away leaves the open call to recovery, which knows its last progress (undefined then).
 * @param onTried after each try, however it went: nobody should wait for a store that is away
 */
export async function persist<Outcome>(
  gateway: Gateway,
  requestId: string,
  door: () => Promise<Outcome>,
  onTried: () => void = () => undefined,
): Promise<Outcome | undefined> {
  for (let tries = 1; ; tries += 1) {
    try {
      const outcome = await door()
      onTried()
      return outcome
    } catch (error) {
      onTried()
      const again = error instanceof StorageUnavailable && tries < TRIES_MAX
      gateway.telemetry.log.error({ requestId, error, tries, again }, 'a finished call could not be written')
      if (!again) return undefined
      await wait(FIRST_WAIT_MS * 2 ** (tries - 1))
    }
  }
}
