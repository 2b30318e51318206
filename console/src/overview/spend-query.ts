import { usageQuery } from '../api/usage.ts'
import type { Interval } from '../parts/charts/buckets.ts'
import { browserZone } from '../parts/values/browser-zone.ts'
import type { Period } from './periods.ts'

const HOUR_MS = 3_600_000

export const SPANS = {
  '24h': { count: 24, interval: 'hour', ms: 24 * HOUR_MS },
  '14d': { count: 14, interval: 'day', ms: 14 * 24 * HOUR_MS },
  '30d': { count: 30, interval: 'day', ms: 30 * 24 * HOUR_MS },
} as const satisfies Readonly<
  Record<Period, { readonly count: number; readonly interval: Interval; readonly ms: number }>
>

interface SpendQuestion {
  readonly period: Period
  /** Epoch ms; the query key is the same within an hour. */
  readonly openedAt: number
  /** Undefined: the browser's. */
  readonly timeZone: string | undefined
  readonly organisation: string | undefined
}

/** Spending in the period, by model. */
export function spendQuery({ period, openedAt, timeZone, organisation }: SpendQuestion) {
  const { interval, ms } = SPANS[period]
  return usageQuery(
    {
      from: new Date(Math.floor((openedAt - ms) / HOUR_MS) * HOUR_MS).toISOString(),
      interval,
      group_by: 'model',
      time_zone: timeZone ?? browserZone(),
    },
    organisation,
  )
}
