/**
 * Empties a database within a transaction, although triggers protect its ledger and its audit log from other deletions.
 */
import { type Kysely, sql } from 'kysely'
import type { EngineName } from '../sql/migrations.ts'
import type { Schema } from '../sql/schema.ts'
import type { MovedTable } from './tables.ts'

/** A new database contains only the check of its secret key. */
const ALWAYS_THERE = 'meta'

export async function isEmpty(database: Kysely<Schema>, tables: readonly MovedTable[]): Promise<boolean> {
  for (const { name } of tables) {
    if (name === ALWAYS_THERE) continue
    const { rows } = await sql`select 1 as found from ${sql.table(name)} limit 1`.execute(database)
    if (rows.length > 0) return false
  }
  return true
}

export async function emptyTables(
  database: Kysely<Schema>,
  engine: EngineName,
  tables: readonly MovedTable[],
): Promise<void> {
  if (engine === 'postgres') {
    for (const { name } of tables)
      await sql`alter table ${sql.table(name)} disable trigger user`.execute(database)
    await sql`truncate ${sql.join(tables.map(({ name }) => sql.table(name)))}`.execute(database)
    for (const { name } of tables)
      await sql`alter table ${sql.table(name)} enable trigger user`.execute(database)
    return
  }
  const triggers = await sql<{ name: string; text: string }>`
    select name, sql as text from sqlite_schema where type = 'trigger'`.execute(database)
  for (const { name } of triggers.rows) await sql`drop trigger ${sql.ref(name)}`.execute(database)
  for (const { name } of tables.toReversed()) await sql`delete from ${sql.table(name)}`.execute(database)
  for (const { text } of triggers.rows) await sql.raw(text).execute(database)
}
