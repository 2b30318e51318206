import type { Storage } from '../../../storage/storage.ts'
import type { Telemetry } from '../../../telemetry/telemetry.ts'
import type { ChainObservations } from './chain-observations.ts'

const WRITE_EVERY_MS = 5_000
/** What other instances saw is read every so many writes. */
const READ_EVERY_WRITES = 6

/**
 * Keeps what was seen of chains through restarts, and shares it with other instances. A store that is away only delays it:
 * what was seen stays here and is written later. Returns how to stop.
 */
export async function keepObservations(
  storage: Pick<Storage, 'catalogue'>,
  observations: ChainObservations,
  { telemetry, now }: { readonly telemetry: Pick<Telemetry, 'log'>; readonly now: () => number },
): Promise<() => void> {
  observations.absorb(await storage.catalogue.readObservations())
  let running = false
  let writes = 0
  const timer = setInterval(() => {
    if (running) return
    running = true
    writes += 1
    exchange(storage, observations, { reads: writes % READ_EVERY_WRITES === 0, at: now() })
      .catch((error: unknown) =>
        telemetry.log.warn(
          { error },
          'what was observed of chains could not be stored now; it is tried again',
        ),
      )
      .finally(() => {
        running = false
      })
  }, WRITE_EVERY_MS)
  timer.unref()
  return () => clearInterval(timer)
}

async function exchange(
  { catalogue }: Pick<Storage, 'catalogue'>,
  observations: ChainObservations,
  { reads, at }: { readonly reads: boolean; readonly at: number },
): Promise<void> {
  const changed = observations.takeChanged()
  try {
    if (changed.length > 0) await catalogue.writeObservations(changed, at)
  } catch (error) {
    observations.putBack(changed)
    throw error
  }
  if (reads) observations.absorb(await catalogue.readObservations())
}
