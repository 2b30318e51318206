/** Slots and held parts of windows against the open calls. What windows used up rolls over and has no other record. */
import type { Kysely } from 'kysely'
import type { Subject } from '../../../core/calls/hot-rows.ts'
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
    for (const row of rows) {
      const state = decodeLimitState({ ...row })
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
