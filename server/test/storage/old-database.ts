/**
 * A database as an older build left it. What a used database holds is written into the tables of that time: columns and
 * tables that came later are left out, and what is stored otherwise today is told as it was told then.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import {
  CHAIN,
  credits,
  exampleLog,
  exampleReserve,
  exampleSettle,
  MODEL,
  TERMS,
} from '../../src/core/calls/examples.ts'
import { accountId, type KeyId, keyId } from '../../src/core/ids.ts'
import { isJsonObject, type JsonObject } from '../../src/core/json.ts'
import { Secret } from '../../src/core/secret.ts'
import { createAccount, exampleApiKey, INSTANCE, NOW } from '../../src/storage/conformance/suite.ts'
import { openEngine, openStorage, type OpenStorageOptions } from '../../src/storage/open.ts'
import type { SqlEngine } from '../../src/storage/sql/engine.ts'
import { parseStored } from '../../src/storage/sql/stored-json.ts'
import type { Storage } from '../../src/storage/storage.ts'
import { listTables } from '../../src/storage/transfer/tables.ts'
import { putMigratedDatabase } from './migrated-database.ts'
import { useDatabase } from './used-database.ts'

export type Cells = Readonly<Record<string, bigint | string | null>>
export type OldRows = ReadonlyMap<string, readonly Cells[]>
type Place = Pick<OpenStorageOptions, 'databaseUrl' | 'dataDir'>

/** An account whose call cost more than its cap had room for: older builds charged what there was room for. */
export const CAPPED = accountId('acc_capped')
export const CAPPED_KEY: KeyId = keyId('key_capped')
/** 50 Credits, of which 38 lie over the cap. */
export const OVER = { usage: { output: 5_000 } }
export const CODE = {
  use: { purpose: 'sign_in', target: 'owner@example.com', accountId: undefined },
  code: new Secret('123456'),
} as const

export const optionsOf = (place: Place): OpenStorageOptions => ({
  ...place,
  secretKey: new Uint8Array(32).fill(1),
  instanceId: INSTANCE,
  now: () => NOW,
  log: { warn: () => undefined },
})

/** Makes the database with migrations up to `schema`, and returns its rows. */
export async function putOldDatabase(place: Place, schema: number): Promise<OldRows> {
  const used = await readUsed()
  const engine = await openEngine(optionsOf(place), schema)
  try {
    await insertRows(engine, used)
    await sql`insert into instances (id, started_at, heartbeat_at) values (${INSTANCE}, ${NOW}, ${NOW})`.execute(
      engine.writer,
    )
    return await readRows(engine)
  } finally {
    await engine.close()
  }
}

/** Every table's rows, in the order of their texts. */
export async function readRows({ reader, name }: SqlEngine): Promise<OldRows> {
  const rows = new Map<string, readonly Cells[]>()
  for (const table of await listTables(reader, name)) {
    const found = await sql<Cells>`select * from ${sql.table(table.name)}`.execute(reader)
    rows.set(table.name, found.rows)
  }
  return rows
}

let read: Promise<OldRows> | undefined

/** Once for all tests. */
function readUsed(): Promise<OldRows> {
  read ??= makeUsed()
  return read
}

async function makeUsed(): Promise<OldRows> {
  const dataDir = mkdtempSync(join(tmpdir(), 'sluice-used-'))
  try {
    await putMigratedDatabase(dataDir)
    const options = optionsOf({ databaseUrl: undefined, dataDir })
    const storage = await openStorage(options)
    await useDatabase(storage)
    await useCap(storage)
    await usePrices(storage)
    await storage.identity.codes.put(CODE.use, CODE.code, {
      place: '192.0.2.1',
      tries: 5,
      triesElsewhere: 2,
      createdAt: NOW,
      endsAt: NOW + 600_000,
    })
    await storage.close()
    const engine = await openEngine(options)
    try {
      return asToldBefore(await readRows(engine))
    } finally {
      await engine.close()
    }
  } finally {
    rmSync(dataDir, { recursive: true })
  }
}

async function useCap(storage: Storage): Promise<void> {
  await createAccount(storage, { id: CAPPED, monthlyCap: credits(12) })
  await storage.keys.create(exampleApiKey({ id: CAPPED_KEY, accountId: CAPPED, hash: '8'.repeat(64) }))
  const whose = { keyId: CAPPED_KEY, accountId: CAPPED }
  await storage.calls.reserve(exampleReserve('clipped', whose))
  await storage.calls.settle(exampleSettle('clipped', OVER, { ...whose, log: exampleLog('clipped', whose) }))
}

/** Prices wherever there are some. */
async function usePrices(storage: Storage): Promise<void> {
  const plan = { code: 'PRO', level: 2, price: '199', currency: 'CNY', periodDays: 30, quota: [] }
  await storage.catalogue.apply([{ kind: 'put-plan', plan }])
  await storage.prices.putCost(CHAIN, TERMS.pricing)
  await storage.prices.schedule({
    id: 'prc_1',
    modelId: MODEL,
    effectiveAt: NOW + 1_000_000,
    pricing: TERMS.pricing,
    status: 'pending',
    createdAt: NOW,
    createdBy: 'somebody',
  })
}

/**
 * Nothing was owed: what lay over a cap was not charged, and the log said so. A code had one row, whoever asked for it. What
 * running calls hold was booked.
 */
function asToldBefore(rows: OldRows): OldRows {
  const told = new Map(rows)
  const change = (table: string, to: (row: Cells) => Cells | undefined) =>
    told.set(
      table,
      (rows.get(table) ?? []).map(to).filter((row) => row !== undefined),
    )
  const over = credits(38)
  change('transfers', (row) => (row['kind'] === 'owed' ? undefined : row))
  const running = (rows.get('open_calls') ?? []).filter(({ held }) => held !== 0n)
  told.set('transfers', [...(told.get('transfers') ?? []), ...running.map(bookedHold)])
  change('open_calls', (row) => ({ ...row, body: withoutMark(row['body']) }))
  change('call_logs', (row) =>
    row['call_id'] === 'clipped'
      ? { ...row, deducted: credits(12), detail: withoutOwed(row['detail']) }
      : row,
  )
  change('usage_half_hours', (row) =>
    row['account_id'] === CAPPED ? { ...row, deducted: BigInt(row['deducted'] ?? 0) - over } : row,
  )
  change('accounts', (row) => ({ ...row, owed: 0n }))
  told.set('verification_codes', rows.get('sent_codes') ?? [])
  for (const [table, column] of [
    ...PRICED,
    ['settings', 'body'],
    ['open_calls', 'terms'],
    ['call_logs', 'detail'],
  ] as const)
    told.set(
      table,
      (told.get(table) ?? []).map((row) =>
        typeof row[column] === 'string' ? { ...row, [column]: inYuan(row[column]) } : row,
      ),
    )
  return told
}

function bookedHold(call: Cells): Cells {
  const { call_id: id = null, account_id: account = null, started_at: at = null, held = null } = call
  return {
    transaction_id: id,
    sequence: 1n,
    at,
    debit: `${String(account)}/credits`,
    credit: `${String(account)}/held`,
    amount: held,
    kind: 'hold',
    reference: id,
    account_id: account,
  }
}

function withoutMark(text: bigint | string | null | undefined): string {
  const { holdIsUnbooked: _, ...body } = parseStored<JsonObject>(String(text))
  return JSON.stringify(body)
}

/** Where prices stand as JSON. */
const PRICED = [
  ['models', 'pricing'],
  ['price_changes', 'pricing'],
  ['chain_costs', 'pricing'],
] as const

/** One rate was known, that of yuan, and only the settings named a currency. */
function inYuan(text: string): string {
  const body = parseStored<JsonObject>(text)
  return JSON.stringify(toldInYuan(body, body['timezone'] === undefined))
}

function toldInYuan(body: JsonObject, isNameless: boolean): JsonObject {
  const { creditsPerUnit, otherCurrencies: _, currency, recipe, pricing, ...rest } = body
  return {
    ...rest,
    ...(currency === undefined || isNameless ? {} : { currency }),
    ...(creditsPerUnit === undefined ? {} : { creditsPerYuan: creditsPerUnit }),
    ...(isJsonObject(recipe) ? { recipe: toldInYuan(recipe, true) } : {}),
    ...(isJsonObject(pricing) ? { pricing: toldInYuan(pricing, true) } : {}),
  }
}

function withoutOwed(detail: bigint | string | null | undefined): string {
  const { owed: _, ...rest } = parseStored<JsonObject>(String(detail))
  return JSON.stringify(rest)
}

async function insertRows({ writer, name: engine }: SqlEngine, used: OldRows): Promise<void> {
  for (const { name, columns } of await listTables(writer, engine)) {
    for (const row of used.get(name) ?? []) {
      const there = columns.filter((column) => row[column.name] !== undefined)
      const names = sql.join(there.map((column) => sql.ref(column.name)))
      const cells = sql.join(there.map((column) => row[column.name] ?? null))
      await sql`insert into ${sql.table(name)} (${names}) values (${cells})`.execute(writer)
    }
  }
}
