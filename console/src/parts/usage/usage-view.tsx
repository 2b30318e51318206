import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { ExportMenu } from '../lists/export-menu.tsx'
import { Filter, Filters } from '../lists/filters.tsx'
import { type Change, choiceField } from '../lists/search-fields.ts'
import { Empty } from '../page/empty.tsx'
import { LinkButton } from '../page/link-button.tsx'
import { Loaded } from '../page/loaded.tsx'
import { PageHead } from '../page/page-head.tsx'
import { fileOf } from './export.ts'
import type { Groups } from './groups.ts'
import type { Row } from './measures.ts'
import {
  bucketsOf,
  DEFAULT_PERIOD,
  type Group,
  INTERVALS,
  MEASURES,
  PERIODS,
  SPANS,
  type UsageSearch,
} from './search.ts'
import styles from './usage.module.css'
import { UsageChart } from './usage-chart.tsx'
import { UsageFigures } from './usage-figures.tsx'
import { UsageTable } from './usage-table.tsx'
import { useTranslation } from '../../texts/use-translation.ts'
import { Segments } from '../forms/segments.tsx'

const LONGEST = '90d'

interface UsageViewProps {
  readonly title: string
  readonly lead: string
  readonly search: UsageSearch
  readonly usage: {
    readonly data: readonly Row[] | undefined
    readonly error: unknown
    refetch(): Promise<unknown>
  }
  readonly groups: Groups
  /** The dimensions it can be split by. */
  readonly splits: readonly Group[]
  /** Additional filters. */
  readonly filters?: ReactNode
  readonly onChange: (fields: Change<UsageSearch>) => void
  /** Opens the calls of a group. */
  readonly onChoose: ((id: string) => void) | undefined
}

/** Usage as figures, chart, table and export. */
export function UsageView({ title, lead, usage, ...shown }: UsageViewProps) {
  return (
    <>
      <PageHead title={title} lead={lead}>
        <ExportMenu
          name={`usage-${shown.search.period ?? DEFAULT_PERIOD}`}
          read={(format) => Promise.resolve(fileOf(usage.data ?? [], format))}
        />
      </PageHead>
      <UsageFilters {...shown} />
      <Loaded query={usage} height={560}>
        {(rows) => (rows.length === 0 ? <Nothing {...shown} /> : <Shown rows={rows} {...shown} />)}
      </Loaded>
    </>
  )
}

type ShownProps = Pick<UsageViewProps, 'search' | 'groups' | 'onChoose'> & { readonly rows: readonly Row[] }

function Shown({ rows, search, groups, onChoose }: ShownProps) {
  return (
    <>
      <UsageFigures rows={rows} />
      <UsageChart rows={rows} search={search} groups={groups} />
      <UsageTable rows={rows} search={search} groups={groups} onChoose={onChoose} />
    </>
  )
}

/** The empty state: look further back, or make a call. */
function Nothing({ search: { period }, onChange }: Pick<UsageViewProps, 'search' | 'onChange'>) {
  const { t } = useTranslation()
  return (
    <Empty
      icon="usage"
      title={t('overview.noSpend')}
      action={
        period === LONGEST ? (
          <Button variant="default" renderRoot={(props) => <LinkButton {...props} to="/" />}>
            {t('notFound.home')}
          </Button>
        ) : (
          <Button variant="default" onClick={() => onChange({ period: LONGEST, interval: undefined })}>
            {t(`usage.periods.${LONGEST}`)}
          </Button>
        )
      }
    >
      {t('usage.noneHint')}
    </Empty>
  )
}

type UsageFiltersProps = Pick<UsageViewProps, 'search' | 'splits' | 'filters' | 'onChange'>

function UsageFilters({ search, splits, filters, onChange }: UsageFiltersProps) {
  const { t } = useTranslation()
  const { period = DEFAULT_PERIOD, by = 'model', measure = 'credits' } = search
  const { interval } = bucketsOf(period, search.interval)
  return (
    <Filters
      sum={
        <Segments
          className={styles.measure ?? ''}
          aria-label={t('usage.measure')}
          value={measure}
          onChange={(value) => onChange({ measure: value })}
          data={MEASURES.map((value) => ({ value, label: t(`usage.measures.${value}`) }))}
        />
      }
    >
      <Filter
        always
        label={t('overview.period')}
        value={period}
        options={PERIODS.map((value) => ({ value, label: t(`usage.periods.${value}`) }))}
        onChange={(value) => onChange({ period: choiceField(value, PERIODS) })}
      />
      <Filter
        always
        label={t('usage.interval')}
        value={interval}
        options={INTERVALS.filter((value) => SPANS[period][value] !== undefined).map((value) => ({
          value,
          label: t(`usage.intervals.${value}`),
        }))}
        onChange={(value) => onChange({ interval: choiceField(value, INTERVALS) })}
      />
      <Filter
        always
        label={t('usage.by')}
        value={by}
        options={splits.map((value) => ({ value, label: t(`usage.splits.${value}`) }))}
        onChange={(value) => onChange({ by: choiceField(value, splits) })}
      />
      {filters}
    </Filters>
  )
}
