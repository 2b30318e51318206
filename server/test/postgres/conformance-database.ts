/**
 * One PostgreSQL database for many tests, one after the other: the rows go and the tables stay, at a tenth of what making
 * them anew costs.
 */
import pg from 'pg'
import { newestSchema } from '../../src/storage/sql/migrate.ts'
import { migrateDatabase } from '../storage/migrated-database.ts'
import { createFreshDatabase } from './fresh-database.ts'

export interface ConformanceDatabase {
  readonly url: string
  /** `empty`: as before the first start. `migrated`: all tables, no rows. Nobody else may be connected. */
  bringTo(state: 'empty' | 'migrated'): Promise<void>
  /** The column `text` of every row. */
  query(sql: string): Promise<readonly string[]>
  /** Every row of every table. */
  dump(): Promise<string>
  close(): Promise<void>
}

const RELATIONS = `select relname || ' ' || relkind::text as text from pg_class
  where relnamespace = 'public'::regnamespace order by 1`

/** Without what refuses to forget and what refers to something; the history of the schema is part of the tables. */
const DELETE_ROWS = `do $$ declare name text; begin
    set local session_replication_role = replica;
    for name in select oid::regclass from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'
      and relname <> 'schema_migrations' loop execute 'delete from ' || name; end loop;
    delete from schema_migrations where version > ${newestSchema()};
    for name in select oid::regclass from pg_class where relnamespace = 'public'::regnamespace and relkind = 'S'
      loop perform setval(name, 1, false); end loop;
  end $$`

export async function openConformanceDatabase(): Promise<ConformanceDatabase> {
  const database = await createFreshDatabase()
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  const query = async (sql: string) => {
    const { rows } = await client.query<{ text: string }>(sql)
    return (rows ?? []).map(({ text }) => text)
  }
  /** What the migrations made. */
  let relations = ''
  const readRelations = async () => (await query(RELATIONS)).join('\n')

  async function makeAnew(): Promise<void> {
    await query('drop schema public cascade; create schema public')
    await migrateDatabase({ databaseUrl: database.url, dataDir: '/nonexistent' })
    relations = await readRelations()
  }

  return {
    url: database.url,
    query,
    async bringTo(state) {
      if (state === 'empty') {
        await query('drop schema public cascade; create schema public')
        return
      }
      // A test may have made or dropped the place of a month.
      if ((await readRelations()) !== relations || relations === '') await makeAnew()
      else await query(DELETE_ROWS)
    },
    async dump() {
      const tables = await query("select tablename as text from pg_tables where schemaname = 'public'")
      const parts: string[] = []
      for (const table of tables) {
        parts.push(table, ...(await query(`select t::text as text from "${table}" t order by 1`)))
      }
      return parts.join('\n')
    },
    async close() {
      await client.end()
      await database.drop()
    },
  }
}
