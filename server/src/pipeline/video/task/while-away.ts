import { setTimeout as wait } from 'node:timers/promises'
import { StorageUnavailable } from '../../../storage/failures/unavailable.ts'

const TRIES_MAX = 6
const FIRST_WAIT_MS = 50

/**
 * Repeats what must not be lost to a store that is away for a moment: an order that a vendor has taken is only found again
 * by what is written then. 50 ms, then twice as long each time, about 1.5 s in all; then it rejects as the store did.
 */
export async function whileAway<Done>(work: () => Promise<Done>): Promise<Done> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof StorageUnavailable) || tries === TRIES_MAX) throw error
      await wait(FIRST_WAIT_MS * 2 ** (tries - 1))
    }
  }
}
