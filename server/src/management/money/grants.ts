/** Opening amounts and admins' grants: bookings outside of calls (docs/reference/contract.md#D-money-14). */
import type { Transfer } from '../../core/ledger/hot-rows.ts'
import type { DecimalText } from '../../core/catalogue.ts'
import { balancePool, creditsPool } from '../../core/ledger/ledger.ts'
import type { AccountId } from '../../core/ids.ts'
import { type MicroCredits, microCredits } from '../../core/money.ts'
import type { Storage } from '../../storage/storage.ts'

export interface OpeningAmounts {
  readonly credits: MicroCredits
  readonly balance: MicroCredits
  /** The rate the balance was converted at; absent: it was not converted from yuan. */
  readonly creditsPerUnit?: DecimalText | undefined
}

/**
 * Books an account's opening amounts once: only if nothing was ever booked for it. Any earlier booking counts as its
 * opening, so a restored or exported account is never opened a second time.
 */
export async function grantOpening(
  storage: Pick<Storage, 'ledger'>,
  account: AccountId,
  opening: OpeningAmounts,
  at: number,
): Promise<boolean> {
  if (await hasHistory(storage, account)) return false
  const transfers = openingTransfers(account, opening, at)
  const { creditsPerUnit } = opening
  return (
    transfers.length > 0 &&
    storage.ledger.book(transfers, creditsPerUnit === undefined ? {} : { creditsPerUnit })
  )
}

export async function hasHistory(storage: Pick<Storage, 'ledger'>, account: AccountId): Promise<boolean> {
  const first = await storage.ledger.transfers({ accountId: account, limit: 1, after: undefined })
  return first.length > 0
}

export interface Grant {
  readonly accountId: AccountId
  readonly amount: MicroCredits
  /** Booked once: repeating it changes nothing. */
  readonly transactionId: string
  /** The reason, for the statement. */
  readonly reference: string | undefined
  readonly at: number
}

/** Gives Credits, or takes them back when the amount is negative. False: this transaction was booked before. */
export function grantCredits(storage: Pick<Storage, 'ledger'>, grant: Grant): Promise<boolean> {
  return storage.ledger.book([movement(grant, 'credits', 0)])
}

/** A grant as one transfer, for use in a larger act. */
export function grantTransfer({
  pool,
  ...grant
}: Grant & { readonly pool: 'credits' | 'balance' }): Transfer {
  return movement(grant, pool, 0)
}

function openingTransfers(account: AccountId, opening: OpeningAmounts, at: number): readonly Transfer[] {
  const booking = { accountId: account, transactionId: `opening:${account}`, reference: 'opening', at }
  return [
    ...(opening.credits === 0n ? [] : [movement({ ...booking, amount: opening.credits }, 'credits', 0)]),
    ...(opening.balance === 0n ? [] : [movement({ ...booking, amount: opening.balance }, 'balance', 1)]),
  ]
}

/** The platform's pool that grants are taken from. */
const GRANTS = 'platform/grants'

function movement(grant: Grant, pool: 'credits' | 'balance', sequence: number): Transfer {
  const own = pool === 'credits' ? creditsPool(grant.accountId) : balancePool(grant.accountId)
  const gives = grant.amount >= 0n
  return {
    transactionId: grant.transactionId,
    sequence,
    at: grant.at,
    debit: gives ? GRANTS : own,
    credit: gives ? own : GRANTS,
    amount: gives ? grant.amount : microCredits(-grant.amount),
    kind: gives ? 'grant' : 'adjustment',
    reference: grant.reference,
  }
}
