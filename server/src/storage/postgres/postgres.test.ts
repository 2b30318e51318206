import pg from 'pg'
import { afterAll } from 'vitest'
import { createFreshDatabase, type FreshDatabase } from '../../../test/postgres/fresh-database.ts'
import { INSTANCE, NOW } from '../conformance/suite.ts'
import { openStorage } from '../open.ts'
import { describeStorage } from '../storage.conformance.ts'

let shared: FreshDatabase | undefined
afterAll(() => shared?.drop())

describeStorage('PostgreSQL', async () => {
  // One database emptied between tests costs a tenth of a new one for each.
  shared ??= await createFreshDatabase()
  const { url } = shared
  return {
    open: ({ instanceId = INSTANCE, secretKeyByte = 1, now = NOW } = {}) =>
      openStorage({
        databaseUrl: url,
        dataDir: '/nonexistent',
        secretKey: new Uint8Array(32).fill(secretKeyByte),
        instanceId,
        now: () => now,
        log: { warn: () => {} },
      }),
    execute: async (sql) => {
      await query(url, sql)
    },
    dump: () => dumpTables(url),
    remove: async () => {
      await query(url, 'drop schema public cascade; create schema public')
    },
  }
})

async function dumpTables(url: string): Promise<string> {
  const tables = await query(url, "select tablename as text from pg_tables where schemaname = 'public'")
  const parts: string[] = []
  for (const table of tables) {
    parts.push(table, ...(await query(url, `select t::text as text from "${table}" t order by 1`)))
  }
  return parts.join('\n')
}

async function query(url: string, sql: string): Promise<readonly string[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const results = await client.query<{ text: string }>(sql)
    return (results.rows ?? []).map(({ text }) => text)
  } finally {
    await client.end()
  }
}
