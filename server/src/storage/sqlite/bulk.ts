/** Many rows of one table in few statements: inserting a hundred at once costs a tenth of inserting them one by one. */
import type { Cell, Table } from '../sql/table.ts'
import type { Statements } from './statements.ts'

/** Rows per statement, largest first: a few prepared statements that combine to any count. */
const BATCH_SIZES = [100, 25, 5, 1] as const

/** The cells of all rows, one row after the other. */
export function cellsOf<Value>(table: Table<Value>, values: Iterable<Value>): Cell[] {
  const cells: Cell[] = []
  for (const value of values) cells.push(...table.encode(value))
  return cells
}

/** `onConflict`: the clause after the values, e.g. `on conflict (subject) do update set …`; empty: a conflict throws. */
export function insertRows(
  statements: Statements,
  table: Table<never>,
  cells: readonly Cell[],
  onConflict: string,
): void {
  if (cells.length === 0) return
  const width = Object.keys(table.columns).length
  let from = 0
  for (const size of BATCH_SIZES) {
    const step = size * width
    while (cells.length - from >= step) {
      statements
        .prepare(statements.text(`${table.name} ${size}`, () => insertText(table, size, onConflict)))
        .run(...cells.slice(from, from + step))
      from += step
    }
  }
}

/** Sets every column but the first, which is the key. */
export function updateRows(statements: Statements, table: Table<never>, cells: readonly Cell[]): void {
  if (cells.length === 0) return
  const [key = '', ...rest] = Object.keys(table.columns)
  const assignments = rest.map((column) => `${column} = ?`).join(', ')
  const statement = statements.prepare(`update ${table.name} set ${assignments} where ${key} = ?`)
  for (let from = 0; from < cells.length; from += rest.length + 1) {
    const [id = null, ...values] = cells.slice(from, from + rest.length + 1)
    statement.run(...values, id)
  }
}

export function replaceOnConflict(table: Table<never>, key: string): string {
  const assignments = Object.keys(table.columns)
    .filter((column) => column !== key)
    .map((column) => `${column} = excluded.${column}`)
  return `on conflict (${key}) do update set ${assignments.join(', ')}`
}

function insertText(table: Table<never>, rows: number, onConflict: string): string {
  const columns = Object.keys(table.columns)
  const row = `(${columns.map(() => '?').join(', ')})`
  return `insert into ${table.name} (${columns.join(', ')}) values ${Array.from({ length: rows }, () => row).join(', ')} ${onConflict}`
}
