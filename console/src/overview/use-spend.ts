import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useContext, useMemo } from 'react'
import { LIVE_MS } from '../api/query-client.ts'
import { useOrganisationId } from '../api/session.ts'
import type { Usage } from '../api/usage.ts'
import type { Interval } from '../parts/charts/buckets.ts'
import { seriesOf } from '../parts/charts/series.ts'
import { sumDecimals } from '../parts/values/decimal.ts'
import { TimeZone } from '../parts/values/format.ts'
import type { Period } from './periods.ts'
import { SPANS, spendQuery } from './spend-query.ts'
import { useTranslation } from '../texts/use-translation.ts'

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

export interface SpendVisit {
  readonly period: Period
  /** When the page was opened, epoch ms. */
  readonly openedAt: number
}

/** Spending in the period by model: the top five, and all others as one. */
export function useSpend({ period, openedAt }: SpendVisit) {
  const { t } = useTranslation()
  const timeZone = useContext(TimeZone)
  const organisation = useOrganisationId()
  const query = useQuery({
    ...spendQuery({ period, openedAt, timeZone, organisation }),
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

interface SpendWords {
  readonly period: Period
  readonly timeZone: string | undefined
  readonly others: string
  readonly nameless: string
}

function spendOf({ rows }: Usage, { period, timeZone, others, nameless }: SpendWords): SpendOf {
  const { count, interval, ms } = SPANS[period]
  const { series, bars, inside } = seriesOf(rows, {
    interval,
    count,
    now: Date.now(),
    timeZone,
    groupOf: ({ model }) => model ?? nameless,
    valueOf: ({ deducted }) => deducted,
  })
  return {
    interval,
    series: series.map(({ group, total }) => ({ name: group ?? others, total })),
    bars,
    total: sumDecimals(inside.map(({ deducted }) => deducted)),
    calls: inside.reduce((all, { calls }) => all + calls, 0),
    failed: inside.reduce((all, { failed }) => all + failed, 0),
    days: ms / 86_400_000,
  }
}
