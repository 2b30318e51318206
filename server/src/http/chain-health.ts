/** How a chain is, in words for operators. */
import type { ChainHealth } from '../core/routing/health.ts'

export interface ChainHealthView {
  readonly state: 'healthy' | 'failing' | 'rate-limited' | 'cooling-down'
  /** Of the cooling down. */
  readonly cause: string | null
  readonly cooling_until: string | null
  readonly failures_in_row: number
}

export function viewHealth(health: ChainHealth, at: number): ChainHealthView {
  const cooling = health.coolingUntil > at
  const state = cooling
    ? health.cause === 'rate-limit'
      ? 'rate-limited'
      : 'cooling-down'
    : health.failuresInRow > 0
      ? 'failing'
      : 'healthy'
  return {
    state,
    cause: cooling ? (health.cause ?? null) : null,
    cooling_until: cooling ? new Date(health.coolingUntil).toISOString() : null,
    failures_in_row: health.failuresInRow,
  }
}

/** What one process knows of a chain that is not healthy. */
export interface TroubledChain extends ChainHealthView {
  readonly chain_id: number
}

const WORSE = ['healthy', 'failing', 'rate-limited', 'cooling-down'] as const

/** Of several processes that serve the same addresses, each chain at its worst. */
export function worstOf(told: readonly TroubledChain[]): readonly TroubledChain[] {
  const worst = new Map<number, TroubledChain>()
  for (const chain of told) {
    const known = worst.get(chain.chain_id)
    if (known === undefined || WORSE.indexOf(chain.state) > WORSE.indexOf(known.state))
      worst.set(chain.chain_id, chain)
  }
  return [...worst.values()].toSorted((one, other) => one.chain_id - other.chain_id)
}
