import type { Subscription } from '../ledger/hot-rows.ts'
import { microCredits, ZERO } from '../money.ts'
import {
  type PaidPeriod,
  type PlanOffer,
  type Pool,
  type PoolAmount,
  renewalDueAt,
  type Subscriber,
  type SubscriptionTerms,
  termsOf,
  unusedOf,
} from './terms.ts'

export interface Order {
  readonly plan: PlanOffer
  readonly pool: Pool
  readonly renews: boolean
  readonly at: number
}

export type OrderDecision =
  | {
      readonly kind: 'ordered'
      readonly change: 'new' | 'upgrade'
      readonly charge: PoolAmount
      /** At most one refund per pool; amounts above 0. */
      readonly refunds: readonly PoolAmount[]
      readonly subscription: Subscription
      readonly terms: SubscriptionTerms
    }
  | { readonly kind: 'refused'; readonly reason: 'same-plan' | 'not-higher' }
  | { readonly kind: 'refused'; readonly reason: 'too-few'; readonly missing: PoolAmount }

/**
 * Buys a plan. While one runs, only a higher one may take its place: it begins now with a period of its own, and the
 * unused part of what was paid for the running one is refunded. A lower one waits for the period's end (`Renewal`).
 */
export function decideOrder(subscriber: Subscriber, { plan, pool, renews, at }: Order): OrderDecision {
  const { subscription } = subscriber
  const running = subscription !== undefined && subscription.expiresAt > at ? subscription : undefined
  if (running !== undefined && running.plan === plan.code) return { kind: 'refused', reason: 'same-plan' }
  if (running !== undefined && running.level >= plan.level) return { kind: 'refused', reason: 'not-higher' }
  const refunds = running === undefined ? [] : refundsOf(subscriber, at)
  const back = refunds.find((refund) => refund.pool === pool)?.amount ?? ZERO
  const missing = plan.price - back - larger(subscriber.funds[pool], ZERO)
  if (missing > 0n) {
    return { kind: 'refused', reason: 'too-few', missing: { pool, amount: microCredits(missing) } }
  }
  const expiresAt = at + plan.periodMs
  const period: PaidPeriod = { from: at, until: expiresAt, paid: plan.price, pool }
  return {
    kind: 'ordered',
    change: running === undefined ? 'new' : 'upgrade',
    charge: { pool, amount: plan.price },
    refunds,
    subscription: { plan: plan.code, level: plan.level, expiresAt, quota: plan.quota },
    terms: {
      plan: plan.code,
      expiresAt,
      periods: [period],
      renewal: renews
        ? { plan: plan.code, pool, dueAt: renewalDueAt(plan.code, plan.code, expiresAt) }
        : undefined,
    },
  }
}

/** What would be refunded if the subscription ended now, by the pools it was paid from. */
export function refundsOf(subscriber: Omit<Subscriber, 'funds'>, at: number): readonly PoolAmount[] {
  const amounts = new Map<Pool, bigint>()
  for (const period of termsOf(subscriber)?.periods ?? []) {
    amounts.set(period.pool, (amounts.get(period.pool) ?? 0n) + unusedOf(period, at))
  }
  return [...amounts].flatMap(([pool, amount]) =>
    amount > 0n ? [{ pool, amount: microCredits(amount) }] : [],
  )
}

const larger = (left: bigint, right: bigint): bigint => (left > right ? left : right)
