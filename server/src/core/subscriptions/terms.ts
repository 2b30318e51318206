/** What a subscription was paid with and how it goes on: kept beside the subscription itself, which calls read. */
import type { Subscription } from '../ledger/hot-rows.ts'
import { type MicroCredits, microCredits } from '../money.ts'

export const POOLS = ['balance', 'credits'] as const
/** Where a price is taken from. */
export type Pool = (typeof POOLS)[number]

/** One stretch of time that was paid for, epoch ms. */
export interface PaidPeriod {
  readonly from: number
  readonly until: number
  readonly paid: MicroCredits
  readonly pool: Pool
}

export interface SubscriptionTerms {
  /** Must equal the subscription's own, else an operator has put another in its place. */
  readonly plan: string
  readonly expiresAt: number
  /** The running stretch and what was paid ahead, oldest first. */
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

/** What an account has and holds a plan with. */
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

/** The same plan is renewed a little before its end, so that no call falls into a gap. */
export const RENEWAL_LEAD_MS = 60_000

/** Terms that belong to the subscription as it stands; others are a former one's. */
export function termsOf({ subscription, terms }: Omit<Subscriber, 'funds'>): SubscriptionTerms | undefined {
  const same =
    terms !== undefined && terms.plan === subscription?.plan && terms.expiresAt === subscription.expiresAt
  return same ? terms : undefined
}

/** Of what was paid, the part that stands for time still to come; rounded down, so that the used part is never below 0. */
export function unusedOf({ from, until, paid }: PaidPeriod, at: number): MicroCredits {
  if (at >= until) return microCredits(0n)
  if (at <= from) return paid
  return microCredits((paid * BigInt(until - at)) / BigInt(until - from))
}

/** When a subscription that goes on as `next` is to be renewed: another plan begins when this one is over. */
export function renewalDueAt(plan: string, next: string, expiresAt: number): number {
  return plan === next ? expiresAt - RENEWAL_LEAD_MS : expiresAt
}
