/** The time since which the log is complete: kept in the database, because another process may have shortened it. */
import { type Kysely, sql } from 'kysely'
import type { Schema } from '../schema.ts'

const NAME = 'log_kept_since'

/** Call before removing rows. It never moves back, even if a longer retention is chosen later. */
export async function noteKeptSince(writer: Kysely<Schema>, keepSince: number): Promise<void> {
  await sql`
    insert into meta (name, value) values (${NAME}, ${String(keepSince)})
    on conflict (name) do update set value = excluded.value
      where cast(meta.value as bigint) < cast(excluded.value as bigint)`.execute(writer)
}

/** 0: nothing was ever removed. */
export async function readKeptSince(reader: Kysely<Schema>): Promise<number> {
  const row = await reader.selectFrom('meta').select('value').where('name', '=', NAME).executeTakeFirst()
  return Number(row?.value ?? 0)
}
