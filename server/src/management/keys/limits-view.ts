/** The present use of the windows of a key, an account or a quota. */
import type { LimitState, Subject, Subscription } from '../../core/ledger/hot-rows.ts'
import type { Policy } from '../../core/limits/policy.ts'
import { tierName, tierPolicy } from '../../core/limits/tiers.ts'
import { endsInMs, runningAt, usedAt } from '../../core/limits/window.ts'
import { MICRO_CREDITS_PER_CREDIT, microCredits } from '../../core/money.ts'
import type { Storage } from '../../storage/storage.ts'
import { creditsText } from '../money/amounts.ts'

export interface LimitsView {
  readonly concurrency: { readonly limit: number | null; readonly in_use: number }
  readonly windows: readonly WindowView[]
}

/** Amounts of Credits are decimal text as everywhere; counts are text too, so that all are read in the same way. */
export interface WindowView {
  readonly dimension: string
  readonly seconds: number
  readonly limit: string
  readonly used: string
  /** Held by running calls. */
  readonly held: string
  readonly remaining: string
  /** null: no window runs; the next use begins one. */
  readonly resets_at: string | null
}

export async function readLimitStates(
  storage: Pick<Storage, 'customers'>,
  subjects: readonly Subject[],
): Promise<(subject: Subject) => LimitState> {
  const states = await storage.customers.limits.read(subjects)
  return (subject) => states.get(subject) ?? { subject, slots: 0, windows: [] }
}

export function viewLimits(state: LimitState, policy: Policy, at: number): LimitsView {
  const { concurrency, tiers } = tierPolicy(policy)
  return {
    concurrency: { limit: concurrency ?? null, in_use: state.slots },
    windows: tiers.map((tier) => viewWindow(state, { ...tier, unitsPerLimit: tier.rule.unitsPerLimit, at })),
  }
}

export interface QuotaView extends Omit<WindowView, 'dimension' | 'limit'> {
  readonly credits: string
}

export function viewQuota(state: LimitState, quota: Subscription['quota'], at: number): readonly QuotaView[] {
  return quota.map(({ credits, seconds }) => {
    const tier = {
      tier: tierName('amount', seconds),
      dimension: 'amount',
      seconds,
      lengthMs: seconds * 1000,
      limit: credits,
      unitsPerLimit: MICRO_CREDITS_PER_CREDIT,
      at,
    }
    const { dimension: _amount, limit, ...rest } = viewWindow(state, tier)
    return { credits: limit, ...rest }
  })
}

interface ViewedTier {
  readonly tier: string
  readonly dimension: string
  readonly seconds: number
  readonly lengthMs: number
  readonly limit: bigint
  readonly unitsPerLimit: bigint
  readonly at: number
}

function viewWindow(state: LimitState, tier: ViewedTier): WindowView {
  const window = state.windows.find((one) => one.tier === tier.tier)
  const used = usedAt(window, tier.lengthMs, tier.at)
  const held = window?.held ?? 0n
  const left = tier.limit - used - held
  const text = (units: bigint) =>
    tier.unitsPerLimit === 1n ? units.toString() : creditsText(microCredits(units))
  const runs = runningAt(window, tier.lengthMs, tier.at) !== undefined
  return {
    dimension: tier.dimension,
    seconds: tier.seconds,
    limit: text(tier.limit),
    used: text(used),
    held: text(held),
    remaining: text(left > 0n ? left : 0n),
    resets_at: runs ? new Date(tier.at + endsInMs(window, tier.lengthMs, tier.at)).toISOString() : null,
  }
}
