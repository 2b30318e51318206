/** A chain's health, in words for operators. */
import type { ChainHealth } from '../core/routing/health.ts'
import { type HealthWord, healthWord } from '../core/routing/order.ts'

export interface ChainHealthView {
  readonly state: HealthWord
  /** Cause of the cooldown. */
  readonly cause: string | null
  readonly since: string | null
  readonly cooling_until: string | null
  readonly failures_in_row: number
  /** Oldest first; `+` ended cleanly, `-` failed. */
  readonly outcomes: string
  /** Calls in progress, and how many the upstream was observed to accept at once; null: no limit is known. */
  readonly running: number
  readonly concurrency_limit: number | null
  readonly last_error: ChainErrorView | null
}

interface ChainErrorView {
  readonly at: string
  readonly kind: string
  readonly status: number | null
  readonly code: string | null
  readonly message: string
}

export function viewHealth(health: ChainHealth, at: number): ChainHealthView {
  const { cooldown, lowered, lastError } = health
  const rateLimit =
    health.rateLimit !== undefined && health.rateLimit.until > at ? health.rateLimit : undefined
  const cooling = cooldown ?? rateLimit
  return {
    state: healthWord(health, at),
    cause: cooldown?.cause ?? (rateLimit === undefined ? null : 'rate-limit'),
    since: dateText(cooling?.since),
    cooling_until: cooling !== undefined && cooling.until > at ? dateText(cooling.until) : null,
    failures_in_row: health.failuresInRow,
    outcomes: outcomesText(health),
    running: health.running,
    concurrency_limit: lowered === undefined ? null : Math.floor(lowered.limit),
    last_error:
      lastError === undefined
        ? null
        : {
            at: new Date(lastError.at).toISOString(),
            kind: lastError.kind,
            status: lastError.status ?? null,
            code: lastError.code ?? null,
            message: lastError.message,
          },
  }
}

function outcomesText({ outcomes, outcomeCount }: ChainHealth): string {
  const signs = Array.from({ length: outcomeCount }, (_, index) => ((outcomes >> index) & 1 ? '-' : '+'))
  return signs.toReversed().join('')
}

function dateText(at: number | undefined): string | null {
  return at === undefined ? null : new Date(at).toISOString()
}

/** What one process knows about a chain that is not healthy. */
export interface TroubledChain extends ChainHealthView {
  readonly chain_id: number
}

const WORSE = ['healthy', 'failing', 'rate-limited', 'probing', 'cooling-down'] as const

/** Combines the reports of several processes that serve the same addresses: for each chain the worst. */
export function worstOf(told: readonly TroubledChain[]): readonly TroubledChain[] {
  const worst = new Map<number, TroubledChain>()
  for (const chain of told) {
    const known = worst.get(chain.chain_id)
    if (known === undefined || WORSE.indexOf(chain.state) > WORSE.indexOf(known.state))
      worst.set(chain.chain_id, chain)
  }
  return [...worst.values()].toSorted((one, other) => one.chain_id - other.chain_id)
}
