import type { AccountRow, MemberRow } from '../calls/hot-rows.ts'
import { type MicroCredits, microCredits, ZERO } from '../money.ts'
import type { CostBounds } from '../pricing/bound-cost.ts'
import { type CapDecision, decideCap, type Month, monthOf } from './cap.ts'

/** What Credits would have to do for one model of a call. */
export interface CreditsHold {
  readonly kind: 'held'
  readonly held: MicroCredits
  /** Held against the account's monthly cap. */
  readonly monthHeld: MicroCredits
  /** Held against the member's; nothing where no member calls. */
  readonly memberHeld: MicroCredits
  /** Balance that is converted first. */
  readonly exchanged: MicroCredits
}

export type CreditsDecision =
  | CreditsHold
  | { readonly kind: 'too-few' }
  /** `whose`: the cap that takes longest to give room. */
  | { readonly kind: 'capped'; readonly whose: 'account' | 'member'; readonly retryAfterMs: number }

/**
 * Sizes the hold on Credits. It never makes them negative: a bound that may shrink is cut to what is there, and a call
 * that cannot fund its least is refused.
 *
 * Each monthly cap is held to the worst case apart from the Credits themselves, so that a capped account needs no more
 * Credits than any other. The last call before a cap holds all that is left of it; an overrun is clipped at
 * settlement, so concurrent calls never pass the cap.
 */
export function decideCredits(
  payer: { readonly account: AccountRow; readonly member: MemberRow | undefined },
  cost: CostBounds,
  call: { at: number; month: Month },
): CreditsDecision {
  const { account, member } = payer
  const exchanged = exchangeForCall(account, cost.least)
  const available = account.credits - account.held + exchanged
  if (available < cost.least) return { kind: 'too-few' }
  const counted = { at: call.at, month: monthOf(account, call.month) }
  const ofAccount = decideCap(account, cost.least, counted)
  const ofMember = member === undefined ? NO_CAP : decideCap(member, cost.least, counted)
  if (ofAccount.kind === 'capped' || ofMember.kind === 'capped') return longerCap(ofAccount, ofMember)
  const held = within(ofMember, within(ofAccount, smaller(cost.full, available)))
  return {
    kind: 'held',
    held,
    monthHeld: ofAccount.kind === 'none' ? held : within(ofAccount, cost.worst),
    memberHeld: member === undefined ? ZERO : ofMember.kind === 'none' ? held : within(ofMember, cost.worst),
    exchanged,
  }
}

const NO_CAP: CapDecision = { kind: 'none' }

/** Waiting for the longer is waiting enough. */
function longerCap(ofAccount: CapDecision, ofMember: CapDecision): CreditsDecision {
  const accountMs = ofAccount.kind === 'capped' ? ofAccount.retryAfterMs : 0
  const memberMs = ofMember.kind === 'capped' ? ofMember.retryAfterMs : 0
  return memberMs > accountMs
    ? { kind: 'capped', whose: 'member', retryAfterMs: memberMs }
    : { kind: 'capped', whose: 'account', retryAfterMs: accountMs }
}

function within(cap: Exclude<CapDecision, { kind: 'capped' }>, amount: MicroCredits): MicroCredits {
  return cap.kind === 'none' ? amount : smaller(amount, cap.room)
}

/** Automatic exchange is due when Credits lie below the threshold: whole steps, as few as lift them to it. */
export function exchangeWhenLow(account: AccountRow, credits = account.credits): MicroCredits {
  const missing = account.autoExchange.belowCredits - credits
  return missing > 0n ? smaller(stepsFor(account, missing), wholeSteps(account)) : ZERO
}

/** Also due when a call would otherwise lack Credits that the balance has: then exactly the steps that fund it. */
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
