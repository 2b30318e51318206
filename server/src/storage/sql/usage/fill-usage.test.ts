/** An upgrade sums the calls that are in the log already, exactly as they would have been summed when they ended. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { createFreshDatabase } from '../../../../test/postgres/fresh-database.ts'
import { ACCOUNT, exampleLog, exampleSettle } from '../../../core/calls/examples.ts'
import type { CallLogRow } from '../../../core/ledger/log-row.ts'
import { instanceId } from '../../../core/ids.ts'
import { openEngine } from '../../open.ts'
import { callLogs } from '../logs/call-log-row.ts'
import { USAGE_KEY, USAGE_SUMS, usageHalfHours } from '../migrations/usage-half-hours.ts'
import { usageOfSound } from '../migrations/usage-of-sound.ts'
import type { Cell } from '../table.ts'
import { usageHalfHours as table } from './usage-row.ts'
import { UsageSummer } from './usage-summer.ts'

const LOGS: readonly CallLogRow[] = [
  settled('one', { createdAt: 1_000 }),
  settled('two', { createdAt: 1_799_999, appId: 'shop' }),
  settled('three', { createdAt: 1_800_000, appId: 'shop' }),
  settled('own', { createdAt: 1_800_001, appId: 'shop', byok: true, deducted: exampleLog('').deducted }),
  exampleLog('refused', { createdAt: 5, httpStatus: 404, model: undefined, chainId: undefined }),
  exampleLog('stranger', { createdAt: 6, accountId: undefined, keyId: undefined, httpStatus: 401 }),
  exampleLog('video', { createdAt: 7, secondsDeclared: 7.5, images: 2, vendorCode: undefined }),
  exampleLog('long', { createdAt: 8, appId: 'x'.repeat(400) }),
]

test('what an older build logged is summed on SQLite', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'sluice-usage-'))
  try {
    await fillAndCompare({ databaseUrl: undefined, dataDir })
  } finally {
    rmSync(dataDir, { recursive: true })
  }
})

test('what an older build logged is summed on PostgreSQL', async () => {
  const database = await createFreshDatabase()
  try {
    await fillAndCompare({ databaseUrl: database.url, dataDir: '/nonexistent' })
  } finally {
    await database.drop()
  }
})

async function fillAndCompare(place: {
  readonly databaseUrl: string | undefined
  readonly dataDir: string
}): Promise<void> {
  const options = {
    ...place,
    secretKey: new Uint8Array(32).fill(1),
    instanceId: instanceId('instance_1'),
    now: () => 0,
    log: { warn: () => {} },
  }
  const before = await openEngine(options, usageHalfHours.version - 1)
  try {
    const columns = sql.raw(Object.keys(callLogs.columns).join(', '))
    for (const log of LOGS) {
      await sql`insert into call_logs (${columns}) values (${sql.join(callLogs.encode(log))})`.execute(
        before.writer,
      )
    }
  } finally {
    await before.close()
  }
  const after = await openEngine(options, usageOfSound.version)
  try {
    const names = Object.keys(table.columns)
    const { rows } = await sql<Readonly<Record<string, Cell>>>`
      select ${sql.raw(names.join(', '))} from usage_half_hours`.execute(after.reader)
    const expected = new UsageSummer().sum(LOGS).map((row) => table.encode(row))
    const shown = (cells: readonly Cell[]) => cells.map((cell) => String(cell)).join(' ')
    const lane = USAGE_KEY.indexOf('lane')
    const spread = (cells: readonly Cell[]) => cells.map((cell, index) => (index === lane ? 0 : cell))
    expect(rows.map((row) => shown(names.map((name) => row[name] ?? null))).sort()).toEqual(
      expected.map((cells) => shown(spread(cells))).sort(),
    )
    expect(rows).toHaveLength(7)
    expect(names).toEqual([...USAGE_KEY, 'vendor_code', ...USAGE_SUMS])
  } finally {
    await after.close()
  }
}

function settled(id: string, changes: Partial<CallLogRow>): CallLogRow {
  const { log, recipe, amount } = exampleSettle(id, { usage: { input: 1_000, cachedInput: 7, output: 100 } })
  return { ...log, recipe, amount, deducted: amount, accountId: ACCOUNT, ...changes }
}
