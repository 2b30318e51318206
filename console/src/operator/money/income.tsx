import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useContext } from 'react'
import { type ChainMargin, marginQuery } from '../../api/operator/models.ts'
import { Figure } from '../../parts/charts/figure.tsx'
import { seriesOf } from '../../parts/charts/series.ts'
import { SeriesChart } from '../../parts/charts/series-chart.tsx'
import { Filter, Filters } from '../../parts/lists/filters.tsx'
import { choiceField } from '../../parts/lists/search-fields.ts'
import { Marked } from '../../parts/marks/marked.tsx'
import { Empty } from '../../parts/page/empty.tsx'
import { Loaded } from '../../parts/page/loaded.tsx'
import page from '../../parts/page/page.module.css'
import { Note } from '../../parts/page/problem.tsx'
import { Amount } from '../../parts/values/amount.tsx'
import { browserZone } from '../../parts/values/browser-zone.ts'
import { TimeZone, useFormat } from '../../parts/values/format.ts'
import { dayOf, dayStart } from '../../parts/values/zoned-days.ts'
import { type Earned, earnedOf } from '../parts/earned.ts'
import { useAddress } from '../parts/use-address.ts'
import { ByAccount } from './by-account.tsx'
import { type Group, Split } from './split.tsx'
import { useTranslation } from '../../texts/use-translation.ts'

const PERIODS = ['today', '7d', '30d'] as const
const DAYS = { today: 1, '7d': 7, '30d': 30 } as const

/** Revenue and cost of calls: in total, by day, model, vendor and account. */
export function Income() {
  const { t } = useTranslation()
  const [{ period }, change] = useAddress()
  const chosen = choiceField(period, PERIODS) ?? '7d'
  const timeZone = useContext(TimeZone)
  // Whole days in the person's time zone, up to today.
  const first = dayStart(dayOf(Date.now(), timeZone), timeZone, 1 - DAYS[chosen])
  const from = new Date(first).toISOString()
  const margin = useQuery(marginQuery({ from, timezone: timeZone ?? browserZone() }))
  return (
    <>
      <Filters>
        <Filter
          always
          label={t('overview.period')}
          value={chosen}
          options={PERIODS.map((value) => ({ value, label: t(`calls.periods.${value}`) }))}
          onChange={(value) => change({ period: value })}
        />
      </Filters>
      <Loaded query={margin} height={420}>
        {({ chains, days }) =>
          chains.length === 0 ? (
            <Empty icon="wallet" title={t('money.nothing')}>
              {t('money.nothingHint')}
            </Empty>
          ) : (
            <>
              <Sums of={earnedOf(chains)} />
              {earnedOf(chains).cost === undefined && <CostUnknown />}
              {DAYS[chosen] > 1 && <Chart days={days} count={DAYS[chosen]} />}
              <ByChain of={chains} />
              <ByAccount from={from} />
              <ByDay days={days} />
            </>
          )
        }
      </Loaded>
    </>
  )
}

/** Sums of the chains by model and by vendor, and the models that lose money. */
function ByChain({ of }: { readonly of: readonly ChainMargin[] }) {
  const { t } = useTranslation()
  const models = groupsOf(of, ({ model }) => model)
  const vendors = groupsOf(of, ({ vendor_code: code }) => code)
  return (
    <>
      <Losses of={models} />
      <Split title={t('money.byModel')} head={t('calls.model')} rows={models} />
      <Split title={t('money.byVendor')} head={t('money.vendor')} rows={vendors} />
    </>
  )
}

function Sums({ of }: { readonly of: Earned }) {
  const { t } = useTranslation()
  const format = useFormat()
  return (
    <div className={page.figures}>
      <Figure
        name={t('catalogue.revenue')}
        value={<Amount value={of.revenue} />}
        note={t('money.inCredits', { calls: t('catalogue.calls', { count: of.calls }) })}
      />
      <Figure
        name={t('catalogue.cost')}
        value={of.cost === undefined ? '–' : <Amount value={of.cost} />}
        note={t(of.cost === undefined ? 'catalogue.costUnknown' : 'money.ofVendors')}
      />
      <Figure
        name={t('catalogue.margin')}
        value={of.margin === undefined ? '–' : <Amount value={of.margin} />}
        note={of.share === undefined ? '–' : format.percent(of.share, 1)}
      />
    </div>
  )
}

/** Shown where no margin is known: asks to enter costs. */
function CostUnknown() {
  const { t } = useTranslation()
  return (
    <div className={page.section}>
      <Note
        tone="info"
        action={
          <Link to="/operate/chains" className={page.link}>
            {t('catalogue.toChains')}
          </Link>
        }
      >
        {t('catalogue.costUnknownDo')}
      </Note>
    </div>
  )
}

function groupsOf(
  chains: readonly ChainMargin[],
  nameOf: (chain: ChainMargin) => string | null,
): readonly Group[] {
  return [...Map.groupBy(chains, nameOf)]
    .map(([name, own]) => ({ name: name ?? '–', earned: earnedOf(own) }))
    .toSorted(({ earned: one }, { earned: other }) => Number(other.revenue) - Number(one.revenue))
}

/** Models that cost more than they earn, each with a link to its prices. */
function Losses({ of }: { readonly of: readonly Group[] }) {
  const { t } = useTranslation()
  return of
    .filter(({ earned }) => earned.margin?.startsWith('-') === true)
    .map(({ name, earned }) => (
      <div key={name} className={page.section}>
        <Note
          action={
            <Link to="/operate/models" search={{ open: name }} className={page.link}>
              {t('money.openPrices')}
            </Link>
          }
        >
          <Marked text={t('money.loses', { model: name })} /> <Amount value={earned.margin ?? '0'} /> Credits
        </Note>
      </div>
    ))
}

interface ByDayProps {
  readonly days: readonly { readonly at: string; readonly chains: readonly ChainMargin[] }[]
}

/** The number of labels below the bars. */
const NAMES_MAX = 10

/** Revenue by day and model. */
function Chart({ days, count }: ByDayProps & { readonly count: number }) {
  const { t } = useTranslation()
  const format = useFormat()
  const timeZone = useContext(TimeZone)
  const { series, bars } = seriesOf(
    days.flatMap(({ at, chains }) => chains.map((chain) => ({ ...chain, at }))),
    {
      interval: 'day',
      count,
      now: Date.now(),
      timeZone,
      groupOf: ({ model }) => model ?? '–',
      valueOf: ({ revenue }) => revenue,
    },
  )
  return (
    <section className={page.section}>
      <h2>{t('money.incomeByDay')}</h2>
      <SeriesChart
        label={t('money.incomeByDay')}
        series={series.map(({ group = t('overview.others'), total }) => ({ name: group, total }))}
        bars={bars}
        titleOf={(at) => format.day(at)}
        namesMax={NAMES_MAX}
        digits={2}
      />
    </section>
  )
}

/** The newest first. */
function ByDay({ days }: ByDayProps) {
  const { t } = useTranslation()
  const format = useFormat()
  const rows = days.map(({ at, chains }) => ({ name: format.date(at), earned: earnedOf(chains) }))
  return <Split title={t('money.byDay')} head={t('money.day')} rows={rows.toReversed()} />
}
