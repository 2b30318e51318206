import { useContext, useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { seriesOf } from '../parts/charts/series.ts'
import { StackedBars, Swatch } from '../parts/charts/stacked-bars.tsx'
import page from '../parts/page/page.module.css'
import { TimeZone, useFormat } from '../parts/values/format.ts'
import { measureOf, type Row } from './measures.ts'
import { bucketsOf, DEFAULT_PERIOD, type UsageSearch } from './search.ts'
import styles from './usage.module.css'
import type { Groups } from './use-groups.ts'

/** Every so many bars one is named, so that the names do not touch. */
const NAMED_MAX = 10

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
  // Below each other there is no room for the day too.
  const labelOf = (at: number): string => (period === '24h' ? format.hour(at).slice(-5) : format.day(at))
  const every = Math.ceil(bars.length / NAMED_MAX)
  const digits = measure === 'credits' ? 2 : 0
  return (
    <figure className={styles.chart}>
      <StackedBars
        label={t('usage.chart', {
          measure: t(`usage.measures.${measure}`),
          by: t(`usage.groups.${by}`),
          period: t(`usage.periods.${period}`),
        })}
        series={series.map(({ group }) => nameOf(group))}
        bars={bars.map(({ key, at, values }, index) => ({
          key,
          values,
          title: titleOf(at),
          label: (bars.length - 1 - index) % every === 0 ? labelOf(at) : undefined,
        }))}
        axis={(value) => format.short(value)}
        value={(value) => format.number(value, digits)}
      />
      <ul className={page.legend}>
        {series.map(({ group, total }, index) => (
          <li key={group ?? '…'}>
            <Swatch index={index} />
            {nameOf(group)} <b>{format.number(total)}</b>
          </li>
        ))}
      </ul>
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
        valueOf: (row) => measureOf(row, measure),
      }),
    [rows, interval, count, timeZone, idOf, measure],
  )
}
