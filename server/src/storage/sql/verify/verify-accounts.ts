/** Compares stored balances with the sums of the ledger, and holds with the open calls. */
import { type Kysely, sql } from 'kysely'
import { accountId } from '../../../core/ids.ts'
import type { Schema } from '../schema.ts'
import type { Differences } from './differences.ts'
import type { Holds } from './holds.ts'

const PAGE_ROWS = 200
const NOTHING_HELD = { held: 0n, monthHeld: 0n }

export async function verifyAccounts(
  snapshot: Kysely<Schema>,
  holds: Holds,
  differences: Differences,
): Promise<void> {
  let after = ''
  for (;;) {
    const accounts = await snapshot
      .selectFrom('accounts')
      .select(['id', 'credits', 'held', 'balance', 'owed', 'monthly_cap', 'month_held'])
      .where('id', '>', after)
      .orderBy('id')
      .limit(PAGE_ROWS)
      .execute()
    const last = accounts.at(-1)
    if (last === undefined) return
    after = last.id
    const pools = await readPools(
      snapshot,
      accounts.map(({ id }) => id),
    )
    for (const account of accounts) {
      const pool = (name: string) => pools.get(`${account.id}/${name}`) ?? 0n
      const open = holds.accounts.get(accountId(account.id)) ?? NOTHING_HELD
      const compare = (what: string, expected: bigint, found: bigint) =>
        differences.compare({ subject: `account:${account.id}`, what, expected, found })
      // Older releases booked holds, and may have ended calls of newer ones, so only the sum can be compared.
      compare('credits by the ledger', pool('credits') + pool('held'), account.credits)
      compare('balance by the ledger', pool('balance'), account.balance)
      compare('owed by the ledger', -pool('owed'), account.owed)
      if (account.monthly_cap <= 0n) compare('owed without a monthly cap', 0n, account.owed)
      compare('held by open calls', open.held, account.held)
      compare('month_held by open calls', open.monthHeld, account.month_held)
    }
  }
}

/** Ledger account → credits minus debits. */
async function readPools(
  snapshot: Kysely<Schema>,
  accounts: readonly string[],
): Promise<ReadonlyMap<string, bigint>> {
  const rows = await snapshot
    .selectFrom('transfers')
    // As text: a sum may be wider than its terms, and PostgreSQL's type for it is not an integer.
    .select(['debit', 'credit', sql<string>`cast(sum(amount) as text)`.as('amount')])
    .where('account_id', 'in', accounts)
    .groupBy(['debit', 'credit'])
    .execute()
  const pools = new Map<string, bigint>()
  const add = (pool: string, amount: bigint) => pools.set(pool, (pools.get(pool) ?? 0n) + amount)
  for (const { debit, credit, amount } of rows) {
    add(debit, -BigInt(amount))
    add(credit, BigInt(amount))
  }
  return pools
}
