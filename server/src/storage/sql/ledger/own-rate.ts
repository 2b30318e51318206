/**
 * The platform's own currency and its rate in the store. Balances are stored as µCr, so once there is one, both are
 * fixed; until then amounts set in money are converted when either changes.
 */
import { type Kysely, sql, type Transaction } from 'kysely'
import type { DecimalText, Settings } from '../../../core/catalogue.ts'
import { microCredits } from '../../../core/money.ts'
import { ownRateChange } from '../../../core/pricing/currency.ts'
import { atOtherRate, isSameRate, type RateChange } from '../../../core/pricing/own-rate.ts'
import { RateChanged, RateFixed, type RateHold } from '../../failures/amount-refused.ts'
import { decodeAutoExchange, encodeAutoExchange } from '../accounts/account-row.ts'
import type { SqlEngine } from '../engine.ts'
import type { Schema } from '../schema.ts'
import { readSettings } from '../catalogue/settings.ts'

/** undefined: no money was booked or promised, so it may change. */
export async function findRateHold(
  database: Kysely<Schema>,
  what: 'rate' | 'currency',
): Promise<RateHold | undefined> {
  const booked = await database
    .selectFrom('transfers')
    .select('sequence')
    .where((where) => where.or([where('credit', 'like', '%/balance'), where('debit', 'like', '%/balance')]))
    .limit(1)
    .executeTakeFirst()
  if (booked !== undefined) return 'balance-booked'
  const codes = await database
    .selectFrom('redemption_batches')
    .select('id')
    .where('pool', '=', 'balance')
    .where((where) => where(where('redeemed', '+', where.ref('voided')), '<', where.ref('codes')))
    .limit(1)
    .executeTakeFirst()
  if (codes !== undefined) return 'codes-open'
  const payment = await database
    .selectFrom('top_ups')
    .select('id')
    .where('pool', '=', 'balance')
    .where('status', 'in', ['open', 'review'])
    .limit(1)
    .executeTakeFirst()
  if (payment !== undefined) return 'payments-open'
  if (what === 'rate') return undefined
  const offered = await database.selectFrom('top_up_packages').select('code').limit(1).executeTakeFirst()
  return offered === undefined ? undefined : 'packages-offered'
}

/**
 * Called before settings are written: no other transaction writes them or books until this one ends. A booking locks an
 * account first, so the same order is used here. SQLite has one writer anyway.
 */
export async function lockRate(engine: SqlEngine, transaction: Transaction<Schema>): Promise<void> {
  if (engine.name === 'postgres') await sql`lock table accounts in exclusive mode`.execute(transaction)
}

/**
 * Call where money is converted to stored µCr: checks that the rate used is the current one, and locks it until this
 * transaction ends.
 */
export async function checkRate(
  engine: SqlEngine,
  transaction: Transaction<Schema>,
  counted: DecimalText | undefined,
): Promise<void> {
  if (counted === undefined) return
  if (engine.name === 'postgres') await sql`lock table accounts in row share mode`.execute(transaction)
  const { creditsPerUnit } = await readSettings(transaction)
  if (!isSameRate(creditsPerUnit, counted)) throw new RateChanged()
}

/** Under `lockRate`. Rejects with `RateFixed`. False: currency and rate are the same. */
export async function changeRate(transaction: Transaction<Schema>, to: Settings): Promise<boolean> {
  const from = await readSettings(transaction)
  const change = ownRateChange(from, to)
  const isOtherCurrency = from.currency !== to.currency
  if (!isOtherCurrency && isSameRate(change.from, change.to)) return false
  const hold = await findRateHold(transaction, isOtherCurrency ? 'currency' : 'rate')
  if (hold !== undefined) throw new RateFixed(hold)
  await convertAccounts(transaction, change)
  await convertMembers(transaction, change)
  await convertPackages(transaction, change)
  return true
}

async function convertAccounts(transaction: Transaction<Schema>, change: RateChange): Promise<void> {
  const rows = await transaction
    .selectFrom('accounts')
    .select(['id', 'monthly_cap', 'auto_exchange'])
    .where((where) =>
      where.or([where('monthly_cap', '<>', 0n), where('auto_exchange', 'not like', '%"step":"0"%')]),
    )
    .execute()
  for (const { id, monthly_cap: cap, auto_exchange: text } of rows) {
    const exchange = decodeAutoExchange(text)
    await transaction
      .updateTable('accounts')
      .set({
        monthly_cap: atOtherRate(microCredits(cap), change),
        auto_exchange: encodeAutoExchange({ ...exchange, step: atOtherRate(exchange.step, change) }),
      })
      .where('id', '=', id)
      .execute()
  }
}

/** Converts the caps of members and of invitations. */
async function convertMembers(transaction: Transaction<Schema>, change: RateChange): Promise<void> {
  for (const table of ['members', 'invitations'] as const) {
    const rows = await transaction
      .selectFrom(table)
      .select(['id', 'monthly_cap'])
      .where('monthly_cap', '<>', 0n)
      .execute()
    for (const { id, monthly_cap: cap } of rows) {
      await transaction
        .updateTable(table)
        .set({ monthly_cap: atOtherRate(microCredits(cap), change) })
        .where('id', '=', id)
        .execute()
    }
  }
}

async function convertPackages(transaction: Transaction<Schema>, change: RateChange): Promise<void> {
  const rows = await transaction
    .selectFrom('top_up_packages')
    .select(['code', 'amount'])
    .where('pool', '=', 'balance')
    .execute()
  for (const { code, amount } of rows) {
    await transaction
      .updateTable('top_up_packages')
      .set({ amount: atOtherRate(microCredits(amount), change) })
      .where('code', '=', code)
      .execute()
  }
}
