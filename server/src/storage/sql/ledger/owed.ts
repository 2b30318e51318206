/** Charges what accounts owe as far as their monthly caps allow, in the caller's transaction. */
import type { Transaction } from 'kysely'
import { chargeOwed } from '../../../core/admission/owed.ts'
import type { AccountRow } from '../../../core/ledger/hot-rows.ts'
import { creditsPool, owedPool } from '../../../core/ledger/ledger.ts'
import type { AccountId } from '../../../core/ids.ts'
import type { MicroCredits } from '../../../core/money.ts'
import { decodeAccountRow, HOT_ACCOUNT_COLUMNS } from '../accounts/account-row.ts'
import type { SqlEngine } from '../engine.ts'
import { readMonthStart } from './platform-month.ts'
import type { Schema } from '../schema.ts'
import { transferColumns } from './transfer-row.ts'

export interface OwedCharging {
  readonly engine: Pick<SqlEngine, 'name'>
  readonly newId: () => string
  /** Epoch ms. */
  readonly at: number
  /** Current month; absent: that of `at`. An account in a later month stays in it. */
  readonly monthStart?: number
}

/** For these accounts; returns those that were charged. Their rows stay locked, in order. */
export async function chargeOwedIn(
  transaction: Transaction<Schema>,
  ids: readonly AccountId[],
  options: OwedCharging,
): Promise<readonly AccountId[]> {
  if (ids.length === 0) return []
  const query = transaction
    .selectFrom('accounts')
    .select([...HOT_ACCOUNT_COLUMNS])
    .where('id', 'in', ids)
    .where('owed', '>', 0n)
    .orderBy('id')
  const rows = await (options.engine.name === 'postgres' ? query.forUpdate() : query).execute()
  if (rows.length === 0) return []
  const monthStart = options.monthStart ?? (await readMonthStart(transaction, options.at))
  const charged: AccountId[] = []
  for (const row of rows) {
    const before = decodeAccountRow({ ...row })
    const startAt = Math.max(before.monthStart, monthStart)
    const { account, charged: amount } = chargeOwed(before, { startAt })
    if (amount === 0n) continue
    await writeCharged(transaction, account)
    await bookOwedCharge(transaction, { account: account.id, amount, options })
    charged.push(account.id)
  }
  return charged
}

async function writeCharged(transaction: Transaction<Schema>, account: AccountRow): Promise<void> {
  const { id, credits, owed, monthStart, monthSpent } = account
  await transaction
    .updateTable('accounts')
    .set({ credits, owed, month_start: monthStart, month_spent: monthSpent })
    .where('id', '=', id)
    .execute()
}

async function bookOwedCharge(
  transaction: Transaction<Schema>,
  booked: { readonly account: AccountId; readonly amount: MicroCredits; readonly options: OwedCharging },
): Promise<void> {
  const { account, amount, options } = booked
  const transfer = transferColumns({
    transactionId: options.newId(),
    sequence: 0,
    at: options.at,
    debit: creditsPool(account),
    credit: owedPool(account),
    amount,
    kind: 'owed-charge',
    reference: undefined,
  })
  await transaction.insertInto('transfers').values(transfer).execute()
}
