/** What only PostgreSQL has: one table of the log a month. */
import pg from 'pg'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createFreshDatabase, type FreshDatabase } from '../../../test/postgres/fresh-database.ts'
import { exampleLog } from '../../core/calls/examples.ts'
import { instanceId } from '../../core/ids.ts'
import { openStorage } from '../open.ts'

const JANUARY = Date.UTC(2026, 0, 20)
const MARCH = Date.UTC(2026, 2, 2)

let database: FreshDatabase
let client: pg.Client
beforeEach(async () => {
  database = await createFreshDatabase()
  client = new pg.Client({ connectionString: database.url })
  await client.connect()
})
afterEach(async () => {
  await client.end()
  await database.drop()
})

const open = (name: string) =>
  openStorage({
    databaseUrl: database.url,
    dataDir: '/nonexistent',
    secretKey: new Uint8Array(32).fill(1),
    instanceId: instanceId(name),
    now: () => JANUARY,
    log: { warn: () => undefined },
  })

async function tables(): Promise<Record<string, number>> {
  const { rows } = await client.query<{ name: string }>(
    "select inhrelid::regclass::text as name from pg_inherits where inhparent = 'call_logs'::regclass order by 1",
  )
  const counts: Record<string, number> = {}
  for (const { name } of rows) {
    const counted = await client.query<{ count: string }>(`select count(*) from ${name}`)
    counts[name] = Number(counted.rows[0]?.count)
  }
  return counts
}

test('a row that is being written while the table of its month is made is in that table afterwards', async () => {
  const storage = await open('one')
  await storage.calls.log({ log: exampleLog('before', { createdAt: JANUARY }) })
  await client.query('begin')
  await client.query(
    `insert into call_logs (call_id, request_id, created_at, ended_at, http_status, amount, deducted, detail)
     values ('meanwhile', 'meanwhile', $1, $1, 200, 0, 0, '{}')`,
    [JANUARY],
  )
  const made = storage.logs.keep({ at: JANUARY, keepSince: undefined })
  await vi.waitFor(async () => {
    const { rows } = await client.query(
      `select 1 from pg_locks join pg_database on pg_database.oid = pg_locks.database
       where datname = current_database() and not granted`,
    )
    expect(rows).toHaveLength(1)
  })
  await client.query('commit')
  await made
  expect(await tables()).toEqual({ call_logs_2026_01: 2, call_logs_2026_02: 0, call_logs_rest: 0 })
  await storage.close()
})

test('months are made ahead, filled by their rows, and dropped whole', async () => {
  const [one, other] = await Promise.all([open('one'), open('other')])
  // A row of a month nobody made a table for.
  await one.calls.log({ log: exampleLog('early', { createdAt: JANUARY }) })
  expect(await tables()).toEqual({ call_logs_rest: 1 })
  await Promise.all([one, other].map((each) => each.logs.keep({ at: JANUARY, keepSince: undefined })))
  expect(await tables()).toEqual({ call_logs_2026_01: 1, call_logs_2026_02: 0, call_logs_rest: 0 })
  await one.calls.log({ log: exampleLog('late', { createdAt: MARCH }) })
  expect(await one.logs.keep({ at: MARCH, keepSince: Date.UTC(2026, 1, 1) })).toBe(1)
  expect(await tables()).toEqual({
    call_logs_2026_02: 0,
    call_logs_2026_03: 1,
    call_logs_2026_04: 0,
    call_logs_rest: 0,
  })
  await Promise.all([one.close(), other.close()])
})
