/** Writes an archive's rows into a database of the same schema, all or none, and verifies that they are the same. */
import { type Kysely, sql, type Transaction } from 'kysely'
import type { BlobStore } from '../stores/blobs.ts'
import type { SecretBox } from '../secret-box.ts'
import { checkSecretKey } from '../sql/check-secret-key.ts'
import type { SqlEngine } from '../sql/engine.ts'
import type { EngineName } from '../sql/migrations.ts'
import type { Schema } from '../sql/schema.ts'
import {
  ArchiveDamaged,
  type ArchiveSummary,
  type ArchiveTable,
  type ArchiveTableEnd,
  type Cell,
} from './archive.ts'
import { emptyTables, isEmpty } from './empty-tables.ts'
import { setLastId } from './identities.ts'
import { liftTimeLimits } from './lift-time-limits.ts'
import type { ArchivePart } from './read-archive.ts'
import { digestOf } from './read-rows.ts'
import { listTables, type MovedTable } from './tables.ts'

export interface LoadOptions {
  readonly secrets: SecretBox
  /** What to do with existing data: `replace` removes it in the same transaction. */
  readonly present: 'refuse' | 'replace'
  /** Called when no other process can write any more; rejects if the load must not continue. */
  readonly guard: (locked: Kysely<Schema>) => Promise<void>
  /** Receives the archive's stored files; undefined: they are left out. */
  readonly blobs: Pick<BlobStore, 'put'> | undefined
}

/** The database is not empty. */
export class NotEmpty extends Error {
  constructor() {
    super('the database is not empty')
    this.name = 'NotEmpty'
  }
}

/** `parts` without the header, which determined the schema to open. */
export function loadArchive(
  { writer, name: engine }: Pick<SqlEngine, 'writer' | 'name'>,
  parts: AsyncIterable<ArchivePart>,
  options: LoadOptions,
): Promise<ArchiveSummary> {
  return writer.transaction().execute(async (transaction) => {
    await liftTimeLimits(transaction, engine)
    const tables = await listTables(transaction, engine)
    if (options.present === 'refuse' && !(await isEmpty(transaction, tables))) throw new NotEmpty()
    await emptyTables(transaction, engine, tables)
    await options.guard(transaction)
    const loading = new Loading({ transaction, engine, tables, options })
    for await (const part of parts) {
      const summary = await loading.take(part)
      if (summary !== undefined) return summary
    }
    throw new ArchiveDamaged('the backup ends in the middle')
  })
}

interface LoadParts {
  readonly transaction: Transaction<Schema>
  readonly engine: EngineName
  readonly tables: readonly MovedTable[]
  readonly options: LoadOptions
}

class Loading {
  readonly #parts: LoadParts
  readonly #loaded = new Map<string, { readonly table: MovedTable; readonly end: ArchiveTableEnd }>()
  #table: MovedTable | undefined

  constructor(parts: LoadParts) {
    this.#parts = parts
  }

  async take(part: ArchivePart): Promise<ArchiveSummary | undefined> {
    const { transaction, engine, options } = this.#parts
    switch (part.record) {
      case 'begin':
        throw new ArchiveDamaged('the backup begins twice')
      case 'table':
        this.#table = this.#place(part)
        return undefined
      case 'rows':
        await insertRows(transaction, { engine, table: this.#current(), rows: part.rows })
        return undefined
      case 'end-table':
        await this.#endTable(part)
        return undefined
      case 'blob': {
        const { key, media_type: mediaType, bytes, body } = part
        if (options.blobs === undefined) for await (const _chunk of body);
        else await options.blobs.put(key, body, { mediaType, maxBytes: bytes })
        return undefined
      }
      case 'end':
        await this.#prove()
        return part.summary
    }
  }

  #current(): MovedTable {
    if (this.#table === undefined) throw new ArchiveDamaged('the backup has rows of no table')
    return this.#table
  }

  /** The target of the rows: columns in the archive's order. */
  #place({ name, columns }: ArchiveTable): MovedTable {
    const table = this.#parts.tables.find((one) => one.name === name)
    if (table === undefined) throw new ArchiveDamaged(`the database has no table ${name}`)
    const known = columns.every(({ name: column, kind }) =>
      table.columns.some((one) => one.name === column && one.kind === kind),
    )
    if (!known || columns.length !== table.columns.length || this.#loaded.has(name))
      throw new ArchiveDamaged(`the table ${name} has other columns than in this database`)
    return { ...table, columns }
  }

  async #endTable(end: ArchiveTableEnd): Promise<void> {
    const { transaction, engine, options } = this.#parts
    const table = this.#current()
    this.#loaded.set(table.name, { table, end })
    this.#table = undefined
    if (table.identity !== undefined && end.last_id !== undefined) {
      await setLastId(transaction, engine, {
        name: table.name,
        identity: table.identity,
        last: BigInt(end.last_id),
      })
    }
    if (table.name === 'meta') await checkSecretKey(transaction, options.secrets)
  }

  /** Reads everything back and compares it with the archive's digests. */
  async #prove(): Promise<void> {
    const missing = this.#parts.tables.filter(({ name }) => !this.#loaded.has(name))
    if (missing.length > 0)
      throw new ArchiveDamaged(`the backup lacks tables: ${missing.map(({ name }) => name).join(', ')}`)
    for (const { table, end } of this.#loaded.values()) {
      const found = await digestOf(this.#parts.transaction, table)
      if (found.rows !== end.rows || found.hex() !== end.digest)
        throw new Error(`the rows of ${table.name} did not arrive as they were; nothing was kept`)
    }
  }
}

/** Few statements to keep prepared, and below SQLite's limit of parameters per statement. */
const SQLITE_ROWS = 50

async function insertRows(
  database: Kysely<Schema>,
  {
    engine,
    table,
    rows,
  }: { readonly engine: EngineName; readonly table: MovedTable; readonly rows: readonly (readonly Cell[])[] },
): Promise<void> {
  const columns = sql.join(table.columns.map(({ name }) => sql.ref(name)))
  const into = sql`insert into ${sql.table(table.name)} (${columns})`
  if (engine === 'postgres') {
    const arrays = table.columns.map(
      ({ kind }, place) =>
        sql`${rows.map((row) => row[place] ?? null)}::${sql.raw(kind === 'text' ? 'text[]' : 'bigint[]')}`,
    )
    await sql`${into} select * from unnest(${sql.join(arrays)})`.execute(database)
    return
  }
  for (let from = 0; from < rows.length; from += SQLITE_ROWS) {
    const values = rows.slice(from, from + SQLITE_ROWS).map((row) => sql`(${sql.join(row)})`)
    await sql`${into} values ${sql.join(values)}`.execute(database)
  }
}
