import { useContext, useMemo } from 'react'
import { seriesOf } from '../charts/series.ts'
import { SeriesChart } from '../charts/series-chart.tsx'
import { TimeZone, useFormat } from '../values/format.ts'
import { measureOf, type Row } from './measures.ts'
import { bucketsOf, DEFAULT_PERIOD, type UsageSearch } from './search.ts'
import styles from './usage.module.css'
import { type Groups, OTHERS } from './groups.ts'
import { useTranslation } from '../../texts/use-translation.ts'

/** The number of labels below the bars. */
const NAMES_MAX = 10

interface UsageChartProps {
  readonly rows: readonly Row[]
  readonly search: UsageSearch
  readonly groups: Groups
}

export function UsageChart({ rows, search, groups }: UsageChartProps) {
  const { t } = useTranslation()
  const format = useFormat()
  const { period = DEFAULT_PERIOD, measure = 'credits', by = 'model' } = search
  const { interval } = bucketsOf(period, search.interval)
  const { series, bars } = useSeries({ rows, search, groups })
  const nameOf = (group: string | undefined): string =>
    group === undefined ? t('overview.others') : groups.nameOf(group)
  const titleOf = (at: number): string => (interval === 'day' ? format.day(at) : format.hour(at))
  // Labels of hours have no room for the day.
  const labelOf = (at: number): string => (period === '24h' ? format.hour(at).slice(-5) : format.day(at))
  return (
    <figure className={styles.chart}>
      <SeriesChart
        label={t('usage.chart', {
          measure: t(`usage.measures.${measure}`),
          by: t(`usage.groups.${by}`),
          period: t(`usage.periods.${period}`),
        })}
        series={series.map(({ group, total }) => ({ name: nameOf(group), total }))}
        bars={bars}
        titleOf={titleOf}
        labelOf={labelOf}
        namesMax={NAMES_MAX}
        digits={measure === 'credits' ? 2 : 0}
      />
    </figure>
  )
}

function useSeries({ rows, search, groups: { idOf } }: UsageChartProps) {
  const timeZone = useContext(TimeZone)
  const { period = DEFAULT_PERIOD, measure = 'credits' } = search
  const { interval, count } = bucketsOf(period, search.interval)
  return useMemo(
    () =>
      seriesOf(rows, {
        interval,
        count,
        now: Date.now(),
        timeZone,
        groupOf: idOf,
        others: OTHERS,
        valueOf: (row) => measureOf(row, measure),
      }),
    [rows, interval, count, timeZone, idOf, measure],
  )
}
