/** A database that an older build left is brought to this build's schema with everything in it, and work goes on. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import {
  ACCOUNT,
  CHAIN,
  credits,
  exampleLog,
  exampleReserve,
  exampleSettle,
  KEY,
  TERMS,
} from '../../core/calls/examples.ts'
import { keyId } from '../../core/ids.ts'
import { UNLIMITED } from '../../core/limits/policy.ts'
import { exampleApiKey, INSTANCE, NOW, recover, settleTwoCredits } from '../conformance/suite.ts'
import { callOf } from '../conformance/videos.ts'
import { openEngine, openStorage } from '../open.ts'
import { MIGRATIONS } from './migrations.ts'
import type { Storage } from '../storage.ts'
import { createFreshDatabase } from '../../../test/postgres/fresh-database.ts'
import {
  CAPPED,
  CAPPED_KEY,
  CODE,
  type OldRows,
  optionsOf,
  OVER,
  putOldDatabase,
  readRows,
} from '../../../test/storage/old-database.ts'

const LATER = NOW + 60_000
const VIDEO_END = settleTwoCredits(callOf('video_1'), {
  task: { id: 'video_1', patch: { status: 'completed', progress: 100 } },
})

/** What each migration makes of what was there. */
const MIGRATED: Readonly<
  Record<number, { readonly name: string; readonly check: (storage: Storage) => Promise<void> }>
> = {
  16: {
    name: 'an instance of before is in its first epoch, and is taken over from like any other',
    check: async (storage) => {
      expect(await storage.calls.readInstances()).toEqual([
        { id: INSTANCE, epoch: 1, beats: 0, beatAt: NOW, gone: false, hasCalls: true },
      ])
      expect(await recover(storage, { at: LATER, deadBefore: LATER, leakedBefore: 0 })).toBe(2)
      expect(await storage.calls.heartbeat(INSTANCE, LATER)).toEqual({ kind: 'taken-over', epoch: 2 })
      expect(await storage.calls.settle(settleTwoCredits('running'))).toMatchObject({
        first: true,
        late: true,
      })
    },
  },
  19: {
    name: 'tasks of before are videos, and end with their calls',
    check: async (storage) => {
      const task = await storage.videos.find('video_1', KEY)
      expect(task).toMatchObject({ kind: 'video', phase: 'running' })
      expect(await storage.calls.settle(VIDEO_END)).toMatchObject({ first: true })
      expect(await storage.videos.find('video_1', KEY)).toMatchObject({
        kind: 'video',
        phase: 'ended',
        progress: 100,
      })
    },
  },
  20: {
    name: 'chains and models of before behave as those that say nothing',
    check: async (storage) => {
      const { models } = await storage.catalogue.read()
      expect([...models.values()]).toMatchObject([
        {
          surcharges: {},
          refuse: [],
          chains: [{ clientGoneGraceMs: 3_000, minBytesPerSecond: 10, capabilities: {} }],
        },
      ])
      expect(await storage.catalogue.readObservations()).toEqual([])
    },
  },
  22: {
    name: 'a code that was sent before is good once, and a session stands behind no second factor',
    check: async ({ identity: { codes, sessions } }) => {
      const from = { place: '198.51.100.7', at: NOW + 1 }
      expect(await codes.redeem(CODE.use, CODE.code, from)).toBe(true)
      expect(await codes.redeem(CODE.use, CODE.code, from)).toBe(false)
      expect(await sessions.list(ACCOUNT, NOW + 1)).toMatchObject([{ id: 'ses_1', secondFactor: false }])
    },
  },
  25: {
    name: 'nobody owes for charges that were clipped before; what lies over a cap from now on is owed',
    check: async (storage) => {
      const account = async () => storage.accounts.find(CAPPED)
      expect(await account()).toMatchObject({ owed: 0n, credits: credits(988), monthSpent: credits(12) })
      const { rows } = await storage.logs.page({ accountId: CAPPED }, { limit: 10, cursor: undefined })
      expect(rows).toMatchObject([{ amount: credits(50), deducted: credits(12), owed: 0n, capped: true }])
      await storage.accounts.patch(CAPPED, { monthlyCap: credits(24) })
      const whose = { keyId: CAPPED_KEY, accountId: CAPPED }
      await storage.calls.reserve(exampleReserve('over', whose))
      await storage.calls.settle(exampleSettle('over', OVER, { ...whose, log: exampleLog('over', whose) }))
      expect(await account()).toMatchObject({ owed: credits(38), monthSpent: credits(24) })
    },
  },
  27: {
    name: 'a model of before is as old as the database, and keeps that when it is changed',
    check: async (storage) => {
      const found = async () => [...(await storage.catalogue.read()).models.values()]
      expect(await found()).toMatchObject([{ createdAt: NOW }])
      const [model] = await found()
      if (model === undefined) throw new Error('there is no model')
      const { chains: _chains, createdAt: _createdAt, ...fields } = model
      await storage.catalogue.apply([{ kind: 'put-model', model: { ...fields, name: 'Other' } }])
      expect(await found()).toMatchObject([{ name: 'Other', createdAt: NOW }])
    },
  },
  29: {
    name: 'a key of before belongs to no session, and a session of before gets one of its own',
    check: async (storage) => {
      const before = await storage.keys.list(ACCOUNT)
      expect(before.map(({ id, sessionId }) => [id, sessionId])).toContainEqual([KEY, undefined])
      const own = { id: keyId('key_session'), hash: '9'.repeat(64), sessionId: 'ses_1', expiresAt: NOW + 9 }
      const key = { ...exampleApiKey(), ...own, status: 'enabled' } as const
      expect(await storage.keys.putForSession(key, NOW)).toBe('key_session')
      expect(await storage.keys.list(ACCOUNT)).toEqual(before)
    },
  },
  31: {
    name: 'a call of before is found by its request',
    check: async ({ logs }) => {
      const page = (filter: object) => logs.page(filter, { limit: 10, cursor: undefined })
      const { rows: all } = await page({})
      expect(all.length).toBeGreaterThan(1)
      for (const { requestId } of all) {
        const expected = all.filter((log) => log.requestId === requestId)
        expect((await page({ requestId })).rows).toEqual(expected)
      }
    },
  },
  26: {
    name: 'every price is in the currency all were in, and each call costs what it did',
    check: async (storage) => {
      const { settings, models, plans } = await storage.catalogue.read()
      expect(settings).toEqual({
        currency: 'CNY',
        creditsPerUnit: '1000',
        otherCurrencies: { USD: '7200.000000' },
        timezone: 'Asia/Shanghai',
        keyPrefix: 'sk-gateway-',
        limits: UNLIMITED,
      })
      expect([...models.values()]).toMatchObject([{ pricing: { currency: 'CNY', inputPrice: '9' } }])
      expect([...plans.values()]).toMatchObject([{ code: 'PRO', price: '199', currency: 'CNY' }])
      expect(await storage.prices.costs()).toEqual(new Map([[CHAIN, TERMS.pricing]]))
      expect(await storage.prices.find('prc_1')).toMatchObject({ pricing: TERMS.pricing })
      const { rows: calls } = await storage.logs.page({ accountId: CAPPED }, { limit: 1, cursor: undefined })
      expect(calls[0]?.recipe).toMatchObject({ creditsPerUnit: '1000', lines: [{ class: 'output' }] })
      expect(calls[0]?.recipe).not.toHaveProperty('currency')
    },
  },
}

/** Tables of before that are told otherwise since, and columns: what became of them is looked at by itself. */
const GONE = ['verification_codes']
const RETOLD = new Set(['settings.body', 'models.pricing', 'price_changes.pricing', 'chain_costs.pricing'])

const rows = Object.entries(MIGRATED).flatMap(([version, { name, check }]) =>
  (['SQLite', 'PostgreSQL'] as const).map((engine) => ({ version: Number(version), name, check, engine })),
)

test.each(rows)('on $engine, to schema $version: $name', async ({ version, check, engine }) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'sluice-old-'))
  const database = engine === 'SQLite' ? undefined : await createFreshDatabase()
  try {
    const place = { databaseUrl: database?.url, dataDir }
    expect(MIGRATIONS.map((migration) => migration.version)).toContain(version)
    const before = await putOldDatabase(place, version - 1)
    await (await openStorage(optionsOf(place))).close()
    const opened = await openEngine(optionsOf(place))
    const after = await readRows(opened)
    await opened.close()
    for (const [table, found] of before)
      if (!GONE.includes(table))
        expect(textsOf(after, table, before), table).toEqual(
          found.map((row) => textOf(keptOf(row, table))).sort(),
        )
    const storage = await openStorage(optionsOf(place))
    expect(await storage.ledger.verify()).toEqual([])
    await check(storage)
    for (const end of [settleTwoCredits('running'), VIDEO_END]) await storage.calls.settle(end)
    expect(await storage.accounts.find(ACCOUNT)).toMatchObject({ held: 0n })
    expect(await storage.ledger.verify()).toEqual([])
    await storage.close()
  } finally {
    await database?.drop()
    rmSync(dataDir, { recursive: true })
  }
})

test.each([
  ['SQLite', `update settings set body = json_set(body, '$.currency', 'USD', '$.creditsPerYuan', '7000')`],
  [
    'PostgreSQL',
    `update settings set body = (body::jsonb || '{"currency":"USD","creditsPerYuan":"7000"}')::text`,
  ],
])(
  'on %s, to schema 26, where the money was called dollars: every price is in dollars at the rate there was',
  async (engine, relabel) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'sluice-old-'))
    const database = engine === 'SQLite' ? undefined : await createFreshDatabase()
    try {
      const place = { databaseUrl: database?.url, dataDir }
      await putOldDatabase(place, 25)
      const old = await openEngine(optionsOf(place), 25)
      await sql.raw(relabel).execute(old.writer)
      await old.close()
      const storage = await openStorage(optionsOf(place))
      const { settings, models, plans } = await storage.catalogue.read()
      expect(settings).toMatchObject({ currency: 'USD', creditsPerUnit: '7000', otherCurrencies: {} })
      const [model] = [...models.values()]
      expect(model?.pricing).toMatchObject({ currency: 'USD', inputPrice: '9' })
      expect([...plans.values()]).toMatchObject([{ code: 'PRO', price: '199', currency: 'USD' }])
      expect([...(await storage.prices.costs()).values()]).toMatchObject([{ currency: 'USD' }])
      expect(await storage.prices.find('prc_1')).toMatchObject({ pricing: { currency: 'USD' } })
      // A call that ran meanwhile costs what it was begun at.
      await storage.calls.settle(settleTwoCredits('running'))
      expect(await storage.ledger.verify()).toEqual([])
      await storage.close()
    } finally {
      await database?.drop()
      rmSync(dataDir, { recursive: true })
    }
  },
)

type Row = Readonly<Record<string, bigint | string | null>>

const textOf = (row: Row): string =>
  JSON.stringify(Object.entries(row).toSorted(byName), (_, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  )

const byName = ([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number =>
  one < other ? -1 : 1

/** Rows of now, with the columns of before. */
function textsOf(after: OldRows, table: string, before: OldRows): readonly string[] {
  const columns = Object.keys(before.get(table)?.[0] ?? {})
  return (after.get(table) ?? [])
    .map((row) => Object.fromEntries(columns.map((column) => [column, row[column] ?? null])))
    .map((row) => textOf(keptOf(row, table)))
    .sort()
}

function keptOf(row: Row, table: string): Row {
  return Object.fromEntries(Object.entries(row).filter(([column]) => !RETOLD.has(`${table}.${column}`)))
}
