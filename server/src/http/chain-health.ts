/** How a chain is, in words for operators. */
import type { ChainHealth } from '../core/routing/health.ts'
import { type HealthWord, healthWord } from '../core/routing/order.ts'

export interface ChainHealthView {
  readonly state: HealthWord
  /** Of the cooling down. */
  readonly cause: string | null
  readonly since: string | null
  readonly cooling_until: string | null
  readonly failures_in_row: number
  /** Oldest first; `+` came to its clean end, `-` failed. */
  readonly outcomes: string
  /** Calls under way, and how many the upstream was seen to take at once; null: as many as there are. */
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
  const { rest, lowered, lastError } = health
  const rateLimit =
    health.rateLimit !== undefined && health.rateLimit.until > at ? health.rateLimit : undefined
  const resting = rest ?? rateLimit
  return {
    state: healthWord(health, at),
    cause: rest?.cause ?? (rateLimit === undefined ? null : 'rate-limit'),
    since: dateText(resting?.since),
    cooling_until: resting !== undefined && resting.until > at ? dateText(resting.until) : null,
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

/** What one process knows of a chain that is not healthy. */
export interface TroubledChain extends ChainHealthView {
  readonly chain_id: number
}

const WORSE = ['healthy', 'failing', 'rate-limited', 'probing', 'cooling-down'] as const

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
