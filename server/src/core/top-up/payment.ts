/**
 * What happens to a payment after it was made. A provider reports it piece by piece, repeatedly, late and in any order;
 * each piece is merged into what is known so that the order makes no difference, and what the account should have of
 * the payment follows from all that is known.
 */
import type { MicroCredits } from '../money.ts'
import { microCredits } from '../money.ts'
import { divideHalfEven } from '../pricing/decimal.ts'

/** Money that was returned, or may be. Amounts are in the smallest unit of the currency. */
export type Reversal = RefundedInAll | Refund | Dispute

/** The sum of the payment's refunds so far. */
export interface RefundedInAll {
  readonly kind: 'refunded-in-all'
  readonly amountMinor: number
  readonly currency: string
}

export interface Refund {
  readonly kind: 'refund'
  readonly id: string
  /** `failed`: the money came back to the merchant. */
  readonly state: 'made' | 'failed'
  readonly amountMinor: number
  readonly currency: string
  /** When the provider said so, epoch ms. */
  readonly at: number
}

export interface Dispute {
  readonly kind: 'dispute'
  readonly id: string
  /** `inquiry`: the bank asks, no money was taken. `open` and `lost`: it was taken. */
  readonly state: 'inquiry' | 'open' | 'won' | 'lost'
  readonly amountMinor: number
  readonly currency: string
  readonly at: number
}

/** Plain JSON. */
export interface PaymentFacts {
  readonly refundedInAll: RefundedInAll | undefined
  readonly refunds: Readonly<Record<string, Refund>>
  readonly disputes: Readonly<Record<string, Dispute>>
}

export const NO_FACTS: PaymentFacts = { refundedInAll: undefined, refunds: {}, disputes: {} }

export function mergeReversal(facts: PaymentFacts, reversal: Reversal): PaymentFacts {
  switch (reversal.kind) {
    case 'refunded-in-all': {
      const known = facts.refundedInAll
      return known !== undefined && known.amountMinor >= reversal.amountMinor
        ? facts
        : { ...facts, refundedInAll: reversal }
    }
    case 'refund':
      return isNews(facts.refunds[reversal.id], reversal, REFUND_RANK)
        ? { ...facts, refunds: { ...facts.refunds, [reversal.id]: reversal } }
        : facts
    case 'dispute':
      return isNews(facts.disputes[reversal.id], reversal, DISPUTE_RANK)
        ? { ...facts, disputes: { ...facts.disputes, [reversal.id]: reversal } }
        : facts
  }
}

const REFUND_RANK: Readonly<Record<Refund['state'], number>> = { made: 0, failed: 1 }
const DISPUTE_RANK: Readonly<Record<Dispute['state'], number>> = { inquiry: 0, open: 1, won: 2, lost: 3 }

/** Providers' times are in seconds: of two reports in one second the later state counts. */
function isNews<State extends string>(
  known: { readonly state: State; readonly at: number } | undefined,
  told: { readonly state: State; readonly at: number },
  rank: Readonly<Record<State, number>>,
): boolean {
  if (known === undefined || told.at > known.at) return true
  return told.at === known.at && rank[told.state] > rank[known.state]
}

/** What was paid. */
export interface Price {
  /** Above 0. */
  readonly priceMinor: number
  readonly currency: string
}

export type PaymentState = 'paid' | 'partly-refunded' | 'refunded' | 'disputed' | 'charged-back'

export function paymentState(facts: PaymentFacts, price: Price): PaymentState {
  const disputes = Object.values(facts.disputes)
  if (disputes.some(({ state }) => state === 'lost')) return 'charged-back'
  if (disputes.some(({ state }) => state === 'open')) return 'disputed'
  const refunded = refundedMinor(facts, price)
  if (refunded === 0) return 'paid'
  return refunded < price.priceMinor ? 'partly-refunded' : 'refunded'
}

/** What the account should have of a payment that was worth `amount` when it was made. */
export function creditOf(facts: PaymentFacts, price: Price, amount: MicroCredits): MicroCredits {
  const left = Math.max(0, price.priceMinor - refundedMinor(facts, price) - disputedMinor(facts, price))
  return microCredits(divideHalfEven(amount * BigInt(left), BigInt(price.priceMinor)))
}

/**
 * The provider's sum includes refunds that failed later; single refunds may be known before the sum. The greater of the
 * two, without those that failed, is right in either case.
 */
function refundedMinor(facts: PaymentFacts, price: Price): number {
  const refunds = Object.values(facts.refunds)
  const sum = (state: Refund['state']) =>
    refunds.filter((refund) => refund.state === state).reduce((all, one) => all + minorOf(one, price), 0)
  const inAll = facts.refundedInAll === undefined ? 0 : minorOf(facts.refundedInAll, price)
  return Math.min(price.priceMinor, Math.max(sum('made'), inAll - sum('failed'), 0))
}

function disputedMinor(facts: PaymentFacts, price: Price): number {
  return Object.values(facts.disputes)
    .filter(({ state }) => state === 'open' || state === 'lost')
    .reduce((all, one) => all + minorOf(one, price), 0)
}

/** What was reversed in another currency cannot be compared, so all of the payment counts as reversed. */
function minorOf(reversal: Reversal, price: Price): number {
  return reversal.currency === price.currency ? reversal.amountMinor : price.priceMinor
}

export type Pool = 'credits' | 'balance'

export interface Funds {
  /** Credits not held by running calls. */
  readonly credits: MicroCredits
  readonly balance: MicroCredits
}

/**
 * Where returned money is taken from: the pool it was paid into, then the other one, since it may have been exchanged.
 * What neither has remains as a debt of the first pool, which the next top-up pays first.
 */
export function takeBack(
  funds: Funds,
  first: Pool,
  amount: MicroCredits,
): readonly { readonly pool: Pool; readonly amount: MicroCredits }[] {
  const second: Pool = first === 'credits' ? 'balance' : 'credits'
  const there = least(above(funds[first]), amount)
  const elsewhere = least(above(funds[second]), microCredits(amount - there))
  const debt = amount - there - elsewhere
  return [
    { pool: first, amount: microCredits(there + debt) },
    { pool: second, amount: elsewhere },
  ].filter((part) => part.amount > 0n)
}

function above(amount: MicroCredits): MicroCredits {
  return amount > 0n ? amount : microCredits(0n)
}

function least(one: MicroCredits, other: MicroCredits): MicroCredits {
  return one < other ? one : other
}
