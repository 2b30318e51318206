import type { Chain } from '../core/catalogue.ts'
import type { ChainId } from '../core/ids.ts'
import {
  afterFailure,
  afterSuccess,
  type ChainFailure,
  type ChainHealth,
  HEALTHY,
} from '../core/routing/health.ts'

/** What this instance knows of every chain's health. Bounded by the number of chains. */
export interface HealthBoard {
  of(chain: Pick<Chain, 'id'>): ChainHealth
  succeeded(chain: Pick<Chain, 'id'>, now: number): void
  /** Gives how long the chain now rests, ms; undefined: not at all. */
  failed(chain: Pick<Chain, 'id'>, failure: ChainFailure, now: number): number | undefined
  /** An operator's word that the chain is well again. */
  reset(id: ChainId): void
  /** Forgets chains the catalogue no longer has. */
  keepOnly(ids: ReadonlySet<ChainId>): void
}

export function createHealthBoard(): HealthBoard {
  const states = new Map<ChainId, ChainHealth>()
  const put = (id: ChainId, state: ChainHealth): void => {
    if (state === HEALTHY) states.delete(id)
    else states.set(id, state)
  }
  return {
    of: (chain) => states.get(chain.id) ?? HEALTHY,
    succeeded(chain, now) {
      const before = states.get(chain.id)
      if (before !== undefined) put(chain.id, afterSuccess(before, now))
    },
    failed(chain, failure, now) {
      const after = afterFailure(states.get(chain.id) ?? HEALTHY, failure, now)
      put(chain.id, after)
      return after.coolingUntil > now ? after.coolingUntil - now : undefined
    },
    reset: (id) => {
      states.delete(id)
    },
    keepOnly(ids) {
      for (const id of states.keys()) if (!ids.has(id)) states.delete(id)
    },
  }
}
