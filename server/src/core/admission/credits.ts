import type { AccountRow, MemberRow } from '../ledger/hot-rows.ts'
import { type MicroCredits, microCredits, ZERO } from '../money.ts'
import type { CostBounds } from '../pricing/bound-cost.ts'
import { type CapDecision, decideCap, type Month, monthOf } from './cap.ts'

/** What Credits would have to pay for one model of a call. */
export interface CreditsHold {
  readonly kind: 'held'
  readonly held: MicroCredits
  /** The worst case: held against the account's monthly cap, and more than `held` if Credits lend the rest. */
  readonly monthHeld: MicroCredits
  /** Held against the member's; nothing where no member calls. */
  readonly memberHeld: MicroCredits
  /** Balance that is converted first. */
  readonly exchanged: MicroCredits
}

export type CreditsDecision =
  | CreditsHold
  | { readonly kind: 'too-few' }
  /** Credits are there, but running calls hold them. */
  | { readonly kind: 'held-up' }
  /** `whose`: the cap that takes longest to become free. */
  | {
      readonly kind: 'capped'
      readonly whose: 'account' | 'member'
      readonly retryAfterMs: number
      readonly fitsLeast: boolean
    }

/**
 * Determines the hold on Credits, which never makes them negative. If Credits cover the worst case, it is held in full.
 * Otherwise the likely price is held and the rest lent, to one call at a time: calls that run together cannot take an
 * account further below zero than one of them could alone (docs/decisions/0016-lending-to-one-call.md).
 *
 * Each monthly cap is held to the worst case apart from the Credits themselves, so that a capped account needs no more
 * Credits than any other.
 */
export function decideCredits(
  payer: { readonly account: AccountRow; readonly member: MemberRow | undefined },
  cost: CostBounds,
  call: { at: number; month: Month },
): CreditsDecision {
  const { account, member } = payer
  const exchanged = exchangeForCall(account, cost.least)
  const all = account.credits + exchanged
  if (all < cost.least) return { kind: 'too-few' }
  const counted = { at: call.at, month: monthOf(account, call.month) }
  const ofAccount = decideCap(account, cost, counted)
  const ofMember = member === undefined ? NO_CAP : decideCap(member, cost, counted)
  const refusal = refusing(ofAccount, ofMember)
  if (refusal !== undefined) return refusal
  const available = all - account.held
  const { covered } = cost
  const lends = covered !== undefined && available < covered
  if (available < cost.least || (lends && isLending(account))) return { kind: 'held-up' }
  const held = lends ? smaller(cost.full, available) : (covered ?? smaller(cost.full, available))
  return {
    kind: 'held',
    held,
    monthHeld: ofAccount.kind === 'none' ? (covered ?? held) : cost.worst,
    memberHeld: member === undefined ? ZERO : ofMember.kind === 'none' ? held : cost.worst,
    exchanged,
  }
}

/** A running call may cost more than is held for it. */
function isLending({ monthHeld, held }: AccountRow): boolean {
  return monthHeld > held
}

const NO_CAP: CapDecision = { kind: 'none' }

/** The refusing cap; of two the one with the longer wait, which is long enough for both. */
function refusing(ofAccount: CapDecision, ofMember: CapDecision): CreditsDecision | undefined {
  if (ofMember.kind === 'capped') {
    const isLonger = ofAccount.kind !== 'capped' || ofMember.retryAfterMs > ofAccount.retryAfterMs
    if (isLonger) return { ...ofMember, whose: 'member' }
  }
  return ofAccount.kind === 'capped' ? { ...ofAccount, whose: 'account' } : undefined
}

/** Automatic exchange is due when Credits are below the threshold: the smallest number of whole steps that reaches it. */
export function exchangeWhenLow(account: AccountRow, credits = account.credits): MicroCredits {
  const missing = account.autoExchange.belowCredits - credits
  return missing > 0n ? smaller(stepsFor(account, missing), wholeSteps(account)) : ZERO
}

/** Also due when a call lacks Credits that the balance could provide: then exactly the steps that fund it. */
function exchangeForCall(account: AccountRow, least: MicroCredits): MicroCredits {
  const whenLow = exchangeWhenLow(account)
  const missing = least - (account.credits - account.held)
  if (missing <= whenLow) return whenLow
  const needed = stepsFor(account, missing)
  return needed <= wholeSteps(account) ? needed : whenLow
}

function stepsFor(account: AccountRow, missing: bigint): MicroCredits {
  const { enabled, step } = account.autoExchange
  return enabled && step > 0n ? microCredits(((missing + step - 1n) / step) * step) : ZERO
}

function wholeSteps(account: AccountRow): MicroCredits {
  const { enabled, step } = account.autoExchange
  return enabled && step > 0n && account.balance > 0n ? microCredits((account.balance / step) * step) : ZERO
}

const smaller = (left: bigint, right: bigint): MicroCredits => microCredits(left < right ? left : right)
