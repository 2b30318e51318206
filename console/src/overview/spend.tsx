import { useTranslation } from 'react-i18next'
import { StackedBars, Swatch } from '../parts/charts/stacked-bars.tsx'
import { classes } from '../parts/marks/classes.ts'
import { Marked } from '../parts/marks/marked.tsx'
import { Empty } from '../parts/page/empty.tsx'
import { Loaded } from '../parts/page/loaded.tsx'
import page from '../parts/page/page.module.css'
import { useFormat } from '../parts/values/format.ts'
import styles from './overview.module.css'
import type { Period } from './periods.ts'
import type { SpendOf, useSpend } from './use-spend.ts'

interface SpendProps {
  readonly spend: ReturnType<typeof useSpend>
  readonly period: Period
}

export function Spend({ spend, period }: SpendProps) {
  const { t } = useTranslation()
  return (
    <section className={page.section}>
      <div className={page.sectionHead}>
        <h2>{t('overview.spend')}</h2>
      </div>
      <div className={styles.chartPlace}>
        <Loaded query={spend} height={240}>
          {(data) => <SpendChart data={data} period={period} />}
        </Loaded>
      </div>
    </section>
  )
}

/** Every so many bars one is named, so that the names do not touch. */
const NAMED_MAX = 7

function SpendChart({ data, period }: { readonly data: SpendOf; readonly period: Period }) {
  const { t } = useTranslation()
  const format = useFormat()
  if (data.calls === 0) {
    return (
      <Empty icon="usage" title={t('overview.noSpend')}>
        {t('overview.noSpendHint')}
      </Empty>
    )
  }
  const every = Math.ceil(data.bars.length / NAMED_MAX)
  const total = format.number(data.total, 2)
  const words = {
    total,
    period: t(`overview.within.${period}`),
    calls: format.number(data.calls),
    failed: format.percent(data.failed / data.calls, 1),
  }
  const nameOf = (at: number): string =>
    data.interval === 'day' ? format.day(at) : `${format.time(at).slice(0, 2)}:00`
  return (
    <>
      <p className={styles.lead}>
        <Marked text={t('overview.spendLead', words)} />
      </p>
      <StackedBars
        label={t('overview.spendLabel', words)}
        series={data.series.map(({ name }) => name)}
        bars={data.bars.map(({ key, at, values }, index) => ({
          key,
          values,
          title: nameOf(at),
          label: (data.bars.length - 1 - index) % every === 0 ? nameOf(at) : undefined,
        }))}
        axis={(value) => format.short(value)}
        value={(value) => format.number(value, 2)}
      />
      <ul className={classes(page.legend, styles.legend)}>
        {data.series.map(({ name, total: each }, index) => (
          <li key={name}>
            <Swatch index={index} />
            {name} <b title={`${each} Credits`}>{format.number(each)}</b>
          </li>
        ))}
      </ul>
    </>
  )
}
