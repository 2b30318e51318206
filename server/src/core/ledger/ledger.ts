/**
 * The movements of money a call makes. A transfer takes from `debit` and gives to `credit`, so each is balanced by
 * construction. The transaction id is the call's and the sequence is fixed per kind, so repeating a movement collides
 * with itself instead of booking twice.
 */
import type { AccountId, CallId } from '../ids.ts'
import type { MicroCredits } from '../money.ts'
import type { Transfer } from './hot-rows.ts'

/** Number of each movement within its call; never renumbered, since the ledger keeps them for ever. */
export const SEQUENCE = {
  /** Balance → Credits before the hold. */
  exchangeAtReserve: 0,
  // 1 was a hold: those of older releases are booked, since then holds are kept in the account and its open calls only.
  /** Credits → revenue. */
  charge: 2,
  /** The three ends of a hold that is booked. held → revenue, … */
  chargeBookedHold: 2,
  /** … Credits → revenue: what it did not cover, … */
  overrun: 3,
  /** … held → Credits. */
  release: 4,
  /** Subscription quota → quota revenue. */
  quotaCharge: 5,
  /** Balance → Credits after the charge. */
  exchangeAtSettle: 6,
  /** Owed → revenue: what lay over the monthly cap. */
  owe: 7,
  /** Credits → owed: what earlier calls owe, charged when a call begins, … */
  chargeOwedAtReserve: 8,
  /** … when it ends, … */
  chargeOwedAtEnd: 9,
  /** … and when a late settlement changes how much the cap allows. */
  chargeOwedLate: 10,
  /** Credits → revenue: what a call cost beyond what recovery charged. */
  lateCharge: 11,
  /** Owed → revenue: the part of it over the monthly cap. */
  lateOwe: 12,
  /** Revenue → Credits: what recovery charged too much. */
  lateGiveBack: 13,
  /** Revenue → owed: the part of it that is still owed. */
  lateForgive: 14,
  /** The same two of a subscription's quota. */
  lateQuotaCharge: 15,
  lateQuotaGiveBack: 16,
  /** Balance → Credits after a late charge. */
  exchangeLate: 17,
} as const

const KINDS = {
  exchangeAtReserve: 'exchange',
  charge: 'charge',
  chargeBookedHold: 'charge',
  overrun: 'charge',
  release: 'release',
  quotaCharge: 'quota-charge',
  exchangeAtSettle: 'exchange',
  owe: 'owed',
  chargeOwedAtReserve: 'owed-charge',
  chargeOwedAtEnd: 'owed-charge',
  chargeOwedLate: 'owed-charge',
  lateCharge: 'charge',
  lateOwe: 'owed',
  lateGiveBack: 'charge-correction',
  lateForgive: 'owed-correction',
  lateQuotaCharge: 'quota-charge',
  lateQuotaGiveBack: 'quota-correction',
  exchangeLate: 'exchange',
} as const satisfies Record<keyof typeof SEQUENCE, Transfer['kind']>

export interface Movement {
  readonly step: keyof typeof SEQUENCE
  readonly callId: CallId
  readonly accountId: AccountId
  readonly at: number
  readonly amount: MicroCredits
}

export function transferOf(movement: Movement): Transfer {
  const { step, callId, at, amount } = movement
  const [debit, credit] = accountsOf(step, movement.accountId)
  return {
    transactionId: callId,
    sequence: SEQUENCE[step],
    at,
    debit,
    credit,
    amount,
    kind: KINDS[step],
    reference: callId,
  }
}

export const REVENUE = 'platform/revenue'
/** Counterpart of what subscriptions paid: kept apart, since no Credits were spent. */
export const QUOTA_REVENUE = 'platform/quota-revenue'

/** Counterpart of what plans cost. */
export const SUBSCRIPTION_REVENUE = 'platform/subscriptions'

export const creditsPool = (account: AccountId): string => `${account}/credits`
export const heldPool = (account: AccountId): string => `${account}/held`
export const balancePool = (account: AccountId): string => `${account}/balance`
/** Falls below zero by what the subscription paid: its windows roll, so no fixed amount is granted to it. */
export const quotaPool = (account: AccountId): string => `${account}/quota`

/** Falls below zero by what the account owes. */
export const owedPool = (account: AccountId): string => `${account}/owed`

function accountsOf(step: Movement['step'], account: AccountId): readonly [debit: string, credit: string] {
  switch (step) {
    case 'exchangeAtReserve':
    case 'exchangeAtSettle':
    case 'exchangeLate':
      return [balancePool(account), creditsPool(account)]
    case 'chargeBookedHold':
      return [heldPool(account), REVENUE]
    case 'charge':
    case 'overrun':
    case 'lateCharge':
      return [creditsPool(account), REVENUE]
    case 'release':
      return [heldPool(account), creditsPool(account)]
    case 'quotaCharge':
    case 'lateQuotaCharge':
      return [quotaPool(account), QUOTA_REVENUE]
    case 'owe':
    case 'lateOwe':
      return [owedPool(account), REVENUE]
    case 'chargeOwedAtReserve':
    case 'chargeOwedAtEnd':
    case 'chargeOwedLate':
      return [creditsPool(account), owedPool(account)]
    case 'lateGiveBack':
      return [REVENUE, creditsPool(account)]
    case 'lateForgive':
      return [REVENUE, owedPool(account)]
    case 'lateQuotaGiveBack':
      return [QUOTA_REVENUE, quotaPool(account)]
  }
}
