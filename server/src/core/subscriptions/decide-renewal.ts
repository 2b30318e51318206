import type { Subscription } from '../ledger/hot-rows.ts'
import { microCredits, ZERO } from '../money.ts'
import {
  type PaidPeriod,
  type PlanOffer,
  type PoolAmount,
  renewalDueAt,
  type Subscriber,
  type SubscriptionTerms,
  termsOf,
} from './terms.ts'

/** A renewal that found too little money is tried again this often… */
export const RENEWAL_RETRY_MS = 3_600_000
/** … and given up this long after the period's end. */
export const RENEWAL_GRACE_MS = 3 * 86_400_000

export type RenewalDecision =
  | {
      readonly kind: 'renewed'
      readonly charge: PoolAmount
      readonly subscription: Subscription
      readonly terms: SubscriptionTerms
    }
  /** Nothing is due: it was renewed already, cancelled, or replaced by an operator. */
  | { readonly kind: 'not-due' }
  | {
      readonly kind: 'not-renewed'
      readonly why: 'too-few' | 'plan-gone'
      /** Tried again, or given up. */
      readonly terms: SubscriptionTerms
    }

/**
 * Begins the next period: directly after the running one, or now if that is over already. `findPlan` returns the plan
 * as sold today; one that is no longer sold ends the subscription with its period.
 */
export function decideRenewal(
  subscriber: Subscriber,
  asked: { readonly at: number; readonly findPlan: (code: string) => PlanOffer | undefined },
): RenewalDecision {
  const { at } = asked
  const terms = termsOf(subscriber)
  if (terms?.renewal === undefined || terms.renewal.dueAt > at) return { kind: 'not-due' }
  const { renewal } = terms
  const plan = asked.findPlan(renewal.plan)
  if (plan === undefined) {
    return { kind: 'not-renewed', why: 'plan-gone', terms: { ...terms, renewal: undefined } }
  }
  const funds = subscriber.funds[renewal.pool]
  if ((funds > 0n ? funds : ZERO) < plan.price) {
    const givenUp = at >= terms.expiresAt + RENEWAL_GRACE_MS
    const later = givenUp ? undefined : { ...renewal, dueAt: nextTry(terms, at) }
    return { kind: 'not-renewed', why: 'too-few', terms: { ...terms, renewal: later } }
  }
  const from = Math.max(terms.expiresAt, at)
  const expiresAt = from + plan.periodMs
  const next: PaidPeriod = { from, until: expiresAt, paid: plan.price, pool: renewal.pool }
  return {
    kind: 'renewed',
    charge: { pool: renewal.pool, amount: microCredits(plan.price) },
    subscription: { plan: plan.code, level: plan.level, expiresAt, quota: plan.quota },
    terms: {
      plan: plan.code,
      expiresAt,
      periods: [...terms.periods.filter((period) => period.until > at), next],
      renewal: { ...renewal, dueAt: renewalDueAt(plan.code, plan.code, expiresAt) },
    },
  }
}

/** Often while the period still runs, since a top-up then avoids a gap; after that every hour. */
function nextTry(terms: SubscriptionTerms, at: number): number {
  return at < terms.expiresAt ? terms.expiresAt : at + RENEWAL_RETRY_MS
}
