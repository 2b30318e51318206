import { exportAnyCalls, readAnyCalls, sumAnyCalls } from '../../api/operator/calls.ts'
import { filterOf } from '../../parts/calls/filter.ts'
import type { LogFilter, LogSource } from '../../parts/calls/log-source.ts'
import type { AnyCallsSearch } from './search.ts'

/** The calls of all accounts. */
export const ANY_LOG: LogSource = {
  key: ['any-calls'],
  read: readAnyCalls,
  sum: sumAnyCalls,
  save: exportAnyCalls,
}

interface OwnFilters {
  readonly account?: string | undefined
  readonly suspect?: boolean | undefined
}

/** The part of a filter that only this log has. */
export function alsoOf({ account, suspect }: OwnFilters): Pick<LogFilter, 'account_id' | 'usage_suspect'> {
  return {
    ...(account === undefined ? {} : { account_id: account }),
    ...(suspect === true ? { usage_suspect: 'true' as const } : {}),
  }
}

/** What the page asks for first, with the same query key as the page. */
export function anyFilterOf(
  { account, suspect, ...search }: AnyCallsSearch,
  of: Parameters<typeof filterOf>[1],
): LogFilter {
  return { ...filterOf(search, of), ...alsoOf({ account, suspect }) }
}
