/** Ledger transfers. */
import type { Transfer } from '../../../core/ledger/hot-rows.ts'
import type { Insertable } from 'kysely'
import { microCredits } from '../../../core/money.ts'
import type { TransfersTable } from '../schema.ts'
import {
  type Cell,
  integerOf,
  numberOf,
  optionalTextOf,
  type StoredRow,
  type Table,
  textOf,
} from '../table.ts'

export const transfers: Table<Transfer> = {
  name: 'transfers',
  columns: {
    transaction_id: 'text',
    sequence: 'integer',
    at: 'integer',
    debit: 'text',
    credit: 'text',
    amount: 'integer',
    kind: 'text',
    reference: 'text',
    account_id: 'text',
  },
  encode: (transfer): readonly Cell[] => Object.values(transferColumns(transfer)),
}

export function transferColumns(transfer: Transfer): Insertable<TransfersTable> {
  return {
    transaction_id: transfer.transactionId,
    sequence: transfer.sequence,
    at: transfer.at,
    debit: transfer.debit,
    credit: transfer.credit,
    amount: transfer.amount,
    kind: transfer.kind,
    reference: transfer.reference ?? null,
    account_id: concernedAccount(transfer) ?? null,
  }
}

export function decodeTransfer(row: StoredRow): Transfer {
  return {
    transactionId: textOf(row, 'transaction_id'),
    sequence: numberOf(row, 'sequence'),
    at: numberOf(row, 'at'),
    debit: textOf(row, 'debit'),
    credit: textOf(row, 'credit'),
    amount: microCredits(integerOf(row, 'amount')),
    // The column holds what `encode` put there.
    kind: textOf(row, 'kind') as Transfer['kind'],
    reference: optionalTextOf(row, 'reference'),
  }
}

/** Owner of every ledger account that does not belong to a customer. */
export const PLATFORM = 'platform'

/** `acc_1/credits` → owner `acc_1`, pool `credits`. */
export function splitLedgerAccount(account: string): { readonly owner: string; readonly pool: string } {
  const slash = account.lastIndexOf('/')
  if (slash <= 0) throw new Error(`ledger account ${account} is not <owner>/<pool>`)
  return { owner: account.slice(0, slash), pool: account.slice(slash + 1) }
}

/** The customer whose statement shows the transfer. A transfer never has two customers: the platform is in between. */
export function concernedAccount(transfer: Pick<Transfer, 'debit' | 'credit'>): string | undefined {
  const debit = splitLedgerAccount(transfer.debit).owner
  const credit = splitLedgerAccount(transfer.credit).owner
  if (debit === PLATFORM) return credit === PLATFORM ? undefined : credit
  if (credit !== PLATFORM && credit !== debit) {
    throw new Error('one transfer moves between two accounts: book it over a pool of the platform')
  }
  return debit
}
