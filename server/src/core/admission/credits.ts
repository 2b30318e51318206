import type { AccountRow } from '../calls/hot-rows.ts'
import { type MicroCredits, microCredits, ZERO } from '../money.ts'
import type { CostBounds } from '../pricing/bound-cost.ts'

/** A calendar month in the platform's time zone. */
export interface Month {
  readonly startAt: number
  readonly endAt: number | undefined
}

/** What Credits would have to do for one model of a call. */
export interface CreditsHold {
  readonly kind: 'held'
  readonly held: MicroCredits
  /** Held against the monthly cap. */
  readonly monthHeld: MicroCredits
  /** Balance that is converted first. */
  readonly exchanged: MicroCredits
}

export type CreditsDecision =
  | CreditsHold
  | { readonly kind: 'too-few' }
  | { readonly kind: 'capped'; readonly retryAfterMs: number }

/**
 * Sizes the hold on Credits. It never makes them negative: a bound that may shrink is cut to what is there, and a call
 * that cannot fund its least is refused.
 *
 * The monthly cap is held to the worst case apart from the Credits themselves, so that a capped account needs no more
 * Credits than any other. The last call before the cap holds all that is left of it; an overrun is clipped at
 * settlement, so concurrent calls never pass the cap.
 */
export function decideCredits(
  account: AccountRow,
  cost: CostBounds,
  call: { at: number; month: Month },
): CreditsDecision {
  const exchanged = exchangeForCall(account, cost.least)
  const available = account.credits - account.held + exchanged
  if (available < cost.least) return { kind: 'too-few' }
  const held = smaller(cost.full, available)
  if (account.monthlyCap <= 0n) return { kind: 'held', held, monthHeld: held, exchanged }
  const left = account.monthlyCap - spentIn(account, call.month)
  const room = left - account.monthHeld
  if (cost.least > 0n && room < cost.least) {
    return { kind: 'capped', retryAfterMs: left < cost.least ? monthRestMs(account, call) : HELD_RETRY_MS }
  }
  const roomOrNone = room > 0n ? room : 0n
  return {
    kind: 'held',
    held: smaller(held, roomOrNone),
    monthHeld: smaller(cost.worst, roomOrNone),
    exchanged,
  }
}

/** The cap is held by running calls, not spent: it may be free as soon as one ends. */
const HELD_RETRY_MS = 1_000
/** Used where the end of the month is not known: no month is longer. */
const MONTH_MS_MAX = 31 * 86_400_000

function monthRestMs(account: AccountRow, call: { at: number; month: Month }): number {
  const { startAt, endAt } = call.month
  const end =
    startAt < account.monthStart || endAt === undefined ? startOf(account, call.month) + MONTH_MS_MAX : endAt
  return Math.max(end - call.at, HELD_RETRY_MS)
}

const startOf = (account: AccountRow, month: Month): number => Math.max(account.monthStart, month.startAt)

/** Spent in the month; a new month begins at 0, an operation that arrives late counts in the account's own month. */
export function spentIn(account: AccountRow, month: Pick<Month, 'startAt'>): MicroCredits {
  return month.startAt > account.monthStart ? ZERO : account.monthSpent
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
