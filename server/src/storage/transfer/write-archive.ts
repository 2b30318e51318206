/** Writes an archive from one snapshot of the database. */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import type { Writable } from 'node:stream'
import { type Kysely, sql } from 'kysely'
import type { BlobStore } from '../stores/blobs.ts'
import type { EngineName } from '../sql/migrations.ts'
import type { Schema } from '../sql/schema.ts'
import {
  ARCHIVE_FORMAT,
  ARCHIVE_VERSION,
  type ArchiveBegin,
  type ArchiveRecord,
  type ArchiveSummary,
  RowDigest,
} from './archive.ts'
import { blobKeys } from './blob-keys.ts'
import { lastId } from './identities.ts'
import { readRows } from './read-rows.ts'
import { listTables, type MovedTable } from './tables.ts'

export interface ArchiveSource {
  /** A transaction that sees one state. */
  readonly database: Kysely<Schema>
  readonly engine: EngineName
  /** Source of the stored files; undefined: they are not included. */
  readonly blobs: Pick<BlobStore, 'open'> | undefined
  /** Epoch ms. */
  readonly at: number
  readonly madeBy: string
}

/** Writes as fast as `output` accepts it; the caller ends `output`. */
export async function writeArchive(source: ArchiveSource, output: Writable): Promise<ArchiveSummary> {
  const { database, engine } = source
  const lines = new LineWriter(output)
  const begin: ArchiveBegin = {
    record: 'begin',
    format: ARCHIVE_FORMAT,
    version: ARCHIVE_VERSION,
    made_at: new Date(source.at).toISOString(),
    made_by: source.madeBy,
    schema: await schemaOf(database),
    engine,
  }
  await lines.record(begin)
  const tables: { readonly name: string; readonly rows: number; readonly digest: string }[] = []
  for (const table of await listTables(database, engine)) {
    tables.push(await writeTable(lines, source, table))
  }
  const blobs = await writeBlobs(
    lines,
    source,
    tables.map(({ name }) => name),
  )
  const rows = tables.reduce((sum, table) => sum + table.rows, 0)
  const sha256 = lines.sha256()
  await lines.record({ record: 'end', tables: tables.length, rows, blobs, sha256 })
  return { begin, tables, rows, blobs, sha256 }
}

async function schemaOf(database: Kysely<Schema>): Promise<number> {
  const { rows } = await sql<{
    version: bigint
  }>`select max(version) as version from schema_migrations`.execute(database)
  return Number(rows[0]?.version ?? 0n)
}

async function writeTable(
  lines: LineWriter,
  { database, engine }: ArchiveSource,
  table: MovedTable,
): Promise<{ readonly name: string; readonly rows: number; readonly digest: string }> {
  const { name, columns, identity } = table
  await lines.record({ record: 'table', name, columns })
  const digest = new RowDigest()
  for await (const page of readRows(database, table)) {
    for (const line of page) digest.add(line)
    await lines.text(`${page.join('\n')}\n`)
  }
  const written = { name, rows: digest.rows, digest: digest.hex() }
  const given =
    identity === undefined ? {} : { last_id: (await lastId(database, engine, { name, identity })).toString() }
  await lines.record({ record: 'end-table', ...written, ...given })
  return written
}

/** A file that was removed meanwhile is left out; its record shows that to clients. */
async function writeBlobs(
  lines: LineWriter,
  { blobs: store, database }: ArchiveSource,
  tables: readonly string[],
): Promise<number> {
  if (store === undefined) return 0
  let written = 0
  for (const key of await blobKeys(database, tables)) {
    const blob = await store.open(key)
    if (blob === undefined) continue
    await lines.record({ record: 'blob', key, media_type: blob.mediaType, bytes: blob.bytes })
    const hash = createHash('sha256')
    for await (const chunk of blob.body) {
      hash.update(chunk)
      await lines.text(`${JSON.stringify(Buffer.from(chunk).toString('base64'))}\n`)
    }
    await lines.record({ record: 'end-blob', key, sha256: hash.digest('hex') })
    written += 1
  }
  return written
}

class LineWriter {
  readonly #output: Writable
  readonly #hash = createHash('sha256')

  constructor(output: Writable) {
    this.#output = output
  }

  record(record: ArchiveRecord): Promise<void> {
    return this.text(`${JSON.stringify(record)}\n`)
  }

  /** Whole lines. */
  async text(text: string): Promise<void> {
    this.#hash.update(text)
    if (this.#output.destroyed) throw this.#output.errored ?? new Error('the archive is taken no further')
    // If the stream fails during the wait, the wait rejects.
    if (!this.#output.write(text)) await once(this.#output, 'drain')
  }

  sha256(): string {
    return this.#hash.copy().digest('hex')
  }
}
