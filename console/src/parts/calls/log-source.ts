/** Where a log reads its calls: the person's own, or those of all accounts. */
import type { Call, CallFilter } from '../../api/calls.ts'
import { IS_NARROW } from '../page/narrow.ts'

/** Additional query parameters for operators. */
export type LogFilter = CallFilter & { readonly account_id?: string; readonly usage_suspect?: 'true' }

/** A call with the fields that only operators see. */
export interface LoggedCall extends Omit<Call, 'attempts'> {
  readonly account_id?: string | null
  readonly account_name?: string | null
  /** `said`: the vendor's error text of a failed attempt. */
  readonly attempts: (Call['attempts'][number] & { readonly said?: string | null })[]
}

export interface LogPage {
  readonly data: readonly LoggedCall[]
  readonly next_cursor: string | null
}

export interface LogTotals {
  readonly calls: number
  readonly failed: number
  readonly tokens: number
  readonly deducted: string
  readonly complete: boolean
}

export interface LogSource {
  /** The first part of the query key. */
  readonly key: readonly string[]
  readonly read: (filter: LogFilter, signal: AbortSignal) => Promise<LogPage>
  readonly sum: (filter: LogFilter, signal: AbortSignal) => Promise<LogTotals>
  /** Resolves to the export as a file. */
  readonly save: (filter: LogFilter, format: 'csv' | 'ndjson') => Promise<Blob>
}

/** Fewer on a phone: fewer fit on the screen, and rendering takes longer. */
const ROWS = IS_NARROW ? 25 : 50

export const pageOf = (source: LogSource, filter: LogFilter) => ({
  queryKey: [...source.key, 'page', filter],
  queryFn: ({ signal }: { readonly signal: AbortSignal }) => source.read(filter, signal),
})

/** One page of the log; `before`: the cursor, absent for the newest page. */
export const rowsOf = (source: LogSource, filter: LogFilter, before: string | undefined) =>
  pageOf(source, { ...filter, limit: ROWS, ...(before === undefined ? {} : { cursor: before }) })

export const sumOf = (source: LogSource, filter: LogFilter) => ({
  queryKey: [...source.key, 'sum', filter],
  queryFn: ({ signal }: { readonly signal: AbortSignal }) => source.sum(filter, signal),
})
