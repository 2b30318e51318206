/** Reads an archive part by part and checks everything: form, counts, digests, and the final hash. */
import { createHash, type Hash } from 'node:crypto'
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts'
import {
  ARCHIVE_FORMAT,
  ARCHIVE_VERSION,
  type ArchiveBegin,
  type ArchiveColumn,
  ArchiveDamaged,
  type ArchiveEnd,
  type ArchiveSummary,
  type ArchiveTable,
  type ArchiveTableEnd,
  type Cell,
  RowDigest,
} from './archive.ts'
import { readLines } from './read-lines.ts'

export type ArchivePart =
  | ArchiveBegin
  | ArchiveTable
  /** Rows of the current table, in the order of its columns. */
  | { readonly record: 'rows'; readonly rows: readonly (readonly Cell[])[] }
  | ArchiveTableEnd
  /** `body` must be read before the next part is requested. */
  | {
      readonly record: 'blob'
      readonly key: string
      readonly media_type: string
      readonly bytes: number
      readonly body: AsyncIterable<Uint8Array>
    }
  | { readonly record: 'end'; readonly summary: ArchiveSummary }

const ROWS_AT_ONCE = 1_000
const CHARACTERS_AT_ONCE = 4_000_000

/** Ends with the part `end`, or throws `ArchiveDamaged`. */
export async function* readArchive(source: AsyncIterable<Uint8Array>): AsyncGenerator<ArchivePart> {
  const lines = new HashedLines(source)
  const begin = beginOf(await lines.next())
  yield begin
  const tables: ArchiveTableEnd[] = []
  let blobs = 0
  for (;;) {
    const record = recordOf(await lines.next())
    const kind = record['record']
    if (kind === 'end') {
      yield { record: 'end', summary: summaryOf(lines, record, { begin, tables, blobs }) }
      return
    }
    if (kind === 'table') {
      const table = tableOf(record)
      yield table
      const end = yield* readTable(lines, table)
      tables.push(end)
      yield end
    } else if (kind === 'blob') {
      yield* readBlob(lines, record)
      blobs += 1
    } else throw new ArchiveDamaged(`line ${lines.number} does not belong in a backup`)
  }
}

async function* readTable(
  lines: HashedLines,
  table: ArchiveTable,
): AsyncGenerator<ArchivePart, ArchiveTableEnd> {
  const digest = new RowDigest()
  let rows: (readonly Cell[])[] = []
  let characters = 0
  for (;;) {
    const line = await lines.next()
    if (!line.startsWith('[')) {
      if (rows.length > 0) yield { record: 'rows', rows }
      return tableEndOf(recordOf(line), table, digest)
    }
    digest.add(line)
    rows.push(rowOf(line, table))
    characters += line.length
    if (rows.length === ROWS_AT_ONCE || characters > CHARACTERS_AT_ONCE) {
      yield { record: 'rows', rows }
      rows = []
      characters = 0
    }
  }
}

async function* readBlob(lines: HashedLines, record: JsonObject): AsyncGenerator<ArchivePart> {
  const key = textIn(record, 'key')
  const hash = createHash('sha256')
  let end: JsonObject | undefined
  async function* body(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const line = await lines.next()
      if (line.startsWith('{')) {
        end = recordOf(line)
        return
      }
      const chunk = Buffer.from(textOf(parse(line)), 'base64')
      hash.update(chunk)
      yield chunk
    }
  }
  yield {
    record: 'blob',
    key,
    media_type: textIn(record, 'media_type'),
    bytes: countIn(record, 'bytes'),
    body: body(),
  }
  if (end === undefined) throw new Error(`the file ${key} was not read to its end`)
  if (end['record'] !== 'end-blob' || textIn(end, 'sha256') !== hash.digest('hex'))
    throw new ArchiveDamaged(`the file ${key} was changed`)
}

function beginOf(line: string): ArchiveBegin {
  // Other errors do not mean a damaged archive.
  if (!line.startsWith('{"record":"begin"'))
    throw new ArchiveDamaged('this is no backup made by sluice backup')
  const record = recordOf(line)
  const { engine, format } = record
  const version = countIn(record, 'version')
  if (format !== ARCHIVE_FORMAT || (engine !== 'sqlite' && engine !== 'postgres'))
    throw new ArchiveDamaged('this is no backup made by sluice backup')
  if (version > ARCHIVE_VERSION)
    throw new ArchiveDamaged(
      `the backup has form ${version}, this build of Sluice reads up to ${ARCHIVE_VERSION}: use the newer one`,
    )
  return {
    record: 'begin',
    format: ARCHIVE_FORMAT,
    version,
    made_at: textIn(record, 'made_at'),
    made_by: textIn(record, 'made_by'),
    schema: countIn(record, 'schema'),
    engine,
  }
}

function tableOf(record: JsonObject): ArchiveTable {
  const columns = listOf(record['columns'])
  if (columns === undefined) throw new ArchiveDamaged('a table has no columns')
  return { record: 'table', name: textIn(record, 'name'), columns: columns.map(columnOf) }
}

function columnOf(value: JsonValue): ArchiveColumn {
  const column = isJsonObject(value) ? value : {}
  const { kind } = column
  if (kind !== 'text' && kind !== 'integer') throw new ArchiveDamaged('a column has no kind')
  return { name: textIn(column, 'name'), kind }
}

function rowOf(line: string, { name, columns }: ArchiveTable): readonly Cell[] {
  const cells = listOf(parse(line))
  if (cells?.length !== columns.length)
    throw new ArchiveDamaged(`a row of ${name} has another form than its table`)
  return columns.map(({ kind }, place) => {
    const cell = cells[place]
    if (cell === null) return null
    const text = textOf(cell)
    if (kind === 'text') return text
    if (!/^-?\d{1,19}$/.test(text))
      throw new ArchiveDamaged(`a row of ${name} holds no number where one belongs`)
    return BigInt(text)
  })
}

function tableEndOf(record: JsonObject, table: ArchiveTable, digest: RowDigest): ArchiveTableEnd {
  if (record['record'] !== 'end-table' || record['name'] !== table.name)
    throw new ArchiveDamaged(`the table ${table.name} has no end`)
  const rows = countIn(record, 'rows')
  if (rows !== digest.rows || textIn(record, 'digest') !== digest.hex())
    throw new ArchiveDamaged(`the rows of ${table.name} were changed (${digest.rows} found, ${rows} written)`)
  const { last_id: lastId } = record
  return {
    record: 'end-table',
    name: table.name,
    rows,
    digest: digest.hex(),
    ...(typeof lastId === 'string' ? { last_id: lastId } : {}),
  }
}

function summaryOf(
  lines: HashedLines,
  record: JsonObject,
  read: Pick<ArchiveSummary, 'begin' | 'blobs'> & { readonly tables: readonly ArchiveTableEnd[] },
): ArchiveSummary {
  const rows = read.tables.reduce((sum, table) => sum + table.rows, 0)
  const sha256 = lines.hashBefore()
  const told: ArchiveEnd = {
    record: 'end',
    tables: countIn(record, 'tables'),
    rows: countIn(record, 'rows'),
    blobs: countIn(record, 'blobs'),
    sha256: textIn(record, 'sha256'),
  }
  if (told.sha256 !== sha256) throw new ArchiveDamaged('the backup was changed: its hash differs')
  if (told.tables !== read.tables.length || told.rows !== rows || told.blobs !== read.blobs)
    throw new ArchiveDamaged('the backup does not hold what it says at its end')
  return { ...read, rows, sha256 }
}

/** Lines, with the hash of all those before the last one given. */
class HashedLines {
  readonly #lines: AsyncGenerator<string>
  readonly #hash: Hash = createHash('sha256')
  #last = ''
  number = 0

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#lines = readLines(source)
  }

  async next(): Promise<string> {
    if (this.number > 0) this.#hash.update(`${this.#last}\n`)
    const step = await this.#lines.next()
    if (step.done === true) throw new ArchiveDamaged('the backup ends in the middle')
    this.number += 1
    this.#last = step.value
    return step.value
  }

  hashBefore(): string {
    return this.#hash.copy().digest('hex')
  }
}

function recordOf(line: string): JsonObject {
  const value = parse(line)
  if (!isJsonObject(value)) throw new ArchiveDamaged('a line does not belong in a backup')
  return value
}

function parse(line: string): JsonValue {
  try {
    // The caller checks its content.
    return JSON.parse(line) as JsonValue
  } catch (error) {
    throw new ArchiveDamaged('a line is no JSON', { cause: error })
  }
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] | undefined {
  return Array.isArray(value) ? value : undefined
}

function textIn(record: JsonObject, name: string): string {
  return textOf(record[name])
}

function textOf(value: JsonValue | undefined): string {
  if (typeof value !== 'string') throw new ArchiveDamaged('a text is missing')
  return value
}

function countIn(record: JsonObject, name: string): number {
  const value = record[name]
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
    throw new ArchiveDamaged(`${name} is no number`)
  return value
}
