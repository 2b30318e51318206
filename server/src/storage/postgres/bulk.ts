/** Rows of one table as one array per column, for `unnest`: one statement and one plan for any number of rows. */
import type { Cell, Table } from '../sql/table.ts'
import type { ColumnCells } from './message-writer.ts'

const TYPES = { text: 'text[]', integer: 'bigint[]' } as const

/** `unnest($1::text[], $2::bigint[], …) as name (column, …)`, its parameters counted from `first`. */
export function unnest(table: Table<never>, first: number): string {
  const arrays = Object.values(table.columns).map((kind, index) => `$${first + index}::${TYPES[kind]}`)
  return `unnest(${arrays.join(', ')}) as given (${columnList(table)})`
}

export function columnList(table: Table<never>): string {
  return Object.keys(table.columns).join(', ')
}

/** Assignments for every column but the first, which is the key. */
export function assignments(table: Table<never>, source: 'given' | 'excluded'): string {
  const [, ...columns] = Object.keys(table.columns)
  return columns.map((column) => `${column} = ${source}.${column}`).join(', ')
}

export function columnsOf<Value>(table: Table<Value>, values: readonly Value[]): readonly ColumnCells[] {
  const rows = values.map((value) => table.encode(value))
  return Object.values(table.columns).map((kind, index) => ({
    kind,
    cells: rows.map((row): Cell => row[index] ?? null),
  }))
}
