import type { Model } from '../../../core/catalogue.ts'
import type { ChainId } from '../../../core/ids.ts'
import {
  type ChainObservation,
  type FinishedOutput,
  NOTHING_OBSERVED,
  observe,
  OUTPUT_RATE_ASSUMED,
  outputRateOf,
  trustsCap,
} from '../../../core/metering/chain-observation.ts'
import type { Storage } from '../../../storage/storage.ts'
import type { ObservedChain } from '../../../storage/stores/catalogue.ts'
import type { Telemetry } from '../../../telemetry/telemetry.ts'

/** What this gateway has seen of every chain. Bounded by the number of chains. */
export interface ChainObservations {
  /** Output tokens a second, hidden reasoning included; undefined: this chain was not observed yet. */
  outputRate(chainId: ChainId): number | undefined
  /** The same, from the model's other chains if this one was not observed, and a default if none was. */
  expectedRate(model: Pick<Model, 'chains'>, chainId: ChainId): number
  /** A call over this chain ended with the upstream's own usage. */
  finished(chainId: ChainId, output: FinishedOutput): void
  /** False: it billed beyond a client's own token cap within the last hour. `now` in epoch ms. */
  trustsCap(chainId: ChainId, now: number): boolean
  /**
   * Adds observations of other instances and earlier processes: for a chain observed here, only that it exceeded a cap.
   */
  absorb(observed: readonly ObservedChain[]): void
  /** Observations that changed since this was last called. */
  takeChanged(): readonly ObservedChain[]
  /** They could not be written and will be taken again. */
  putBack(observed: readonly ObservedChain[]): void
  /** Drops chains that the catalogue no longer has. */
  keepOnly(ids: ReadonlySet<ChainId>): void
}

/** `now` returns epoch ms. */
export function createChainObservations(now: () => number): ChainObservations {
  const seen = new Map<ChainId, ChainObservation>()
  const changed = new Set<ChainId>()
  const rateOf = (id: ChainId): number | undefined => {
    const observation = seen.get(id)
    return observation === undefined ? undefined : outputRateOf(observation)
  }
  return {
    outputRate: rateOf,
    expectedRate(model, chainId) {
      const own = rateOf(chainId)
      if (own !== undefined) return own
      const others = model.chains.flatMap(({ id }) => rateOf(id) ?? [])
      return others.length === 0 ? OUTPUT_RATE_ASSUMED : sumOf(others) / others.length
    },
    finished(chainId, output) {
      seen.set(chainId, observe(seen.get(chainId) ?? NOTHING_OBSERVED, output, now()))
      changed.add(chainId)
    },
    trustsCap(chainId, at) {
      const observation = seen.get(chainId)
      return observation === undefined || trustsCap(observation, at)
    },
    absorb(observed) {
      for (const { chainId, observation } of observed) {
        const own = seen.get(chainId)
        seen.set(chainId, own === undefined ? observation : mergeSeen(own, observation))
      }
    },
    takeChanged() {
      const taken = [...changed].flatMap((chainId) => {
        const observation = seen.get(chainId)
        return observation === undefined ? [] : [{ chainId, observation }]
      })
      changed.clear()
      return taken
    },
    putBack(observed) {
      for (const { chainId } of observed) changed.add(chainId)
    },
    keepOnly(ids) {
      for (const id of seen.keys()) if (!ids.has(id)) seen.delete(id)
      for (const id of changed) if (!ids.has(id)) changed.delete(id)
    },
  }
}

function mergeSeen(own: ChainObservation, other: ChainObservation): ChainObservation {
  const { tokens, ms } = own.ms > 0 ? own : other
  const broken = [own.capBrokenAt, other.capBrokenAt].filter((at) => at !== undefined)
  return { tokens, ms, capBrokenAt: broken.length === 0 ? undefined : Math.max(...broken) }
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0)
}

const WRITE_EVERY_MS = 5_000
/** Other instances' observations are read after this many writes. */
const READ_EVERY_WRITES = 6

/**
 * Persists observations of chains, and shares them with other instances. An unreachable store only delays it:
 * observations stay here and are written later. Returns a function that stops it.
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
        telemetry.log.warn({ error }, 'observations of chains could not be stored; it will be tried again'),
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
