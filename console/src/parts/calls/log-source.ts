/** A log of calls as its pages ask for it: one's own, or everybody's. */
import type { Call, CallFilter } from '../../api/calls.ts'

/** What an operator may ask for beside. */
export type LogFilter = CallFilter & { readonly account_id?: string; readonly usage_suspect?: 'true' }

/** A call with what only operators see of it. */
export interface LoggedCall extends Omit<Call, 'attempts'> {
  readonly account_id?: string | null
  readonly account_name?: string | null
  /** `said`: what an attempt failed of, in the vendor's own words. */
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
  /** Begins the name under which answers are kept. */
  readonly key: readonly string[]
  readonly read: (filter: LogFilter, signal: AbortSignal) => Promise<LogPage>
  readonly sum: (filter: LogFilter, signal: AbortSignal) => Promise<LogTotals>
  /** The whole answer is a file. */
  readonly save: (filter: LogFilter, format: 'csv' | 'ndjson') => Promise<Blob>
}

/** On a phone fewer are seen at once, and each takes longer to draw. */
const ROWS = globalThis.matchMedia('(max-width: 720px)').matches ? 25 : 50

export const pageOf = (source: LogSource, filter: LogFilter) => ({
  queryKey: [...source.key, 'page', filter],
  queryFn: ({ signal }: { readonly signal: AbortSignal }) => source.read(filter, signal),
})

/** As many as a page shows; `before`: where it begins, further back than the newest. */
export const rowsOf = (source: LogSource, filter: LogFilter, before: string | undefined) =>
  pageOf(source, { ...filter, limit: ROWS, ...(before === undefined ? {} : { cursor: before }) })

export const sumOf = (source: LogSource, filter: LogFilter) => ({
  queryKey: [...source.key, 'sum', filter],
  queryFn: ({ signal }: { readonly signal: AbortSignal }) => source.sum(filter, signal),
})
