import { SeriesChart } from '../parts/charts/series-chart.tsx'
import { Marked } from '../parts/marks/marked.tsx'
import { Empty } from '../parts/page/empty.tsx'
import { LinkButton } from '../parts/page/link-button.tsx'
import { Loaded } from '../parts/page/loaded.tsx'
import page from '../parts/page/page.module.css'
import { useFormat } from '../parts/values/format.ts'
import styles from './overview.module.css'
import type { Period } from './periods.ts'
import { type SpendOf, type SpendVisit, useSpend } from './use-spend.ts'
import { useTranslation } from '../texts/use-translation.ts'

export function Spend(visit: SpendVisit) {
  const { t } = useTranslation()
  const spend = useSpend(visit)
  return (
    <section className={page.section}>
      <div className={page.sectionHead}>
        <h2>{t('overview.spend')}</h2>
        <LinkButton to="/usage" className={page.link}>
          {t('overview.openUsage')}
        </LinkButton>
      </div>
      <div className={styles.chartPlace}>
        <Loaded query={spend} height={240}>
          {(data) => <SpendChart data={data} period={visit.period} />}
        </Loaded>
      </div>
    </section>
  )
}

/** The number of labels below the bars. */
const NAMES_MAX = 7

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
  const total = format.number(data.total, 2)
  const words = {
    total,
    count: data.calls,
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
      <SeriesChart
        label={t('overview.spendLabel', words)}
        series={data.series}
        bars={data.bars}
        titleOf={nameOf}
        namesMax={NAMES_MAX}
        digits={2}
      />
    </>
  )
}
