import type { Chain } from '../../../core/catalogue.ts'
import type { ChainId, CredentialId } from '../../../core/ids.ts'
import {
  answered,
  begin,
  type ChainFailure,
  type ChainHealth,
  type ChainTry,
  type ErrorNote,
  failed,
  HEALTHY,
  succeeded,
  withdrawn,
} from '../../../core/routing/health.ts'

/** A chain with one credential: with another credential it starts with a clean record. */
type Placed = Pick<Chain, 'id' | 'credentialId'>

/**
 * This instance's knowledge of every chain's health. Bounded by the number of chains; instances do not share it, since
 * each finds out with two calls.
 */
export interface HealthBoard {
  of(chain: Placed): ChainHealth
  /**
   * A call is sent over the chain. The caller ends the run once, in one of the four ways; ending it again changes
   * nothing. `own`: with the account's own credential. `now` in epoch ms, here and below.
   */
  begin(chain: Placed, options: { readonly own: boolean; readonly now: number }): ChainRun
  /** An operator declares the chain healthy again. */
  reset(id: ChainId): void
  /** Drops chains that the catalogue no longer has. */
  keepOnly(ids: ReadonlySet<ChainId>): void
}

/** One call over a chain. */
export interface ChainRun {
  /** The answer has begun, but not ended. */
  answered(now: number): void
  /** The answer ended cleanly. */
  succeeded(now: number): void
  /** Returns the length of the chain's cooldown, ms; undefined: there is none. */
  failed(failure: ChainFailure, now: number, note?: ErrorNote): number | undefined
  /** Nothing was learnt about the chain: the client disconnected, the request was at fault, or nothing was sent. */
  withdrawn(): void
}

interface Entry {
  readonly credentialId: CredentialId
  readonly health: ChainHealth
}

export function createHealthBoard(): HealthBoard {
  const entries = new Map<ChainId, Entry>()
  let lastTry = 0
  const of = ({ id, credentialId }: Placed): ChainHealth => {
    const entry = entries.get(id)
    return entry?.credentialId === credentialId ? entry.health : HEALTHY
  }
  const put = ({ id, credentialId }: Placed, health: ChainHealth): void => {
    entries.set(id, { credentialId, health })
  }
  return {
    of,
    begin(chain, { own, now }) {
      lastTry += 1
      const one: ChainTry = { id: lastTry, beganAt: now, own }
      put(chain, begin(of(chain), one, now))
      return new Run(one, {
        change(next) {
          // The chain has been removed from the catalogue, or has another credential: its result does not matter.
          if (entries.get(chain.id)?.credentialId === chain.credentialId) put(chain, next(of(chain)))
          return of(chain)
        },
      })
    },
    reset: (id) => {
      const entry = entries.get(id)
      // Running calls continue; they are counted until they end.
      if (entry !== undefined)
        entries.set(id, { ...entry, health: { ...HEALTHY, running: entry.health.running } })
    },
    keepOnly(ids) {
      for (const id of entries.keys()) if (!ids.has(id)) entries.delete(id)
    },
  }
}

interface Place {
  change(next: (health: ChainHealth) => ChainHealth): ChainHealth
}

class Run implements ChainRun {
  readonly #try: ChainTry
  readonly #place: Place
  #over = false

  constructor(one: ChainTry, place: Place) {
    this.#try = one
    this.#place = place
  }

  answered(now: number): void {
    if (!this.#over) this.#place.change((health) => answered(health, this.#try, now))
  }

  succeeded(now: number): void {
    if (this.#end()) this.#place.change((health) => succeeded(health, this.#try, now))
  }

  failed(failure: ChainFailure, now: number, note?: ErrorNote): number | undefined {
    if (!this.#end()) return undefined
    const { cooldown, rateLimit } = this.#place.change((health) =>
      failed(health, this.#try, failure, { now, note }),
    )
    const until = Math.max(cooldown?.until ?? 0, rateLimit?.until ?? 0)
    return until > now ? until - now : undefined
  }

  withdrawn(): void {
    if (this.#end()) this.#place.change((health) => withdrawn(health, this.#try))
  }

  #end(): boolean {
    if (this.#over) return false
    this.#over = true
    return true
  }
}
