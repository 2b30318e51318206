import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { SqlEngine } from '../sql/engine.ts'
import { createUsageStore } from '../sql/customers/usage.ts'
import { createLogStore } from '../sql/logs/logs.ts'
import { openSqlite } from './engine.ts'

const HOUR_MS = 3_600_000

let folder: string
let engine: SqlEngine

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-engine-'))
  engine = await openSqlite({ path: join(folder, 'sluice.db'), now: () => 0, log: { warn: () => {} } })
})
afterEach(async () => {
  await engine.close()
  rmSync(folder, { recursive: true })
})

const page = (options: { readonly bulk?: true } = {}) =>
  createLogStore(engine).page({}, { limit: 1, cursor: undefined, ...options })

test('a page of the log does not wait for a read that takes long', async () => {
  await engine.bulkReader.transaction().execute(async () => {
    expect(await page()).toEqual({ rows: [], next: undefined })
  })
})

test('sums and exports do not use the connection of short reads', async () => {
  await engine.reader.transaction().execute(async () => {
    expect(await page({ bulk: true })).toEqual({ rows: [], next: undefined })
    const usage = createUsageStore({ engine, now: () => 0 })
    const question = { accountId: undefined, keyId: undefined, groups: [], bucketMs: HOUR_MS, rowsMax: 1 }
    expect(await usage.sums({ ...question, from: 0, until: HOUR_MS })).toEqual([])
  })
})

test('a read that takes long sees what was committed, and changes nothing', async () => {
  await engine.writer.insertInto('meta').values({ name: 'probe', value: 'yes' }).execute()
  const read = engine.bulkReader.selectFrom('meta').select('value').where('name', '=', 'probe')
  expect(await read.execute()).toEqual([{ value: 'yes' }])
  await expect(sql`delete from meta`.execute(engine.bulkReader)).rejects.toThrow('readonly')
})
