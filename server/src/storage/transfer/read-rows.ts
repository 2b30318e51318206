/** The rows of a table, page by page in order of its primary key, within the caller's transaction. */
import { type Kysely, sql } from 'kysely'
import type { Schema } from '../sql/schema.ts'
import { type Cell, encodeRow, RowDigest } from './archive.ts'
import type { MovedTable } from './tables.ts'

/** Rows differ from a few bytes to a whole conversation: pages grow and shrink to stay below this. */
const PAGE_CHARACTERS = 4_000_000
const PAGE_ROWS_FIRST = 100
const PAGE_ROWS_MAX = 2_000

/** Encoded rows, in the order of `table.columns`. */
export async function* readRows(
  database: Kysely<Schema>,
  table: MovedTable,
): AsyncGenerator<readonly string[]> {
  const columns = sql.join(table.columns.map(({ name }) => sql.ref(name)))
  const key = sql.join(table.key.map((name) => sql.ref(name)))
  let after: readonly Cell[] | undefined
  let limit = PAGE_ROWS_FIRST
  for (;;) {
    const following = after === undefined ? sql`` : sql`where (${key}) > (${sql.join(after)})`
    const { rows } = await sql<Readonly<Record<string, Cell>>>`
      select ${columns} from ${sql.table(table.name)} ${following} order by ${key} limit ${limit}`.execute(
      database,
    )
    const lines = rows.map((row) => encodeRow(table.columns.map(({ name }) => row[name] ?? null)))
    if (lines.length > 0) yield lines
    const last = rows.at(-1)
    if (last === undefined || rows.length < limit) return
    after = table.key.map((name) => last[name] ?? null)
    limit = nextLimit(limit, lines)
  }
}

function nextLimit(limit: number, lines: readonly string[]): number {
  const characters = lines.reduce((sum, line) => sum + line.length, 0)
  const fitting = Math.floor((limit * PAGE_CHARACTERS) / Math.max(1, characters))
  return Math.max(1, Math.min(PAGE_ROWS_MAX, limit * 2, fitting))
}

/** The digest of a table's present rows. */
export async function digestOf(database: Kysely<Schema>, table: MovedTable): Promise<RowDigest> {
  const digest = new RowDigest()
  for await (const lines of readRows(database, table)) for (const line of lines) digest.add(line)
  return digest
}
