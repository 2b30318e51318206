/** What a batch asks and writes, without a database: organisations must cost nothing where no member calls. */
import { expect, test } from 'vitest'
import { exampleReserve } from '../../core/calls/examples.ts'
import type { StoredRow } from '../sql/table.ts'
import { UsageSummer } from '../sql/usage/usage-summer.ts'
import { runHotTransaction } from './hot-transaction.ts'
import type { RoundTrip } from './round-trip.ts'

const KEY_ROW = { id: 'key_1', account_id: 'acc_1', status: 'enabled', expires_at: null, policy: null }
const ACCOUNT_ROW = {
  id: 'acc_1',
  status: 'active',
  verification: 1n,
  user_rate: '100',
  credits: 1_000_000_000n,
  held: 0n,
  balance: 0n,
  owed: 0n,
  api_deduction: 1n,
  monthly_cap: 0n,
  month_start: 0n,
  month_spent: 0n,
  month_held: 0n,
  auto_exchange: '{"enabled":false,"belowCredits":"0","step":"0"}',
  subscription: null,
  policy: '{"windows":[]}',
  byok_vendors: '[]',
}
const MEMBER_ROW = {
  id: 'mem_1',
  organisation_id: 'acc_1',
  status: 'active',
  person_status: 'active',
  monthly_cap: 50_000_000n,
  month_start: 0n,
  month_spent: 0n,
  month_held: 0n,
  policy: '{"windows":[]}',
}

/** Which statements one reservation sends, in which round trips. */
async function statementsOf(member: string | null): Promise<readonly (readonly string[])[]> {
  const rows: Readonly<Record<string, StoredRow>> = {
    'lock-accounts': ACCOUNT_ROW,
    'read-keys': { ...KEY_ROW, member_id: member },
    'read-members': MEMBER_ROW,
  }
  const trips: string[][] = []
  const make = async ({ statements }: RoundTrip) => {
    trips.push(statements.map(({ statement }) => statement.name))
    for (const sent of statements) {
      const row = rows[sent.statement.name]
      if (row !== undefined) sent.rows.push(row)
    }
  }
  const [result] = await runHotTransaction(
    { make },
    {
      operations: [exampleReserve('call_1')],
      origin: 'here',
      usage: new UsageSummer(),
      trust: 'open-calls',
    },
  )
  expect(result).toMatchObject({ outcome: { kind: 'reserved' } })
  return trips
}

const FIRST = ['begin', 'lock-open-calls', 'find-ended', 'lock-accounts', 'read-keys', 'read-limit-states']

const WRITES = ['write-accounts', 'write-limit-states', 'open-calls']

test('a call of no member’s key takes two round trips, asks for no members and writes only what changed', async () => {
  expect(await statementsOf(null)).toEqual([FIRST, [...WRITES, 'commit']])
})

test('a call of a member’s key takes one more, and writes the member', async () => {
  expect(await statementsOf('mem_1')).toEqual([
    FIRST,
    ['read-limit-states', 'read-members'],
    [...WRITES, 'write-members', 'commit'],
  ])
})
