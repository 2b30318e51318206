/** The tables, read from the database itself, so that tables of later migrations are included. */
import { type Kysely, sql } from 'kysely'
import type { EngineName } from '../sql/migrations.ts'
import type { Schema } from '../sql/schema.ts'
import type { ArchiveColumn, CellKind } from './archive.ts'

export interface MovedTable {
  readonly name: string
  readonly columns: readonly ArchiveColumn[]
  /** Columns of the primary key, in its order. */
  readonly key: readonly string[]
  /** The column whose values the database assigns. */
  readonly identity: string | undefined
}

/**
 * Running instances, messages between SQLite processes and the schema's history belong to the database, not to its
 * contents.
 */
const LEFT_OUT: ReadonlySet<string> = new Set(['instances', 'changes', 'schema_migrations'])
/** Holds the check of the secret key: first, so that a different key is noticed before anything else. */
const FIRST = 'meta'

interface FoundColumn {
  readonly table: string
  readonly name: string
  readonly type: string
  /** From 1; 0: not in the primary key. */
  readonly place: bigint
  /** 1: the database assigns its values. */
  readonly given: bigint
}

interface Reference {
  readonly table: string
  readonly target: string
}

/** In an order in which every row finds those it refers to. */
export async function listTables(
  database: Kysely<Schema>,
  engine: EngineName,
): Promise<readonly MovedTable[]> {
  const [columns, references] =
    engine === 'sqlite'
      ? [await sqliteColumns(database), await sqliteReferences(database)]
      : [await postgresColumns(database), await postgresReferences(database)]
  const tables = new Map<string, FoundColumn[]>()
  for (const column of columns) {
    if (!LEFT_OUT.has(column.table)) tables.set(column.table, [...(tables.get(column.table) ?? []), column])
  }
  return ordered([...tables.keys()], references).map((name) => tableOf(name, tables.get(name) ?? []))
}

function tableOf(name: string, columns: readonly FoundColumn[]): MovedTable {
  const key = columns.filter(({ place }) => place > 0n).sort((one, other) => Number(one.place - other.place))
  if (key.length === 0) throw new Error(`the table ${name} has no primary key and cannot be moved`)
  return {
    name,
    columns: columns.map((column) => ({ name: column.name, kind: kindOf(column) })),
    key: key.map((column) => column.name),
    identity: columns.find(({ given }) => given === 1n)?.name,
  }
}

function kindOf({ table, name, type }: FoundColumn): CellKind {
  switch (type.toLowerCase()) {
    case 'text':
      return 'text'
    case 'integer':
    case 'bigint':
      return 'integer'
    default:
      throw new Error(`${table}.${name} has the type ${type}, which cannot be moved`)
  }
}

/** Each after those it refers to; the schema has no cycles. */
function ordered(names: readonly string[], references: readonly Reference[]): readonly string[] {
  const waiting = new Set(
    names.toSorted((one, other) => Number(other === FIRST) - Number(one === FIRST) || (one < other ? -1 : 1)),
  )
  const done: string[] = []
  while (waiting.size > 0) {
    const next = [...waiting].find((name) =>
      references.every(({ table, target }) => table !== name || target === name || !waiting.has(target)),
    )
    if (next === undefined) throw new Error(`these tables refer to each other: ${[...waiting].join(', ')}`)
    waiting.delete(next)
    done.push(next)
  }
  return done
}

async function sqliteColumns(database: Kysely<Schema>): Promise<readonly FoundColumn[]> {
  const { rows } = await sql<FoundColumn>`
    select t.name as "table", c.name as name, c.type as type, c.pk as place,
      case when c.pk = 1 and t.sql like '%autoincrement%' then 1 else 0 end as given
    from sqlite_schema t join pragma_table_info(t.name) c
    where t.type = 'table' and t.name not like 'sqlite\\_%' escape '\\' order by t.name, c.cid`.execute(
    database,
  )
  return rows
}

async function sqliteReferences(database: Kysely<Schema>): Promise<readonly Reference[]> {
  const { rows } = await sql<Reference>`
    select distinct t.name as "table", f."table" as target
    from sqlite_schema t join pragma_foreign_key_list(t.name) f where t.type = 'table'`.execute(database)
  return rows
}

/** A partitioned log is read and written through its parent table. */
async function postgresColumns(database: Kysely<Schema>): Promise<readonly FoundColumn[]> {
  const { rows } = await sql<FoundColumn>`
    select t.relname as "table", c.attname as name, format_type(c.atttypid, c.atttypmod) as type,
      coalesce(array_position(string_to_array(k.indkey::text, ' '), c.attnum::text), 0) as place,
      case when c.attidentity <> '' then 1 else 0 end as given
    from pg_class t
      join pg_attribute c on c.attrelid = t.oid and c.attnum > 0 and not c.attisdropped
      left join pg_index k on k.indrelid = t.oid and k.indisprimary
    where t.relnamespace = current_schema()::regnamespace and t.relkind in ('r', 'p') and not t.relispartition
    order by t.relname, c.attnum`.execute(database)
  return rows
}

async function postgresReferences(database: Kysely<Schema>): Promise<readonly Reference[]> {
  const { rows } = await sql<Reference>`
    select distinct t.relname as "table", r.relname as target
    from pg_constraint f join pg_class t on t.oid = f.conrelid join pg_class r on r.oid = f.confrelid
    where f.contype = 'f' and t.relnamespace = current_schema()::regnamespace`.execute(database)
  return rows
}
