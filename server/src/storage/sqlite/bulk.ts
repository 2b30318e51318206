/** Many rows of one table in few statements: inserting a hundred at once costs a tenth of inserting them one by one. */
import type { Cell, Table } from '../sql/table.ts'
import type { Statements } from './statements.ts'

/** Rows per statement, largest first: a few prepared statements that combine to any count. */
const BATCH_SIZES = [100, 25, 5, 1] as const

/** `onConflict`: the clause after the values, e.g. `on conflict (subject) do update set …`; empty: a conflict throws. */
export function insertRows<Value>(
  statements: Statements,
  table: Table<Value>,
  values: readonly Value[],
  onConflict: string,
): void {
  let from = 0
  for (const size of BATCH_SIZES) {
    while (values.length - from >= size) {
      const cells: Cell[] = []
      for (const value of values.slice(from, from + size)) cells.push(...table.encode(value))
      statements
        .prepare(statements.text(`${table.name} ${size}`, () => insertText(table, size, onConflict)))
        .run(...cells)
      from += size
    }
  }
}

/** Sets every column but the first, which is the key. */
export function updateRows<Value>(
  statements: Statements,
  table: Table<Value>,
  values: readonly Value[],
): void {
  if (values.length === 0) return
  const [key = '', ...rest] = Object.keys(table.columns)
  const assignments = rest.map((column) => `${column} = ?`).join(', ')
  const statement = statements.prepare(`update ${table.name} set ${assignments} where ${key} = ?`)
  for (const value of values) {
    const [id = null, ...cells] = table.encode(value)
    statement.run(...cells, id)
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
