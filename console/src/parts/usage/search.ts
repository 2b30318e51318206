import type { Interval } from '../charts/buckets.ts'
import { choiceField, present } from '../lists/search-fields.ts'

export const PERIODS = ['24h', '7d', '30d', '90d'] as const
export type Period = (typeof PERIODS)[number]
export const DEFAULT_PERIOD: Period = '30d'

const HOUR_MS = 3_600_000
/** Whole hours or days, including the current one; hours only for periods that a chart can show. */
export const SPANS = {
  '24h': { ms: 24 * HOUR_MS, hour: 24, day: undefined },
  '7d': { ms: 7 * 24 * HOUR_MS, hour: 168, day: 7 },
  '30d': { ms: 30 * 24 * HOUR_MS, hour: undefined, day: 30 },
  '90d': { ms: 90 * 24 * HOUR_MS, hour: undefined, day: 90 },
} as const satisfies Readonly<
  Record<Period, { readonly ms: number } & Readonly<Record<Interval, number | undefined>>>
>

export const INTERVALS = ['hour', 'day'] as const
const GROUPS = ['model', 'key', 'app', 'member', 'account'] as const
export type Group = (typeof GROUPS)[number]
export const MEASURES = ['credits', 'calls', 'tokens', 'cached', 'failed'] as const
export type Measure = (typeof MEASURES)[number]

/** The period of the call log that corresponds to a period of usage. */
export function callsPeriod(period: Period = DEFAULT_PERIOD) {
  return period === '90d' ? ('all' as const) : period
}

/** Search parameters of usage. */
export function readUsageSearch(search: Record<string, unknown>) {
  return present({
    period: choiceField(search['period'], PERIODS),
    interval: choiceField(search['interval'], INTERVALS),
    by: choiceField(search['by'], GROUPS),
    measure: choiceField(search['measure'], MEASURES),
  })
}

export type UsageSearch = ReturnType<typeof readUsageSearch>

/** Hours or days and their number; the chosen unit if the period allows it. */
export function bucketsOf(period: Period, wanted: Interval | undefined) {
  const { hour, day } = SPANS[period]
  if (hour !== undefined && (wanted === 'hour' || day === undefined))
    return { interval: 'hour' as const, count: hour }
  return { interval: 'day' as const, count: day ?? 1 }
}
