/** Row ids assigned by the database: logs refer to them for ever, so none is assigned twice, not even after a transfer. */
import { type Kysely, sql } from 'kysely'
import type { EngineName } from '../sql/migrations.ts'
import type { Schema } from '../sql/schema.ts'

interface Identity {
  /** The table's name. */
  readonly name: string
  /** The column's name. */
  readonly identity: string
}

/** 0: none was assigned yet. */
export async function lastId(
  database: Kysely<Schema>,
  engine: EngineName,
  { name, identity }: Identity,
): Promise<bigint> {
  const { rows } = await (engine === 'sqlite'
    ? sql<{ last: bigint | null }>`select max(seq) as last from sqlite_sequence where name = ${name}`
    : sql<{ last: bigint | null }>`
        select pg_sequence_last_value(pg_get_serial_sequence(${name}, ${identity})::regclass) as last`
  ).execute(database)
  return rows[0]?.last ?? 0n
}

export async function setLastId(
  database: Kysely<Schema>,
  engine: EngineName,
  { name, identity, last }: Identity & { readonly last: bigint },
): Promise<void> {
  if (engine === 'sqlite') {
    await sql`delete from sqlite_sequence where name = ${name}`.execute(database)
    await sql`insert into sqlite_sequence (name, seq) values (${name}, ${last})`.execute(database)
    return
  }
  const first = last === 0n ? 1n : last
  await sql`
    select setval(pg_get_serial_sequence(${name}, ${identity})::regclass, ${first}, ${last !== 0n ? 'true' : 'false'}::boolean)`.execute(
    database,
  )
}
