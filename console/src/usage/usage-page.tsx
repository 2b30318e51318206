import { Button, SegmentedControl } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { useOrganisationId } from '../api/session.ts'
import { ExportMenu } from '../parts/lists/export-menu.tsx'
import { Filter, Filters } from '../parts/lists/filters.tsx'
import { type Change, choiceField, present } from '../parts/lists/search-fields.ts'
import { Empty } from '../parts/page/empty.tsx'
import { inBackground } from '../parts/page/in-background.ts'
import { LinkButton } from '../parts/page/link-button.tsx'
import { Loaded } from '../parts/page/loaded.tsx'
import { PageHead } from '../parts/page/page-head.tsx'
import { fileOf } from './export.ts'
import type { Row } from './measures.ts'
import {
  bucketsOf,
  DEFAULT_PERIOD,
  GROUPS,
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
import { useGroups } from './use-groups.ts'
import { useUsage } from './use-usage.ts'

const route = getRouteApi('/frame/usage')
const LONGEST = '90d'

export function UsagePage() {
  const { t } = useTranslation()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const change = (fields: Change<UsageSearch>): void =>
    inBackground(navigate({ search: (now) => present({ ...now, ...fields }), replace: true }))
  const usage = useUsage(search)
  const groups = useGroups(search.by ?? 'model')
  return (
    <>
      <PageHead title={t('pages.usage')} lead={t('usage.lead')}>
        <ExportMenu
          name={`usage-${search.period ?? DEFAULT_PERIOD}`}
          read={(format) => Promise.resolve(fileOf(usage.data ?? [], format))}
        />
      </PageHead>
      <UsageFilters search={search} onChange={change} />
      <Loaded query={usage} height={560}>
        {(rows) =>
          rows.length === 0 ? (
            <Nothing search={search} onChange={change} />
          ) : (
            <Shown rows={rows} search={search} groups={groups} />
          )
        }
      </Loaded>
    </>
  )
}

interface ShownProps {
  readonly rows: readonly Row[]
  readonly search: UsageSearch
  readonly groups: ReturnType<typeof useGroups>
}

function Shown({ rows, search, groups }: ShownProps) {
  return (
    <>
      <UsageFigures rows={rows} />
      <UsageChart rows={rows} search={search} groups={groups} />
      <UsageTable rows={rows} search={search} groups={groups} />
    </>
  )
}

/** No usage, and what to do about it: look as far back as one can, then make a call. */
function Nothing({ search: { period }, onChange }: UsageFiltersProps) {
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

interface UsageFiltersProps {
  readonly search: UsageSearch
  readonly onChange: (fields: Change<UsageSearch>) => void
}

function UsageFilters({ search, onChange }: UsageFiltersProps) {
  const { t } = useTranslation()
  const organisation = useOrganisationId()
  const { period = DEFAULT_PERIOD, by = 'model', measure = 'credits' } = search
  const { interval } = bucketsOf(period, search.interval)
  return (
    <Filters
      sum={
        <SegmentedControl
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
        options={GROUPS.filter((value) => value !== 'member' || organisation !== undefined).map((value) => ({
          value,
          label: t(`usage.splits.${value}`),
        }))}
        onChange={(value) => onChange({ by: choiceField(value, GROUPS) })}
      />
    </Filters>
  )
}
