import { useId, useState } from 'react'
import { classes } from '../marks/classes.ts'
import styles from './stacked-bars.module.css'

export interface Bar {
  readonly key: string
  /** The label below the bar; undefined: none. */
  readonly label: string | undefined
  /** The title of the tooltip. */
  readonly title: string
  /** One value per series. */
  readonly values: readonly number[]
}

interface StackedBarsProps {
  readonly series: readonly string[]
  readonly bars: readonly Bar[]
  readonly axis: (value: number) => string
  readonly value: (value: number) => string
  /** The content of the chart in words, for screen readers. */
  readonly label: string
}

const HEIGHT = 196
const TOP = 8
const BASE = 174
/** The share of its slot that a bar fills. */
const FILL = 0.62
const TICKS = 4

/** Stacked bars of up to six colours, with a tooltip for each. */
export function StackedBars({ series, bars, axis, value, label }: StackedBarsProps) {
  const [pointed, point] = useState<number>()
  const id = useId()
  const top = niceTop(Math.max(0, ...bars.map(({ values }) => sum(values))))
  const ticks = Array.from({ length: TICKS + 1 }, (_, step) => (top / TICKS) * step)
  const y = (amount: number): number => BASE - (amount / top) * (BASE - TOP)
  return (
    <div className={styles.chart} onPointerLeave={() => point(undefined)}>
      <svg height={HEIGHT} aria-hidden="true">
        {ticks.map((tick) => (
          <text key={tick} x="100%" dx={-8} y={y(tick) + 4} textAnchor="end">
            {axis(tick)}
          </text>
        ))}
      </svg>
      <svg height={HEIGHT} role="img" aria-label={label} aria-describedby={id}>
        {ticks.map((tick) => (
          <line
            key={tick}
            className={tick === 0 ? styles.base : undefined}
            x1="0"
            x2="100%"
            y1={y(tick) + 0.5}
            y2={y(tick) + 0.5}
          />
        ))}
        {bars.map((bar, at) => (
          <g key={bar.key} onPointerEnter={() => point(at)} data-pointed={pointed === at || undefined}>
            <Column bar={bar} place={{ at, of: bars.length }} y={y} />
            <Name bars={bars} at={at} />
          </g>
        ))}
      </svg>
      {pointed !== undefined && <Panel series={series} bars={bars} at={pointed} value={value} />}
      <p id={id} className={styles.hidden}>
        {bars
          .filter(({ values }) => sum(values) > 0)
          .map(({ title, values }) => `${title}: ${value(sum(values))}`)
          .join('; ')}
      </p>
    </div>
  )
}

interface ColumnProps {
  readonly bar: Bar
  readonly place: { readonly at: number; readonly of: number }
  readonly y: (amount: number) => number
}

function Column({ bar, place, y }: ColumnProps) {
  const step = 100 / place.of
  return (
    <>
      <rect x={`${place.at * step}%`} y={0} width={`${step}%`} height={HEIGHT} className={styles.reach} />
      {piecesOf(bar.values).map(({ from, to, series }) => (
        <rect
          key={series}
          className={styles[`fill${series + 1}`]}
          x={`${place.at * step + (step * (1 - FILL)) / 2}%`}
          width={`${step * FILL}%`}
          y={y(to)}
          height={Math.max(0, y(from) - y(to) - (from === 0 ? 0 : 1))}
        />
      ))}
    </>
  )
}

/** The last label is the current period; every second one is hidden where there is no room. */
function Name({ bars, at }: { readonly bars: readonly Bar[]; readonly at: number }) {
  const label = bars[at]?.label
  if (label === undefined) return null
  const isLast = at === bars.length - 1
  const later = bars.slice(at).filter((bar) => bar.label !== undefined).length
  return (
    <text
      x={isLast ? '100%' : `${((at + 0.5) * 100) / bars.length}%`}
      y={HEIGHT - 4}
      textAnchor={isLast ? 'end' : 'middle'}
      className={isLast ? styles.now : later % 2 === 0 ? styles.spare : undefined}
    >
      {label}
    </text>
  )
}

interface PanelProps {
  readonly series: readonly string[]
  readonly bars: readonly Bar[]
  readonly at: number
  readonly value: (value: number) => string
}

function Panel({ series, bars, at, value }: PanelProps) {
  const bar = bars[at]
  if (bar === undefined) return null
  return (
    <div
      className={styles.panel}
      data-side={at > bars.length / 2 ? 'left' : 'right'}
      style={{ insetInlineStart: `calc(44px + (100% - 44px) * ${(at + 0.5) / bars.length})` }}
    >
      <b>{bar.title}</b>
      <dl>
        {series.map((name, index) => {
          const amount = bar.values[index] ?? 0
          if (amount === 0) return null
          return (
            <div key={name}>
              <dt>
                <Swatch index={index} />
                {name}
              </dt>
              <dd>{value(amount)}</dd>
            </div>
          )
        })}
      </dl>
      <div className={styles.total}>{value(sum(bar.values))}</div>
    </div>
  )
}

/** The colour sample of a series in a legend, `index` from 0 to 5. */
export function Swatch({ index }: { readonly index: number }) {
  return <i className={classes(styles.swatch, styles[`tone${index + 1}`])} aria-hidden="true" />
}

interface Piece {
  readonly series: number
  readonly from: number
  readonly to: number
}

function piecesOf(values: readonly number[]): readonly Piece[] {
  let from = 0
  return values.flatMap((amount, series) => {
    if (amount === 0) return []
    const piece = { series, from, to: from + amount }
    from = piece.to
    return [piece]
  })
}

function sum(values: readonly number[]): number {
  return values.reduce((total, amount) => total + amount, 0)
}

/** The next higher number that four grid lines divide evenly. */
function niceTop(most: number): number {
  if (most <= 0) return TICKS
  const scale = 10 ** Math.floor(Math.log10(most))
  const steps = [1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8, 10, 12]
  const fit = steps.find((each) => each * scale >= most) ?? 12
  return fit * scale
}
