/** Subscriptions as they were sold: one row per account. */
import type { Kysely, Transaction } from 'kysely'
import { type AccountId, accountId } from '../../../core/ids.ts'
import { microCredits } from '../../../core/money.ts'
import type { PaidPeriod, Renewal, SubscriptionTerms } from '../../../core/subscriptions/terms.ts'
import type { SubscriptionStore } from '../../stores/customers.ts'
import type { Schema } from '../schema.ts'
import { pageLimit } from '../page.ts'
import { parseStored } from '../stored-json.ts'

export function createSubscriptionStore(reader: Kysely<Schema>): SubscriptionStore {
  return {
    find: (account) => findTerms(reader, account),
    async due(at, limit) {
      const rows = await reader
        .selectFrom('subscriptions')
        .select('account_id')
        .where('due_at', '<=', BigInt(at))
        .orderBy('due_at')
        .limit(pageLimit(limit))
        .execute()
      return rows.map((row) => accountId(row.account_id))
    },
  }
}

type StoredPeriod = Omit<PaidPeriod, 'paid'> & { readonly paid: string }

export async function findTerms(
  reader: Kysely<Schema>,
  account: AccountId,
): Promise<SubscriptionTerms | undefined> {
  const row = await reader
    .selectFrom('subscriptions')
    .selectAll()
    .where('account_id', '=', account)
    .executeTakeFirst()
  if (row === undefined) return undefined
  const renewal = row.renewal === null ? undefined : parseStored<Omit<Renewal, 'dueAt'>>(row.renewal)
  return {
    plan: row.plan,
    expiresAt: Number(row.expires_at),
    periods: parseStored<readonly StoredPeriod[]>(row.periods).map((period) => ({
      ...period,
      paid: microCredits(BigInt(period.paid)),
    })),
    renewal:
      renewal === undefined || row.due_at === null ? undefined : { ...renewal, dueAt: Number(row.due_at) },
  }
}

export async function writeTerms(
  transaction: Transaction<Schema>,
  account: AccountId,
  { plan, expiresAt, periods, renewal }: SubscriptionTerms,
): Promise<void> {
  const row = {
    plan,
    expires_at: expiresAt,
    periods: JSON.stringify(periods.map((period) => ({ ...period, paid: period.paid.toString() }))),
    renewal: renewal === undefined ? null : JSON.stringify({ plan: renewal.plan, pool: renewal.pool }),
    due_at: renewal?.dueAt ?? null,
  }
  await transaction
    .insertInto('subscriptions')
    .values({ account_id: account, ...row })
    .onConflict((conflict) => conflict.column('account_id').doUpdateSet(row))
    .execute()
}

export async function removeTerms(transaction: Transaction<Schema>, account: AccountId): Promise<void> {
  await transaction.deleteFrom('subscriptions').where('account_id', '=', account).execute()
}
