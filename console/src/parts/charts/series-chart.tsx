import page from '../page/page.module.css'
import { classes } from '../marks/classes.ts'
import { useFormat } from '../values/format.ts'
import type { Bucket } from './buckets.ts'
import styles from './series-chart.module.css'
import { StackedBars, Swatch } from './stacked-bars.tsx'

interface SeriesChartProps {
  /** What the picture says, for those who do not see it. */
  readonly label: string
  readonly series: readonly { readonly name: string; readonly total: string }[]
  readonly bars: readonly (Bucket & { readonly values: readonly number[] })[]
  /** Of an hour or a day, in the panel over its bar. */
  readonly titleOf: (at: number) => string
  /** Below its bar; the title when absent. */
  readonly labelOf?: (at: number) => string
  /** Every so many bars one is named, so that the names do not touch. */
  readonly namesMax: number
  /** Decimals of a value in the panel. */
  readonly digits: number
}

/** Sums by hour or day in stacked bars, and which colour is what, with what each came to. */
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
