/** A database in which everything has happened once, and what any database holds, told without the store. */
import pg from 'pg'
import { ACCOUNT, CHAIN, credits, exampleReserve, KEY, MODEL, VENDOR } from '../../src/core/calls/examples.ts'
import { Secret } from '../../src/core/secret.ts'
import { type Policy, UNLIMITED } from '../../src/core/limits/policy.ts'
import {
  createAccount,
  exampleApiKey,
  exampleGrant,
  INSTANCE,
  NOW,
  settleTwoCredits,
} from '../../src/storage/conformance/suite.ts'
import {
  createTeam,
  join,
  memberKey,
  PERSON_MEMBER,
  TEAM,
} from '../../src/storage/conformance/organisations.ts'
import { exampleTask } from '../../src/storage/conformance/videos.ts'
import { loadSqlite, type SqliteDatabase } from '../../src/storage/sqlite/library.ts'
import type { Storage } from '../../src/storage/storage.ts'
import { sampleCatalogue, sampleChain, sampleModel, sampleVendor } from '../management/sample-catalogue.ts'

export const USED_BLOB = 'videos/video_1.mp4'
/** Four calls a minute: three are used, two of those still run. */
const USED_POLICY: Policy = { concurrency: 3, windows: [{ dimension: 'requests', limit: 4, seconds: 60 }] }

/** Calls that ended, run and failed; holds, windows, a subscription, a task, a conversation, sessions and acts. */
export async function useDatabase(storage: Storage): Promise<void> {
  await storage.catalogue.apply([
    { kind: 'put-settings', settings: sampleCatalogue({}).settings },
    { kind: 'put-vendor', vendor: sampleVendor('openai') },
    {
      kind: 'put-credential',
      vendorCode: VENDOR,
      name: 'main',
      secret: { secret: new Secret('upstream-secret'), fields: {} },
      limits: UNLIMITED,
      status: 'enabled',
    },
    { kind: 'put-model', model: sampleModel(MODEL, []) },
    { kind: 'put-chain', chain: sampleChain(1, MODEL, 'openai'), credentialName: 'main' },
  ])
  await createAccount(storage, { email: 'owner@example.com', passwordHash: '$argon2id$x', role: 'admin' })
  await storage.keys.create(exampleApiKey({ policy: USED_POLICY }))
  // More µCr than a number can tell apart.
  for (let part = 0; part < 10; part++) {
    const amount = credits(1_000_000_000)
    await storage.ledger.book([exampleGrant(ACCOUNT, { transactionId: `large_${part}`, amount })])
  }
  await storage.calls.reserve(exampleReserve('ended'))
  await storage.calls.settle(settleTwoCredits('ended'))
  await storage.calls.reserve(exampleReserve('running'))
  await storage.accounts.putByok(
    ACCOUNT,
    VENDOR,
    { secret: new Secret('upstream-secret'), fields: {} },
    { enabled: true },
  )
  await useTeam(storage)
  await subscribe(storage)
  await createTask(storage)
  await storage.turns.put([
    {
      keyId: KEY,
      responseId: 'resp_1',
      previousId: undefined,
      modelId: MODEL,
      createdAt: NOW,
      expiresAt: NOW + 1_000_000,
      content: { kind: 'kept', body: '{"input":["a secret plan \u0000 \u{1f408}"]}' },
    },
  ])
  await storage.identity.sessions.create(
    {
      id: 'ses_1',
      accountId: ACCOUNT,
      method: 'password',
      createdAt: NOW,
      seenAt: NOW,
      idleEndsAt: NOW + 100,
      endsAt: NOW + 1000,
      userAgent: 'a browser "quoted"\\',
      address: '192.0.2.1',
      impersonator: undefined,
      openedFrom: undefined,
      secondFactor: false,
      place: '192.0.2.1',
    },
    'a'.repeat(64),
  )
  for (const field of ['user_rate', 'status']) {
    await storage.audit.record({
      at: NOW,
      actor: { accountId: ACCOUNT, name: 'owner', sessionId: 'ses_1', address: '::1', requestId: undefined },
      action: 'account.change',
      subject: ACCOUNT,
      changes: [{ field, from: '100', to: '90' }],
    })
  }
}

/** An organisation, a member of which calls. */
async function useTeam(storage: Storage): Promise<void> {
  await createTeam(storage)
  await join(storage)
  await storage.organisations.patchMember(PERSON_MEMBER, { monthlyCap: credits(100) })
  await storage.ledger.book([exampleGrant(TEAM, { amount: credits(100) })])
  const key = memberKey('key_team', { hash: '7'.repeat(64) })
  await storage.keys.create(key)
  const whose = { keyId: key.id, accountId: TEAM }
  await storage.calls.reserve(exampleReserve('ended_of_team', whose))
  await storage.calls.settle(settleTwoCredits('ended_of_team', whose))
  await storage.calls.reserve(exampleReserve('running_of_team', whose))
}

function subscribe(storage: Storage): Promise<unknown> {
  const expiresAt = NOW + 100_000
  return storage.customers.acts.perform<never>({
    accountId: ACCOUNT,
    operation: 'subscribe',
    idempotency: { key: 'k', fingerprint: 'f' },
    at: NOW,
    decide: () => ({
      kind: 'done',
      transfers: [],
      subscription: { plan: 'PRO', level: 2, expiresAt, quota: [{ credits: credits(50), seconds: 60 }] },
      answer: { done: true },
    }),
  })
}

/** A task that runs: its call is open and holds Credits. */
async function createTask(storage: Storage): Promise<void> {
  const changes = {
    phase: 'running',
    chainId: CHAIN,
    vendorCode: VENDOR,
    prompt: 'a \0 cat',
    blob: USED_BLOB,
  } as const
  const task = exampleTask('video_1', changes)
  await storage.calls.reserve(exampleReserve(task.callId))
  await storage.videos.create(task, undefined, { instance: INSTANCE, until: NOW + 30_000 })
}

/** Every table's rows as texts, in an order of their own; what belongs to a database and not to its contents is left out. */
export type Contents = Readonly<Record<string, readonly string[]>>

const LEFT_OUT = ['changes', 'instances', 'schema_migrations']

export function sqliteContents(file: string): Contents {
  const { DatabaseSync } = loadSqlite()
  const database = new DatabaseSync(file, { timeout: 5_000 })
  try {
    const tables = database
      .prepare(
        "select name from sqlite_schema where type = 'table' and name not like 'sqlite%' order by name",
      )
      .all()
    return contentsOf(
      tables.map((row) => {
        const name = String(row['name'])
        const statement = database.prepare(`select * from "${name}"`)
        statement.setReadBigInts(true)
        return [name, statement.all()]
      }),
    )
  } finally {
    database.close()
  }
}

export async function postgresContents(url: string): Promise<Contents> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const tables = await client.query<{ name: string }>(
      `select relname as name from pg_class where relkind in ('r', 'p') and not relispartition
         and relnamespace = 'public'::regnamespace order by 1`,
    )
    const read: [string, readonly Row[]][] = []
    for (const { name } of tables.rows)
      read.push([name, (await client.query<Row>(`select * from "${name}"`)).rows])
    return contentsOf(read)
  } finally {
    await client.end()
  }
}

type Row = Readonly<Record<string, string | bigint | number | null>>

function contentsOf(tables: readonly (readonly [string, readonly Row[]])[]): Contents {
  return Object.fromEntries(
    tables
      .filter(([name]) => !LEFT_OUT.includes(name))
      .map(([name, rows]) => [name, rows.map(textOf).toSorted()]),
  )
}

function textOf(row: Row): string {
  const cells = Object.entries(row).toSorted(([one], [other]) => (one < other ? -1 : 1))
  return JSON.stringify(cells.map(([name, value]) => [name, value === null ? null : String(value)]))
}

/** Puts a row into every table of a SQLite file that has none, whatever it is for: a table of tomorrow is moved too. */
export function fillEmptyTables(file: string): void {
  const { DatabaseSync } = loadSqlite()
  const database = new DatabaseSync(file, { timeout: 5_000 })
  try {
    for (const name of emptyTables(database, file)) {
      const columns = database.prepare(`select name, type from pragma_table_info('${name}')`).all()
      const parents = parentsOf(database, name)
      const values = columns.map(({ name: column, type }) => {
        const parent = parents.find(({ source }) => source === column)
        if (parent !== undefined) return `(select "${parent.place}" from "${parent.target}" limit 1)`
        return String(type).toLowerCase() === 'text' ? "'x'" : '9007199254740993'
      })
      database.exec(`insert into "${name}" values (${values.join(', ')})`)
    }
  } finally {
    database.close()
  }
}

/** Each after those it refers to. */
function emptyTables(database: SqliteDatabase, file: string): readonly string[] {
  const waiting = new Set(
    Object.entries(sqliteContents(file)).flatMap(([table, rows]) => (rows.length === 0 ? [table] : [])),
  )
  const ordered: string[] = []
  while (waiting.size > 0) {
    const next = [...waiting].find(
      (name) => !parentsOf(database, name).some(({ target }) => waiting.has(target)),
    )
    if (next === undefined) throw new Error('tables refer to each other')
    waiting.delete(next)
    ordered.push(next)
  }
  return ordered
}

function parentsOf(database: SqliteDatabase, table: string) {
  return database
    .prepare(
      `select "from" as source, "table" as target, "to" as place from pragma_foreign_key_list('${table}')`,
    )
    .all()
    .map((row) => ({
      source: String(row['source']),
      target: String(row['target']),
      place: String(row['place']),
    }))
}
