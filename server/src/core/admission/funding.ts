import type { AccountRow, LimitState, MemberRow } from '../ledger/hot-rows.ts'
import type { Demand, Funding, Refusal } from '../ledger/operations.ts'
import type { VendorCode } from '../ids.ts'
import { HELD_RETRY_MS, quotaTiers, readQuota } from '../limits/quota.ts'
import { type MicroCredits, microCredits, ZERO } from '../money.ts'
import type { CostBounds } from '../pricing/bound-cost.ts'
import type { Month } from './cap.ts'
import { type CreditsDecision, decideCredits } from './credits.ts'
import { ownVendors } from './own-vendors.ts'
import { ASK_FOR_LESS, type NothingPays, refuseRightToCall } from './right-to-call.ts'

/** Who pays for one model, and what must be held for it. */
export interface Funded {
  readonly kind: 'funded'
  readonly funding: Funding
  readonly held: MicroCredits
  readonly monthHeld: MicroCredits
  readonly memberHeld: MicroCredits
  readonly exchanged: MicroCredits
  readonly quotaHeld: MicroCredits
}

export type FundingDecision = Funded | { readonly kind: 'refused'; readonly refusal: Refusal }

export interface FundingQuestion {
  readonly account: AccountRow
  /** Whose key calls, where the account is an organisation. */
  readonly member: MemberRow | undefined
  /** State of `quota:<account>`. */
  readonly quota: LimitState
  readonly demand: Pick<Demand, 'vendors' | 'keylessVendors' | 'subscriptionCovered'>
  readonly cost: CostBounds
  readonly at: number
  readonly month: Month
}

/**
 * The order of payment: own credential for the chain's vendor, then the subscription's quota, then Credits when API
 * deduction is on (docs/reference/contract.md#D-money-01, #D-money-04, #D-money-05). Where own credentials fit some
 * chains and nothing pays for the others, the call may use those chains alone. Refusals: 40202 nothing can ever pay,
 * 42905 only a used-up quota could, 42906 the cap.
 */
export function decideFunding(question: FundingQuestion): FundingDecision {
  const byokVendors = ownVendors(question.account, question.demand)
  if (byokVendors.length > 0 && byokVendors.length === question.demand.vendors.length) {
    return byokOnly(byokVendors)
  }
  const decision = decidePayer(question, byokVendors)
  return decision.kind === 'refused' && byokVendors.length > 0 ? byokOnly(byokVendors) : decision
}

const NOTHING_HELD = { held: ZERO, monthHeld: ZERO, memberHeld: ZERO, exchanged: ZERO, quotaHeld: ZERO }

function byokOnly(byokVendors: readonly VendorCode[]): Funded {
  return { kind: 'funded', funding: { kind: 'funded', byokVendors, otherwise: 'none' }, ...NOTHING_HELD }
}

function decidePayer(question: FundingQuestion, byokVendors: readonly VendorCode[]): FundingDecision {
  const quota = decideQuota(question)
  if (quota.kind === 'held') {
    const funding: Funding = { kind: 'funded', byokVendors, otherwise: 'subscription' }
    return { kind: 'funded', funding, ...NOTHING_HELD, quotaHeld: quota.held }
  }
  const usedUp = quota.kind === 'used-up' ? refuse(42905, quota.retryAfterMs, quota.message) : undefined
  if (!question.account.apiDeduction) return usedUp ?? refuseToPay(question.account, { kind: 'not-set-up' })
  const credits = decideCredits(question, question.cost, question)
  switch (credits.kind) {
    case 'held': {
      const { held, monthHeld, memberHeld, exchanged } = credits
      const funding: Funding = { kind: 'funded', byokVendors, otherwise: 'credits' }
      return { kind: 'funded', funding, held, monthHeld, memberHeld, exchanged, quotaHeld: ZERO }
    }
    case 'too-few':
      return usedUp ?? refuseToPay(question.account, tooFew(question))
    case 'held-up':
      return usedUp ?? refuse(42901, HELD_RETRY_MS, HELD_UP)
    case 'capped':
      return usedUp ?? refuse(42906, credits.retryAfterMs, capMessage(credits))
  }
}

type QuotaDecision =
  | { readonly kind: 'held'; readonly held: MicroCredits }
  | { readonly kind: 'used-up'; readonly retryAfterMs: number; readonly message?: string }
  | { readonly kind: 'not-covered' }

/**
 * A plan without quota tiers admits models by its level but pays for nothing. Like Credits, a quota holds the worst case
 * if it can; otherwise it lends the rest, if no other call holds any of it.
 */
function decideQuota({ account, quota, demand, cost, at }: FundingQuestion): QuotaDecision {
  const { subscription } = account
  if (subscription === undefined || at >= subscription.expiresAt) return { kind: 'not-covered' }
  if (!demand.subscriptionCovered || quotaTiers(subscription.quota).length === 0)
    return { kind: 'not-covered' }
  const { least, full, covered } = cost
  const { room, retryAfterMs, isHeld } = readQuota(quota, subscription.quota, { least, at })
  if (room < least || room <= 0n) return { kind: 'used-up', retryAfterMs }
  if (covered !== undefined && room >= covered) return { kind: 'held', held: covered }
  if (covered !== undefined && isHeld)
    return { kind: 'used-up', retryAfterMs: HELD_RETRY_MS, message: QUOTA_HELD_UP }
  return { kind: 'held', held: microCredits(room < full ? room : full) }
}

const QUOTA_HELD_UP = `the quota of your subscription is held by running calls: wait for one to end, or ${ASK_FOR_LESS}`
const HELD_UP = `the Credits of this account are held by its running calls: wait for one to end, or ${ASK_FOR_LESS}`

const refuse = (code: 42901 | 42905 | 42906, retryAfterMs: number, message?: string): FundingDecision => ({
  kind: 'refused',
  refusal: { code, message, retryAfterMs },
})

/** For a reached account cap the catalogue's own sentence is used. */
function capMessage({ whose, fitsLeast }: Extract<CreditsDecision, { kind: 'capped' }>): string | undefined {
  if (fitsLeast) return WORST_CASE_MESSAGES[whose]
  return whose === 'account' ? undefined : 'your monthly consumption cap in this organisation is reached'
}

/** The client can lower the worst case, which is mostly the longest answer that the model may give. */
const WORST_CASE_MESSAGES = {
  account: `in the worst case this call would exceed the monthly consumption cap of this account: ${ASK_FOR_LESS}, or raise the cap`,
  member: `in the worst case this call would exceed your monthly consumption cap in this organisation: ${ASK_FOR_LESS}, or have the cap raised`,
} as const

const tooFew = ({ account, cost }: FundingQuestion): NothingPays => ({
  kind: 'too-few',
  needed: cost.least,
  free: account.credits - account.held,
})

const refuseToPay = (account: AccountRow, cause: NothingPays): FundingDecision => ({
  kind: 'refused',
  refusal: refuseRightToCall(account, cause),
})
