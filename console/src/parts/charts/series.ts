/** Sums by hour or day, split into the largest groups, for stacked bars. */

import { sumDecimals } from '../values/decimal.ts'
import { type Bucket, bucketKeys, type Interval, lastBuckets } from './buckets.ts'

/** This many groups have a colour of their own; the others share one. */
const COLOURS = 5

export interface Series {
  /** undefined: all groups that are not listed individually. */
  readonly group: string | undefined
  /** Exact. */
  readonly total: string
}

export interface SeriesOf<Row> {
  readonly series: readonly Series[]
  readonly bars: readonly (Bucket & { readonly values: readonly number[] })[]
  /** The rows of the period. */
  readonly inside: readonly Row[]
}

interface SeriesQuestion<Row> {
  readonly interval: Interval
  /** The number of hours or days, including the current one. */
  readonly count: number
  readonly now: number
  readonly timeZone: string | undefined
  readonly groupOf: (row: Row) => string
  /** A group that is never listed individually, as it already sums others. */
  readonly others?: string
  /** A decimal as text. */
  readonly valueOf: (row: Row) => string
}

export function seriesOf<Row extends { readonly at: string }>(
  rows: readonly Row[],
  { interval, count, now, timeZone, groupOf, others, valueOf }: SeriesQuestion<Row>,
): SeriesOf<Row> {
  const keyOf = bucketKeys(interval, timeZone)
  const buckets = lastBuckets(count, interval, { now, timeZone })
  const known = new Set(buckets.map(({ key }) => key))
  const inside = rows.filter(({ at }) => known.has(keyOf(at)))
  const ranked = [...grouped(inside, groupOf)]
    .map(([group, own]) => ({ group, total: sumDecimals(own.map(valueOf)) }))
    .filter(({ total }) => Number(total) > 0)
    .toSorted((one, other) => Number(other.total) - Number(one.total))
  const own = ranked.filter(({ group }) => group !== others)
  const named = own.slice(0, ranked.length > COLOURS + 1 ? COLOURS : COLOURS + 1)
  const rest = ranked.filter((each) => !named.includes(each))
  const series: readonly Series[] =
    rest.length === 0
      ? named
      : [...named, { group: undefined, total: sumDecimals(rest.map(({ total }) => total)) }]
  const place = new Map(named.map(({ group }, index) => [group, index]))
  const byBucket = grouped(inside, ({ at }) => keyOf(at))
  const bars = buckets.map((bucket) => {
    const values = series.map(() => 0)
    for (const row of byBucket.get(bucket.key) ?? []) {
      const index = place.get(groupOf(row)) ?? named.length
      if (index < values.length) values[index] = (values[index] ?? 0) + Number(valueOf(row))
    }
    return { ...bucket, values }
  })
  return { series, bars, inside }
}

function grouped<Row>(
  rows: readonly Row[],
  keyOf: (row: Row) => string,
): ReadonlyMap<string, readonly Row[]> {
  const found = new Map<string, Row[]>()
  for (const row of rows) {
    const key = keyOf(row)
    const own = found.get(key)
    if (own === undefined) found.set(key, [row])
    else own.push(row)
  }
  return found
}
