import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useContext, useMemo, useState } from 'react'
import { LIVE_MS } from '../../api/query-client.ts'
import { bucketKeys, lastBuckets } from '../charts/buckets.ts'
import { browserZone } from '../values/browser-zone.ts'
import { TimeZone } from '../values/format.ts'
import type { Row } from './measures.ts'
import { bucketsOf, DEFAULT_PERIOD, type Group, SPANS, type UsageSearch } from './search.ts'

const HOUR_MS = 3_600_000

export interface UsageQuestion {
  readonly from: string
  readonly interval: 'hour' | 'day'
  readonly group_by: Group
  readonly time_zone: string
}

/** The source of the usage. */
export interface UsageSource<Answer extends { readonly rows: readonly Row[] }> {
  /** The first part of the query key. */
  readonly key: readonly unknown[]
  read(question: UsageQuestion, signal: AbortSignal): Promise<Answer>
}

/** The sums of the period that the address names, by hour or day. */
export function useUsage<Answer extends { readonly rows: readonly Row[] }>(
  { period = DEFAULT_PERIOD, interval: wanted, by = 'model' }: UsageSearch,
  source: UsageSource<Answer>,
) {
  const timeZone = useContext(TimeZone) ?? browserZone()
  // The start is fixed per visit: with a moving start every request would have another query key.
  const [openedAt] = useState(() => Date.now())
  const from = Math.floor((openedAt - SPANS[period].ms) / HOUR_MS) * HOUR_MS
  const question = {
    from: new Date(from).toISOString(),
    interval: bucketsOf(period, wanted).interval,
    group_by: by,
    time_zone: timeZone,
  }
  const usage = useQuery({
    queryKey: [...source.key, question],
    queryFn: ({ signal }) => source.read(question, signal),
    refetchInterval: LIVE_MS,
    placeholderData: keepPreviousData,
  })
  const rows = useMemo(() => {
    if (usage.data === undefined) return undefined
    // The first day is asked for in part and not shown: what is shown everywhere are whole hours and days.
    const { interval, count } = bucketsOf(period, wanted)
    const shown = new Set(lastBuckets(count, interval, { now: Date.now(), timeZone }).map(({ key }) => key))
    const keyOf = bucketKeys(interval, timeZone)
    return usage.data.rows.filter(({ at }) => shown.has(keyOf(at)))
  }, [usage.data, period, wanted, timeZone])
  return { data: rows, answer: usage.data, error: usage.error, refetch: usage.refetch }
}
