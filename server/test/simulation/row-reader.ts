/** Rows by their ids, read past the product over a connection of one's own, so that reading costs no more than it must. */
import pg from 'pg'
import { clientConfig } from '../../src/storage/postgres/connect.ts'
import type { StoredRow } from '../../src/storage/sql/table.ts'
import { loadSqlite, type SqliteStatement } from '../../src/storage/sqlite/library.ts'

export interface RowReader {
  /** `select` ends in a column: the rows in which that is one of `ids`. */
  rows(select: string, ids: readonly string[], rest?: string): Promise<readonly StoredRow[]>
  close(): Promise<void>
}

export function openSqliteReader(path: string): RowReader {
  const { DatabaseSync } = loadSqlite()
  const database = new DatabaseSync(path, { timeout: 5_000 })
  const statements = new Map<string, SqliteStatement>()
  const prepare = (sql: string): SqliteStatement => {
    const known = statements.get(sql)
    if (known !== undefined) return known
    const statement = database.prepare(sql)
    statement.setReadBigInts(true)
    statements.set(sql, statement)
    return statement
  }
  return {
    rows: async (select, ids, rest = '') =>
      ids.length === 0
        ? []
        : prepare(`${select} in (select value from json_each(?)) ${rest}`).all(JSON.stringify(ids)),
    close: async () => database.close(),
  }
}

/** Looked up by index, whatever the planner thinks of tables that were empty when it was asked first. */
const SETTINGS = 'set plan_cache_mode = force_generic_plan; set enable_seqscan = off; set jit = off'

export async function openPostgresReader(databaseUrl: string): Promise<RowReader> {
  const config = clientConfig({ databaseUrl, statementTimeoutMs: undefined })
  const client = new pg.Client({ ...config, pipeline: true })
  await client.connect()
  await client.query(SETTINGS)
  const names = new Map<string, string>()
  return {
    async rows(select, ids, rest = '') {
      if (ids.length === 0) return []
      const text = `${select} = any($1) ${rest}`
      const name = names.get(text) ?? `read_${names.size}`
      names.set(text, name)
      const { rows } = await client.query<StoredRow & pg.QueryResultRow>({ name, text, values: [ids] })
      return rows
    },
    close: () => client.end(),
  }
}
