/** Rows of any list as text, in a format for spreadsheets or programs. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts'
import { NO_CALL } from '../../core/ledger/log-row.ts'
import type { Storage } from '../../storage/storage.ts'
import { viewLogRow } from './log-view.ts'
import type { LogFilter } from '../../storage/stores/logs.ts'

export const EXPORT_FORMATS = ['csv', 'ndjson'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

export const EXPORT_TYPES: Record<ExportFormat, string> = {
  csv: 'text/csv; charset=utf-8',
  ndjson: 'application/x-ndjson',
}

/** Rows that are joined into one chunk: one write per row costs more than the row. */
const CHUNK_ROWS = 200

/** `columns` in the order of writing; members of nested objects have names such as `usage_input`. */
export async function* exportRows(
  rows: AsyncIterable<JsonObject>,
  format: ExportFormat,
  columns: readonly string[],
): AsyncGenerator<string> {
  let chunk = format === 'csv' ? csvLine(columns) : ''
  let waiting = 0
  for await (const row of rows) {
    chunk += format === 'csv' ? csvLine(cellsOf(row, columns)) : `${JSON.stringify(row)}\n`
    waiting += 1
    if (waiting === CHUNK_ROWS) {
      yield chunk
      chunk = ''
      waiting = 0
    }
  }
  if (chunk !== '') yield chunk
}

/** Rows one page of a log export reads. */
const LOG_PAGE_ROWS = 500

/**
 * Every matching call, newest first; `filter.to` should be set, so that calls that end meanwhile do not lengthen it.
 */
export async function* eachLogRow(
  storage: Pick<Storage, 'logs'>,
  filter: LogFilter,
): AsyncGenerator<JsonObject> {
  let cursor: string | undefined
  do {
    const page = await storage.logs.page(filter, { limit: LOG_PAGE_ROWS, cursor, bulk: true })
    for (const row of page.rows) yield viewLogRow(row)
    cursor = page.next
  } while (cursor !== undefined)
}

/** Long columns are at the end of a line, where they do not hide others. */
const LONG = ['dropped_fields', 'attempts', 'recipe']

/** All columns of a log row, in order; `usage` has a column for each counter. */
export const LOG_COLUMNS: readonly string[] = columnsOf(viewLogRow(NO_CALL))

function columnsOf(row: JsonObject): readonly string[] {
  const columns = Object.entries(row).flatMap(([name, value]) =>
    isJsonObject(value) ? Object.keys(value).map((member) => `${name}_${member}`) : [name],
  )
  return [...columns.filter((name) => !LONG.includes(name)), ...LONG]
}

export const ENTRY_COLUMNS: readonly string[] = [
  'id',
  'at',
  'kind',
  'credits',
  'balance',
  'reference',
  'credits_after',
  'balance_after',
]

function cellsOf(row: JsonObject, columns: readonly string[]): readonly string[] {
  const cells = new Map(Object.entries(row))
  for (const [name, value] of Object.entries(isJsonObject(row['usage']) ? row['usage'] : {}))
    cells.set(`usage_${name}`, value)
  return columns.map((column) => cellText(cells.get(column)))
}

function cellText(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'string') return isFormula(value) ? `'${value}` : value
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/**
 * Text chosen by a client must not be executed as a formula by a spreadsheet, which also accepts full-width signs;
 * amounts may begin with a minus.
 */
function isFormula(text: string): boolean {
  return /^[=+@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20-]/.test(text) && !/^-?\d+(\.\d+)?$/.test(text)
}

/** RFC 4180. */
function csvLine(cells: readonly string[]): string {
  return `${cells.map((cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',')}\r\n`
}
