/**
 * Checks members' months. What is held in one is held by open calls. What was spent also counts for the organisation's
 * account, in the same month or as owed, so members together cannot have spent more than the organisation.
 */
import { type Kysely, sql } from 'kysely'
import { memberId } from '../../../core/ids.ts'
import type { Schema } from '../schema.ts'
import { type Differences, DIFFERENCES_MAX } from './differences.ts'
import type { Holds } from './holds.ts'

const PAGE_ROWS = 500

export async function verifyMembers(
  snapshot: Kysely<Schema>,
  holds: Holds,
  differences: Differences,
): Promise<void> {
  await verifyHeld(snapshot, holds, differences)
  await verifySpent(snapshot, differences)
}

async function verifyHeld(snapshot: Kysely<Schema>, holds: Holds, differences: Differences): Promise<void> {
  const missing = new Map(holds.members)
  let after = ''
  for (;;) {
    const members = await snapshot
      .selectFrom('members')
      .select(['id', 'month_held'])
      .where('id', '>', after)
      .orderBy('id')
      .limit(PAGE_ROWS)
      .execute()
    const last = members.at(-1)
    if (last === undefined) break
    after = last.id
    for (const { id, month_held } of members) {
      const expected = holds.members.get(memberId(id)) ?? 0n
      compareHeld(differences, { id, expected, found: month_held })
      missing.delete(memberId(id))
    }
  }
  for (const [id, expected] of missing) compareHeld(differences, { id, expected, found: 0n })
}

function compareHeld(
  differences: Differences,
  { id, expected, found }: { readonly id: string; readonly expected: bigint; readonly found: bigint },
): void {
  differences.compare({ subject: `member:${id}`, what: 'month_held by open calls', expected, found })
}

async function verifySpent(snapshot: Kysely<Schema>, differences: Differences): Promise<void> {
  const { rows } = await sql<{ id: string; spent: string; most: bigint }>`
    select a.id, cast(sum(m.month_spent) as text) as spent, a.month_spent + a.owed as most
    from members m join accounts a on a.id = m.organisation_id and a.month_start = m.month_start
    group by a.id, a.month_spent, a.owed having sum(m.month_spent) > a.month_spent + a.owed
    order by a.id limit ${DIFFERENCES_MAX}`.execute(snapshot)
  const ahead = await sql<{ id: string; at: bigint; most: bigint }>`
    select m.id, m.month_start as at, a.month_start as most
    from members m join accounts a on a.id = m.organisation_id and m.month_start > a.month_start
    order by m.id limit ${DIFFERENCES_MAX}`.execute(snapshot)
  for (const { id, spent, most } of rows) {
    differences.add({
      subject: `account:${id}`,
      what: 'month_spent by its members',
      expected: `at least ${spent}`,
      found: most.toString(),
    })
  }
  for (const { id, at, most } of ahead.rows) {
    differences.add({
      subject: `member:${id}`,
      what: 'month of the organisation',
      expected: `at most ${most}`,
      found: at.toString(),
    })
  }
}
