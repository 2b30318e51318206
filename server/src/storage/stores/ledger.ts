/** Bookings outside of calls, and the check of the ledger. */
import type { DecimalText } from '../../core/catalogue.ts'
import type { Transfer } from '../../core/ledger/hot-rows.ts'
import type { AccountId } from '../../core/ids.ts'
import type { LedgerDifference } from './records.ts'

export interface BookingOptions {
  /** Absent: `refuse`. */
  readonly overdraw?: 'refuse' | 'allow'
  /** The rate at which money was converted; absent: none was converted. */
  readonly creditsPerUnit?: DecimalText
}

export interface LedgerStore {
  /**
   * Movements outside of calls (grants, exchanges…). One transaction; false: this transaction id was booked before.
   * Rejects with `Overdraft`, and books nothing, if a debited customer's pool would fall below zero, unless a debt is
   * meant to be booked (a payment that the bank took back); with `AmountTooLarge` if a transfer or a pool would exceed
   * `AMOUNT_MAX` and `POOL_MAX`; with `RateChanged` if `creditsPerUnit` is not the current rate.
   */
  book(transfers: readonly Transfer[], options?: BookingOptions): Promise<boolean>
  /** What was booked under this id, in order; empty: nothing was. */
  transaction(id: string): Promise<readonly Transfer[]>
  /** Newest first. `after`: `transferCursor` of the last transfer of the page before. */
  transfers(filter: {
    readonly accountId?: AccountId
    readonly limit: number
    readonly after: string | undefined
  }): Promise<readonly Transfer[]>
  /** Recomputes every balance, hold, slot and charge from the entries; empty when all agree. */
  verify(): Promise<readonly LedgerDifference[]>
}
