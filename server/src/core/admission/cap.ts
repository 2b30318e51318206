/**
 * The monthly cap: what calls may take from Credits in a calendar month. One rule for accounts and members of
 * organisations. If both have a cap, a call must pass both.
 */
import { type MicroCredits, microCredits, ZERO } from '../money.ts'

/** A calendar month in the platform's time zone. */
export interface Month {
  readonly startAt: number
  readonly endAt: number | undefined
}

export interface CapHolder {
  /** µCr a month; 0: none. */
  readonly monthlyCap: MicroCredits
  /** Month the next two count for, epoch ms of its start. */
  readonly monthStart: number
  readonly monthSpent: MicroCredits
  readonly monthHeld: MicroCredits
}

export type CapDecision =
  | { readonly kind: 'none' }
  | { readonly kind: 'within' }
  | {
      readonly kind: 'capped'
      readonly retryAfterMs: number
      /** The remainder is enough for the least the call may cost, but not for the most. */
      readonly fitsLeast: boolean
    }

/** The cap is held by running calls, not spent, so it may be free as soon as one ends. */
const HELD_RETRY_MS = 1_000
/** Used if the end of the month is unknown: no month is longer. */
const MONTH_MS_MAX = 31 * 86_400_000

/**
 * Whether a call may begin: a call whose worst case would exceed the cap is refused, because its cost is charged in full
 * whatever the cap (docs/reference/contract.md#D-money-24). A free call may always begin.
 */
export function decideCap(
  holder: CapHolder,
  cost: { readonly least: MicroCredits; readonly worst: MicroCredits },
  call: { readonly at: number; readonly month: Month },
): CapDecision {
  if (holder.monthlyCap <= 0n) return { kind: 'none' }
  const { least, worst } = cost
  const left = holder.monthlyCap - spentIn(holder, call.month)
  const room = left - holder.monthHeld
  if (worst <= 0n || room >= worst) return { kind: 'within' }
  const retryAfterMs = left < worst ? monthRestMs(call) : HELD_RETRY_MS
  return { kind: 'capped', retryAfterMs, fitsLeast: left >= least && least > 0n }
}

function monthRestMs({ at, month }: { readonly at: number; readonly month: Month }): number {
  return Math.max((month.endAt ?? month.startAt + MONTH_MS_MAX) - at, HELD_RETRY_MS)
}

/**
 * The month a call counts in: an account's month only moves forward, so a late operation counts in the account's present
 * month, whose end is unknown here. A member's month is that of their organisation's account.
 */
export function monthOf(account: Pick<CapHolder, 'monthStart'>, month: Month): Month {
  return month.startAt < account.monthStart ? { startAt: account.monthStart, endAt: undefined } : month
}

/** Spent in the month; a new month begins at 0. */
export function spentIn(holder: CapHolder, month: Pick<Month, 'startAt'>): MicroCredits {
  return month.startAt > holder.monthStart ? ZERO : holder.monthSpent
}

/**
 * The part of `due` that fits under the cap; the rest is owed, never waived (docs/reference/contract.md#D-money-24). A
 * call may take what it held and what nobody holds, never what others hold, so together they stay within the cap, and a
 * lowered cap counts from the next call.
 *
 * @param held of the month by the call that is charged; the holder's `monthHeld` still counts it
 */
export function chargeableNow(
  holder: CapHolder,
  due: MicroCredits,
  { held, month }: { readonly held: MicroCredits; readonly month: Pick<Month, 'startAt'> },
): MicroCredits {
  if (holder.monthlyCap <= 0n) return due
  const ofOthers = holder.monthHeld - held
  const free = holder.monthlyCap - spentIn(holder, month) - ofOthers
  const room = free > held ? free : held
  return microCredits(due < room ? due : room)
}
