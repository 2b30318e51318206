/**
 * What running calls cost beyond the account's monthly cap is owed (docs/reference/contract.md#D-money-24). It is
 * charged before anything else as soon as the cap has room again, and counts as spent in the month in which it is
 * charged.
 */
import type { AccountRow } from '../ledger/hot-rows.ts'
import { withFunds } from '../calls/account-funds.ts'
import { type MicroCredits, microCredits, ZERO } from '../money.ts'
import { type Month, spentIn } from './cap.ts'

export interface OwedCharged {
  readonly account: AccountRow
  /** µCr taken from Credits, which may fall below zero. */
  readonly charged: MicroCredits
}

/**
 * Charges what is owed as far as the cap allows: what running calls hold of the month is reserved for them, and the rest
 * is charged when they end. Without a cap everything is charged.
 *
 * @param month the account's own or a later one
 */
export function chargeOwed(account: AccountRow, month: Pick<Month, 'startAt'>): OwedCharged {
  if (account.owed <= 0n) return { account, charged: ZERO }
  const charged = chargeableOwed(account, month)
  if (charged === ZERO) return { account, charged }
  const { credits, held, balance, monthHeld, owed } = account
  return {
    charged,
    account: withFunds(account, {
      credits: microCredits(credits - charged),
      held,
      balance,
      owed: microCredits(owed - charged),
      monthStart: month.startAt,
      monthSpent: microCredits(spentIn(account, month) + charged),
      monthHeld,
    }),
  }
}

function chargeableOwed(account: AccountRow, month: Pick<Month, 'startAt'>): MicroCredits {
  const { monthlyCap, monthHeld, owed } = account
  if (monthlyCap <= 0n) return owed
  const room = monthlyCap - spentIn(account, month) - monthHeld
  if (room <= 0n) return ZERO
  return microCredits(owed < room ? owed : room)
}
