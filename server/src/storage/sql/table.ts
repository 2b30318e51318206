/**
 * A table of the hot path as data: its columns with their kind, and how a value becomes a row. Both engines make their
 * bulk statements from it.
 */
export type ColumnKind = 'text' | 'integer'
export type Cell = string | number | bigint | null

/** A row as either driver reads it: every integer a bigint. */
export type StoredRow = Readonly<Record<string, string | number | bigint | null>>

export interface Table<Value> {
  readonly name: string
  readonly columns: Readonly<Record<string, ColumnKind>>
  /** Cells in the order of `columns`. */
  readonly encode: (value: Value) => readonly Cell[]
}

export function textOf(row: StoredRow, column: string): string {
  const cell = row[column]
  if (typeof cell !== 'string') throw new Error(`column ${column} holds no text`)
  return cell
}

export function optionalTextOf(row: StoredRow, column: string): string | undefined {
  return row[column] === null ? undefined : textOf(row, column)
}

export function integerOf(row: StoredRow, column: string): bigint {
  const cell = row[column]
  if (typeof cell !== 'bigint') throw new Error(`column ${column} holds no integer`)
  return cell
}

/** For times and counts, which stay far below 2^53. */
export function numberOf(row: StoredRow, column: string): number {
  return Number(integerOf(row, column))
}

export function optionalNumberOf(row: StoredRow, column: string): number | undefined {
  return row[column] === null ? undefined : numberOf(row, column)
}
