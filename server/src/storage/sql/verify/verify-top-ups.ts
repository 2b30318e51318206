/** Compares payments and redemptions with the ledger. */
import { type Kysely, sql } from 'kysely'
import type { Schema } from '../schema.ts'
import { REDEEMED } from '../top-up/redemption-codes.ts'
import { DEPOSITS } from '../top-up/payments.ts'
import type { Differences } from './differences.ts'

const PAGE_ROWS = 200

export async function verifyTopUps(snapshot: Kysely<Schema>, differences: Differences): Promise<void> {
  await verifyBooked(snapshot, differences)
  await verifyRedeemed(snapshot, differences)
}

async function verifyBooked(snapshot: Kysely<Schema>, differences: Differences): Promise<void> {
  let after = ''
  for (;;) {
    const topUps = await snapshot
      .selectFrom('top_ups')
      .select(['id', 'account_id', 'booked'])
      .where('id', '>', after)
      .orderBy('id')
      .limit(PAGE_ROWS)
      .execute()
    const last = topUps.at(-1)
    if (last === undefined) return
    after = last.id
    const booked = await readBooked(snapshot, topUps)
    for (const { id, booked: found } of topUps)
      differences.compare({
        subject: `top-up:${id}`,
        what: 'booked by the ledger',
        expected: booked.get(id) ?? 0n,
        found,
      })
  }
}

/** Top-up → amounts booked for it minus those taken back. */
async function readBooked(
  snapshot: Kysely<Schema>,
  topUps: readonly { readonly id: string; readonly account_id: string }[],
): Promise<ReadonlyMap<string, bigint>> {
  const rows = await snapshot
    .selectFrom('transfers')
    .select(['reference', 'debit', sql<string>`cast(sum(amount) as text)`.as('amount')])
    .where('account_id', 'in', [...new Set(topUps.map((topUp) => topUp.account_id))])
    .where(
      'reference',
      'in',
      topUps.map(({ id }) => id),
    )
    .where('kind', 'in', ['top-up', 'refund'])
    .groupBy(['reference', 'debit'])
    .execute()
  const booked = new Map<string, bigint>()
  for (const { reference, debit, amount } of rows) {
    if (reference === null) continue
    const moved = debit === DEPOSITS ? BigInt(amount) : -BigInt(amount)
    booked.set(reference, (booked.get(reference) ?? 0n) + moved)
  }
  return booked
}

/** All codes together: their value, and how many of each batch are redeemed. */
async function verifyRedeemed(snapshot: Kysely<Schema>, differences: Differences): Promise<void> {
  const batches = await snapshot
    .selectFrom('redemption_batches')
    .leftJoin('redemption_codes', (join) =>
      join
        .onRef('redemption_codes.batch_id', '=', 'redemption_batches.id')
        .on('redemption_codes.status', '=', 'redeemed'),
    )
    .select(['redemption_batches.id', 'redemption_batches.amount', 'redemption_batches.redeemed'])
    .select((select) => select.fn.count('redemption_codes.hash').as('spent'))
    .groupBy(['redemption_batches.id', 'redemption_batches.amount', 'redemption_batches.redeemed'])
    .execute()
  let worth = 0n
  for (const { id, amount, redeemed, spent } of batches) {
    worth += amount * BigInt(spent)
    differences.compare({
      subject: `codes:${id}`,
      what: 'codes redeemed',
      expected: BigInt(spent),
      found: redeemed,
    })
  }
  const { amount } = await snapshot
    .selectFrom('transfers')
    .select(sql<string>`cast(coalesce(sum(amount), 0) as text)`.as('amount'))
    .where('debit', '=', REDEEMED)
    .where('kind', '=', 'top-up')
    .executeTakeFirstOrThrow()
  differences.compare({
    subject: 'codes',
    what: 'worth of redeemed codes by the ledger',
    expected: BigInt(amount),
    found: worth,
  })
}
