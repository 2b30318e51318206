import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useContext, useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { LIVE_MS } from '../api/query-client.ts'
import { useOrganisationId } from '../api/session.ts'
import { type Usage, usageQuery } from '../api/usage.ts'
import { bucketKeys, type Interval, lastBuckets } from '../parts/buckets.ts'
import { sumDecimals } from '../parts/decimal.ts'
import { TimeZone } from '../parts/format.ts'
import type { Period } from './periods.ts'

const SPANS = {
  '24h': { count: 24, interval: 'hour', ms: 24 * 3_600_000 },
  '14d': { count: 14, interval: 'day', ms: 14 * 86_400_000 },
  '30d': { count: 30, interval: 'day', ms: 30 * 86_400_000 },
} as const satisfies Readonly<
  Record<Period, { readonly count: number; readonly interval: Interval; readonly ms: number }>
>
/** So many models have a colour of their own, the others share one. */
const COLOURS = 5

export interface SpendSeries {
  readonly name: string
  /** Credits in the period, exact. */
  readonly total: string
}

export interface SpendOf {
  readonly interval: Interval
  readonly series: readonly SpendSeries[]
  readonly bars: readonly { readonly key: string; readonly at: number; readonly values: readonly number[] }[]
  readonly total: string
  readonly calls: number
  readonly failed: number
  readonly days: number
}

/** What was spent in the period, by model: the five that took most, and the others. */
export function useSpend(period: Period) {
  const { t } = useTranslation()
  const timeZone = useContext(TimeZone)
  const organisation = useOrganisationId()
  const { interval, ms } = SPANS[period]
  // One question per visit: the beginning does not move with every look, or no answer would ever be known.
  const [openedAt] = useState(() => Date.now())
  const question = {
    from: new Date(Math.floor((openedAt - ms) / 3_600_000) * 3_600_000).toISOString(),
    interval,
    group_by: 'model',
    ...(timeZone === undefined ? {} : { time_zone: timeZone }),
  }
  const query = useQuery({
    ...usageQuery({ time_zone: browserZone(), ...question }, organisation),
    refetchInterval: LIVE_MS,
    placeholderData: keepPreviousData,
  })
  const { data } = query
  const others = t('overview.others')
  const nameless = t('overview.noModel')
  const spend = useMemo(
    () => (data === undefined ? undefined : spendOf(data, { period, timeZone, others, nameless })),
    [data, period, timeZone, others, nameless],
  )
  return { ...query, data: spend }
}

function browserZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone
}

interface SpendWords {
  readonly period: Period
  readonly timeZone: string | undefined
  readonly others: string
  readonly nameless: string
}

function spendOf({ rows }: Usage, { period, timeZone, others, nameless }: SpendWords): SpendOf {
  const { count, interval, ms } = SPANS[period]
  const keyOf = bucketKeys(interval, timeZone)
  const buckets = lastBuckets(count, interval, { now: Date.now(), timeZone })
  const known = new Set(buckets.map(({ key }) => key))
  const inside = rows.filter(({ at }) => known.has(keyOf(at)))
  const totals = Map.groupBy(inside, ({ model }) => model ?? nameless)
  const ranked = [...totals]
    .map(([name, own]) => ({ name, total: sumDecimals(own.map(({ deducted }) => deducted)) }))
    .filter(({ total }) => Number(total) > 0)
    .toSorted((one, other) => Number(other.total) - Number(one.total))
  const named = ranked.slice(0, ranked.length > COLOURS + 1 ? COLOURS : COLOURS + 1)
  const rest = ranked.slice(named.length)
  const series =
    rest.length === 0
      ? named
      : [...named, { name: others, total: sumDecimals(rest.map(({ total }) => total)) }]
  const place = new Map(named.map(({ name }, index) => [name, index]))
  const byBucket = Map.groupBy(inside, ({ at }) => keyOf(at))
  const bars = buckets.map(({ key, at }) => {
    const values = series.map(() => 0)
    for (const row of byBucket.get(key) ?? []) {
      const index = place.get(row.model ?? nameless) ?? named.length
      if (index < values.length) values[index] = (values[index] ?? 0) + Number(row.deducted)
    }
    return { key, at, values }
  })
  return {
    interval,
    series,
    bars,
    total: sumDecimals(inside.map(({ deducted }) => deducted)),
    calls: inside.reduce((all, { calls }) => all + calls, 0),
    failed: inside.reduce((all, { failed }) => all + failed, 0),
    days: ms / 86_400_000,
  }
}
