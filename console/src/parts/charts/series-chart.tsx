import page from '../page/page.module.css'
import { classes } from '../marks/classes.ts'
import { useFormat } from '../values/format.ts'
import type { Bucket } from './buckets.ts'
import styles from './series-chart.module.css'
import { StackedBars, Swatch } from './stacked-bars.tsx'

interface SeriesChartProps {
  /** The content of the chart in words, for screen readers. */
  readonly label: string
  readonly series: readonly { readonly name: string; readonly total: string }[]
  readonly bars: readonly (Bucket & { readonly values: readonly number[] })[]
  /** The title of an hour or day in the tooltip of its bar. */
  readonly titleOf: (at: number) => string
  /** The label below the bar; the title when absent. */
  readonly labelOf?: (at: number) => string
  /** One of this many bars has a label, so that labels do not touch. */
  readonly namesMax: number
  /** Decimals of a value in the tooltip. */
  readonly digits: number
}

/** Sums by hour or day as stacked bars, with a legend that shows each total. */
export function SeriesChart(props: SeriesChartProps) {
  const { label, series, bars, titleOf, labelOf = titleOf, namesMax, digits } = props
  const format = useFormat()
  const every = Math.ceil(bars.length / namesMax)
  return (
    <>
      <StackedBars
        label={label}
        series={series.map(({ name }) => name)}
        bars={bars.map(({ key, at, values }, index) => ({
          key,
          values,
          title: titleOf(at),
          label: (bars.length - 1 - index) % every === 0 ? labelOf(at) : undefined,
        }))}
        axis={(value) => format.short(value)}
        value={(value) => format.number(value, digits)}
      />
      <ul className={classes(page.legend, styles.legend)}>
        {series.map(({ name, total }, index) => (
          <li key={name}>
            <Swatch index={index} />
            {name} <b title={total}>{format.number(total)}</b>
          </li>
        ))}
      </ul>
    </>
  )
}
