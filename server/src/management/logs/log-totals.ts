/** Totals of the calls that match a filter of the log. */
import { type MicroCredits, microCredits } from '../../core/money.ts'
import type { Storage } from '../../storage/storage.ts'
import type { LogFilter } from '../../storage/stores/logs.ts'
import { creditsText } from '../money/amounts.ts'
import { openEnd, sumUsage } from '../money/usage.ts'

/** Longest period summed at once. */
const PERIOD_MS_MAX = 366 * 86_400_000
/** Rows that are added up if there are no stored sums for the filter. */
const ROWS_MAX = 2_000
const PAGE_ROWS = 500

export interface LogTotals {
  readonly calls: number
  readonly failed: number
  /** Input of every class and output. */
  readonly tokens: number
  readonly deducted: string
  /** False: there are more calls than were added up. */
  readonly complete: boolean
}

export const NO_TOTALS: LogTotals = { calls: 0, failed: 0, tokens: 0, deducted: '0', complete: true }

interface Sum {
  readonly calls: number
  readonly failed: number
  readonly tokens: number
  readonly deducted: MicroCredits
}

const NOTHING: Sum = { calls: 0, failed: 0, tokens: 0, deducted: microCredits(0n) }

export interface TotalsOptions {
  readonly now: number
  /** Once aborted, nothing more is read. */
  readonly signal: AbortSignal
}

/** From the stored sums if the filter uses only time, key, model and app; otherwise the newest rows are added up. */
export async function readLogTotals(
  storage: Pick<Storage, 'logs' | 'customers'>,
  filter: LogFilter,
  options: TotalsOptions,
): Promise<LogTotals> {
  const kept = await fromSums(storage, filter, options)
  return kept === undefined ? fromRows(storage, filter, options.signal) : view(kept, !options.signal.aborted)
}

function view(sum: Sum, complete: boolean): LogTotals {
  return { ...sum, deducted: creditsText(sum.deducted), complete }
}

/** undefined: the stored sums do not distinguish these calls. */
async function fromSums(
  storage: Pick<Storage, 'customers'>,
  filter: LogFilter,
  { now, signal }: TotalsOptions,
): Promise<Sum | undefined> {
  const { accountId, keyId, keyIds, from, to, model, appId, ...others } = filter
  if (Object.values(others).some((value) => value !== undefined)) return undefined
  const until = to === undefined ? openEnd(now) : to + 1
  const since = from ?? until - PERIOD_MS_MAX
  if (since >= until) return NOTHING
  const summed = await sumUsage(storage, {
    accountId,
    keyId,
    keyIds,
    from: since,
    until,
    interval: 'total',
    groups: [
      ...(model === undefined ? [] : ['model' as const]),
      ...(appId === undefined ? [] : ['app' as const]),
    ],
    timezone: 'UTC',
    signal,
  })
  if (summed.kind === 'refused') return undefined
  return summed.rows
    .filter(
      (row) => (model === undefined || row.model === model) && (appId === undefined || row.appId === appId),
    )
    .reduce(
      (sum, row) => ({
        calls: sum.calls + row.calls,
        failed: sum.failed + row.failed,
        tokens: sum.tokens + row.input + row.cachedInput + row.cacheWrite + row.cacheWrite1h + row.output,
        deducted: microCredits(sum.deducted + row.deducted),
      }),
      NOTHING,
    )
}

async function fromRows(
  storage: Pick<Storage, 'logs'>,
  filter: LogFilter,
  signal: AbortSignal,
): Promise<LogTotals> {
  let sum = NOTHING
  let cursor: string | undefined
  do {
    const page = await storage.logs.page(filter, { limit: PAGE_ROWS, cursor, bulk: true })
    for (const { httpStatus, usage, deducted } of page.rows) {
      const { input = 0, cachedInput = 0, cacheWrite = 0, cacheWrite1h = 0, output = 0 } = usage
      sum = {
        calls: sum.calls + 1,
        failed: sum.failed + (httpStatus >= 400 ? 1 : 0),
        tokens: sum.tokens + input + cachedInput + cacheWrite + cacheWrite1h + output,
        deducted: microCredits(sum.deducted + deducted),
      }
    }
    cursor = page.next
    // A page that is short because of the scan limit is not continued: with few matches, all calls would be searched.
    if (page.rows.length < PAGE_ROWS) break
  } while (cursor !== undefined && sum.calls < ROWS_MAX && !signal.aborted)
  return view(sum, cursor === undefined)
}
