/** How a subscription was paid and how it continues: kept apart from the subscription itself, which calls read. */
import type { Subscription } from '../ledger/hot-rows.ts'
import { type MicroCredits, microCredits } from '../money.ts'

export const POOLS = ['balance', 'credits'] as const
/** Where a price is taken from. */
export type Pool = (typeof POOLS)[number]

/** A period of time that was paid for, epoch ms. */
export interface PaidPeriod {
  readonly from: number
  readonly until: number
  readonly paid: MicroCredits
  readonly pool: Pool
}

export interface SubscriptionTerms {
  /** Must equal the subscription's own, else an operator has replaced it. */
  readonly plan: string
  readonly expiresAt: number
  /** The running period and those paid in advance, oldest first. */
  readonly periods: readonly PaidPeriod[]
  /** undefined: it ends with its period. */
  readonly renewal: Renewal | undefined
}

export interface Renewal {
  /** Plan of the next period. */
  readonly plan: string
  readonly pool: Pool
  /** When it is tried next, epoch ms. */
  readonly dueAt: number
}

/** A plan as it is sold: its price and quota in µCr at the rate of the moment. */
export interface PlanOffer {
  readonly code: string
  readonly level: number
  readonly price: MicroCredits
  readonly periodMs: number
  readonly quota: Subscription['quota']
}

/** The part of an account that a subscription depends on. */
export interface Subscriber {
  readonly subscription: Subscription | undefined
  readonly terms: SubscriptionTerms | undefined
  readonly funds: Readonly<Record<Pool, MicroCredits>>
}

/** Money into or out of one pool of the subscriber. */
export interface PoolAmount {
  readonly pool: Pool
  readonly amount: MicroCredits
}

/** The same plan is renewed a little before its end, so that there is no gap. */
export const RENEWAL_LEAD_MS = 60_000

/** The terms, if they belong to the present subscription; others belong to a former one. */
export function termsOf({ subscription, terms }: Omit<Subscriber, 'funds'>): SubscriptionTerms | undefined {
  const same =
    terms !== undefined && terms.plan === subscription?.plan && terms.expiresAt === subscription.expiresAt
  return same ? terms : undefined
}

/** The part of the payment for the remaining time; rounded down, so that the used part is never below 0. */
export function unusedOf({ from, until, paid }: PaidPeriod, at: number): MicroCredits {
  if (at >= until) return microCredits(0n)
  if (at <= from) return paid
  return microCredits((paid * BigInt(until - at)) / BigInt(until - from))
}

/** When a subscription that continues with `next` is renewed: another plan begins when this one ends. */
export function renewalDueAt(plan: string, next: string, expiresAt: number): number {
  return plan === next ? expiresAt - RENEWAL_LEAD_MS : expiresAt
}
