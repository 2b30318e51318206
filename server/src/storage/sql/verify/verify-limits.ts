/**
 * Compares slots and held parts of windows with the open calls, and what a quota has used and carried over with what
 * the ledger charged to it. Other windows roll over, and their use has no other record.
 */
import { type Kysely, sql } from 'kysely'
import type { LimitState, Subject } from '../../../core/ledger/hot-rows.ts'
import { decodeLimitState } from '../calls/limit-state-row.ts'
import type { Schema } from '../schema.ts'
import type { Differences } from './differences.ts'
import type { Holds, SubjectHolds } from './holds.ts'

const PAGE_ROWS = 1_000
const NOTHING: SubjectHolds = { slots: 0n, tiers: new Map() }

export async function verifyLimits(
  snapshot: Kysely<Schema>,
  holds: Holds,
  differences: Differences,
): Promise<void> {
  const missing = new Set<Subject>(holds.subjects.keys())
  let after = ''
  for (;;) {
    const rows = await snapshot
      .selectFrom('limit_states')
      .selectAll()
      .where('subject', '>', after)
      .orderBy('subject')
      .limit(PAGE_ROWS)
      .execute()
    const last = rows.at(-1)
    if (last === undefined) break
    after = last.subject
    const states = rows.map((row) => decodeLimitState({ ...row }))
    await verifyQuotas(snapshot, states, differences)
    for (const state of states) {
      missing.delete(state.subject)
      compareSubject(state.subject, {
        expected: holds.subjects.get(state.subject) ?? NOTHING,
        found: {
          slots: BigInt(state.slots),
          tiers: new Map(state.windows.map(({ tier, held }) => [tier, held])),
        },
        differences,
      })
    }
  }
  for (const subject of missing) {
    const expected = holds.subjects.get(subject) ?? NOTHING
    compareSubject(subject, { expected, found: NOTHING, differences })
  }
}

const QUOTA = 'quota:'

async function verifyQuotas(
  snapshot: Kysely<Schema>,
  states: readonly LimitState[],
  differences: Differences,
): Promise<void> {
  const quotas = states.filter(({ subject, windows }) => subject.startsWith(QUOTA) && windows.length > 0)
  if (quotas.length === 0) return
  const charged = await readQuotaCharges(
    snapshot,
    quotas.map(({ subject }) => subject.slice(QUOTA.length)),
  )
  for (const { subject, windows } of quotas) {
    const most = charged.get(subject.slice(QUOTA.length)) ?? 0n
    for (const { tier, used, carry } of windows) {
      const found = used.toString()
      if (used > most)
        differences.add({
          subject,
          what: `used in ${tier}`,
          expected: `at most ${most}, by the ledger`,
          found,
        })
      if (carry !== undefined && (carry.carried < 0n || carry.carried > used))
        differences.add({
          subject,
          what: `carried over in ${tier}`,
          expected: `0 to ${found}, what is used`,
          found: carry.carried.toString(),
        })
    }
  }
}

/** Account → µCr that calls charged to its quota, minus what was given back. */
async function readQuotaCharges(
  snapshot: Kysely<Schema>,
  accounts: readonly string[],
): Promise<ReadonlyMap<string, bigint>> {
  const rows = await snapshot
    .selectFrom('transfers')
    .select(['account_id', 'kind', sql<string>`cast(sum(amount) as text)`.as('amount')])
    .where('account_id', 'in', accounts)
    .where('kind', 'in', ['quota-charge', 'quota-correction'])
    .groupBy(['account_id', 'kind'])
    .execute()
  const charged = new Map<string, bigint>()
  for (const { account_id: account, kind, amount } of rows) {
    if (account === null) continue
    const sum = charged.get(account) ?? 0n
    charged.set(account, kind === 'quota-charge' ? sum + BigInt(amount) : sum - BigInt(amount))
  }
  return charged
}

function compareSubject(
  subject: Subject,
  compared: {
    readonly expected: SubjectHolds
    readonly found: SubjectHolds
    readonly differences: Differences
  },
): void {
  const { expected, found, differences } = compared
  differences.compare({ subject, what: 'slots', expected: expected.slots, found: found.slots })
  for (const tier of new Set([...expected.tiers.keys(), ...found.tiers.keys()])) {
    differences.compare({
      subject,
      what: `held in ${tier}`,
      expected: expected.tiers.get(tier) ?? 0n,
      found: found.tiers.get(tier) ?? 0n,
    })
  }
}
