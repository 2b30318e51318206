/** The measures of usage, and their values in a row. */
import type { Usage } from '../../api/usage.ts'
import { sumDecimals } from '../values/decimal.ts'
import type { Measure } from './search.ts'

/** The usage of one group in one hour or day. */
export type Row = Omit<Usage['rows'][number], 'member'> & {
  /** Only in an organisation's usage. */
  readonly member?: string | null
  /** Only in the usage of all accounts. */
  readonly account_id?: string | null
}

/** Input tokens of every class. */
export function inputOf({
  usage: { input, cached_input, cache_write, cache_write_1h },
}: Pick<Row, 'usage'>): number {
  return input + cached_input + cache_write + cache_write_1h
}

/** A decimal as text. */
export function measureOf(row: Row, measure: Measure): string {
  switch (measure) {
    case 'credits':
      return row.deducted
    case 'calls':
      return String(row.calls)
    case 'tokens':
      return String(inputOf(row) + row.usage.output)
    case 'cached':
      return String(row.usage.cached_input)
    case 'failed':
      return String(row.failed)
  }
}

export interface Sums {
  /** Exact. */
  readonly credits: string
  readonly calls: number
  readonly failed: number
  readonly input: number
  readonly cached: number
  readonly output: number
}

export function sumsOf(rows: readonly Row[]): Sums {
  const all = (value: (row: Row) => number): number => rows.reduce((sum, row) => sum + value(row), 0)
  return {
    credits: sumDecimals(rows.map(({ deducted }) => deducted)),
    calls: all(({ calls }) => calls),
    failed: all(({ failed }) => failed),
    input: all(inputOf),
    cached: all(({ usage }) => usage.cached_input),
    output: all(({ usage }) => usage.output),
  }
}

/** From 0 to 1; 0 if there is no usage. */
export function shareOf(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole
}
