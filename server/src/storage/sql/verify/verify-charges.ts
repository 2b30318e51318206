/** Checks every logged call: its amount by its recipe, what was due, and what the ledger charged. */
import { type Kysely, sql } from 'kysely'
import type { CallLogRow } from '../../../core/ledger/log-row.ts'
import { type MicroCredits, ZERO } from '../../../core/money.ts'
import { deductible, recomputeAmount } from '../../../core/pricing/price.ts'
import { decodeCallLog } from '../logs/call-log-row.ts'
import type { Schema } from '../schema.ts'
import type { Differences } from './differences.ts'

const PAGE_ROWS = 500

/** `see` is called for every call. */
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
      verifyCall(log, taken.get(row.call_id) ?? NOTHING, differences)
    }
  }
}

function verifyCall(log: CallLogRow, taken: Taken, differences: Differences): void {
  const subject = `call:${log.callId}`
  const amount = amountOf(log)
  if (amount === undefined) {
    differences.add({ subject, what: 'recipe', expected: 'a readable recipe', found: 'an unreadable one' })
    return
  }
  differences.compare({ subject, what: 'amount by the recipe', expected: amount, found: log.amount })
  differences.compare({ subject, what: 'deducted by the ledger', expected: taken.all, found: log.deducted })
  const owed = taken.owed < log.deducted ? taken.owed : log.deducted
  differences.compare({ subject, what: 'owed by the ledger', expected: owed, found: log.owed })
  const due = log.byok ? ZERO : deductible(amount)
  // Older releases waived what exceeded the monthly cap: their capped calls owe nothing and charged less than was due.
  const isForgiven = log.capped && log.owed === ZERO && log.deducted < due
  const expected = isForgiven ? log.deducted : due
  differences.compare({ subject, what: 'deducted by the amount', expected, found: log.deducted })
}

function amountOf({ recipe }: CallLogRow): MicroCredits | undefined {
  if (recipe === undefined) return ZERO
  try {
    return recomputeAmount(recipe)
  } catch {
    // The core throws on an impossible recipe: that is the difference found.
    return undefined
  }
}

/** µCr the ledger charged for a call, and the part booked as owed. */
interface Taken {
  all: bigint
  owed: bigint
}

const NOTHING: Taken = { all: 0n, owed: 0n }

const CHARGES = ['charge', 'quota-charge', 'owed'] as const
const CORRECTIONS = ['charge-correction', 'quota-correction', 'owed-correction'] as const

async function readCharges(
  snapshot: Kysely<Schema>,
  calls: readonly string[],
): Promise<ReadonlyMap<string, Taken>> {
  const rows = await snapshot
    .selectFrom('transfers')
    .select(['transaction_id', 'kind', sql<string>`cast(sum(amount) as text)`.as('amount')])
    .where('transaction_id', 'in', calls)
    .where('kind', 'in', [...CHARGES, ...CORRECTIONS])
    .groupBy(['transaction_id', 'kind'])
    .execute()
  const taken = new Map<string, Taken>()
  for (const { transaction_id, kind, amount } of rows) {
    const sums = taken.get(transaction_id) ?? { all: 0n, owed: 0n }
    taken.set(transaction_id, sums)
    const isCorrection = CORRECTIONS.some((correction) => correction === kind)
    const signed = isCorrection ? -BigInt(amount) : BigInt(amount)
    sums.all += signed
    if (kind === 'owed' || kind === 'owed-correction') sums.owed += signed
  }
  return taken
}
