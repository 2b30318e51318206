/** Every logged call: its amount from its recipe, what was due of it, and what the ledger took. */
import { type Kysely, sql } from 'kysely'
import type { CallLogRow } from '../../../core/calls/log-row.ts'
import { type MicroCredits, ZERO } from '../../../core/money.ts'
import { deductible, recomputeAmount } from '../../../core/pricing/price.ts'
import { decodeCallLog } from '../call-log-row.ts'
import type { Schema } from '../schema.ts'
import type { Differences } from './differences.ts'

const PAGE_ROWS = 500

/** `see` is shown every call on the way. */
export async function verifyCharges(
  snapshot: Kysely<Schema>,
  differences: Differences,
  see: (log: CallLogRow) => void,
): Promise<void> {
  let after = ''
  for (;;) {
    const rows = await snapshot
      .selectFrom('call_logs')
      .selectAll()
      .where('call_id', '>', after)
      .orderBy('call_id')
      .limit(PAGE_ROWS)
      .execute()
    const last = rows.at(-1)
    if (last === undefined) return
    after = last.call_id
    const taken = await readCharges(
      snapshot,
      rows.map((row) => row.call_id),
    )
    for (const row of rows) {
      const log = decodeCallLog({ ...row })
      see(log)
      verifyCall(log, taken.get(row.call_id) ?? 0n, differences)
    }
  }
}

function verifyCall(log: CallLogRow, taken: bigint, differences: Differences): void {
  const subject = `call:${log.callId}`
  const amount = amountOf(log)
  if (amount === undefined) {
    differences.add({ subject, what: 'recipe', expected: 'a readable recipe', found: 'an unreadable one' })
    return
  }
  differences.compare({ subject, what: 'amount by the recipe', expected: amount, found: log.amount })
  differences.compare({ subject, what: 'deducted by the ledger', expected: taken, found: log.deducted })
  const due = log.byok ? ZERO : deductible(amount)
  // A charge clipped at the monthly cap is smaller than what was due, never larger.
  const expected = log.capped && log.deducted < due ? log.deducted : due
  differences.compare({ subject, what: 'deducted by the amount', expected, found: log.deducted })
}

function amountOf({ recipe }: CallLogRow): MicroCredits | undefined {
  if (recipe === undefined) return ZERO
  try {
    return recomputeAmount(recipe)
  } catch {
    // The core throws on a recipe that no call can have: that is the finding.
    return undefined
  }
}

async function readCharges(
  snapshot: Kysely<Schema>,
  calls: readonly string[],
): Promise<ReadonlyMap<string, bigint>> {
  const rows = await snapshot
    .selectFrom('transfers')
    .select(['transaction_id', sql<string>`cast(sum(amount) as text)`.as('amount')])
    .where('transaction_id', 'in', calls)
    .where('kind', 'in', ['charge', 'quota-charge'])
    .groupBy('transaction_id')
    .execute()
  return new Map(rows.map((row) => [row.transaction_id, BigInt(row.amount)]))
}
