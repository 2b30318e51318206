import { Button } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { type ReactNode, Suspense, useContext, useState } from 'react'
import { LIVE_MS } from '../../api/query-client.ts'
import { late } from '../page/late.ts'
import type { Column } from '../lists/data-table.tsx'
import { ExportMenu } from '../lists/export-menu.tsx'
import type { Change } from '../lists/search-fields.ts'
import { Icon } from '../marks/icon.tsx'
import { Empty } from '../page/empty.tsx'
import { LinkButton } from '../page/link-button.tsx'
import { Loaded } from '../page/loaded.tsx'
import { PageHead } from '../page/page-head.tsx'
import type { ChangeAddress, SheetAddress } from '../page/use-sheet-address.ts'
import { TimeZone } from '../values/format.ts'
import { CallFilters } from './call-filters.tsx'
import styles from './call-log.module.css'
import { CallTable } from './call-table.tsx'
import { type CallsSearch, filterOf, FURTHER } from './filter.ts'
import { type LogFilter, type LoggedCall, type LogSource, rowsOf } from './log-source.ts'
import { Totals } from './totals.tsx'
import { useTranslation } from '../../texts/use-translation.ts'

const CallSheet = late(async () => (await import('./call-sheet.tsx')).CallSheet)

/** Refresh interval of the live tail, ms. */
const TAIL_MS = 1_000

interface Key {
  readonly id: string
  readonly name: string
}

interface CallLogProps {
  readonly title: string
  readonly source: LogSource
  readonly search: CallsSearch
  readonly onChange: ChangeAddress<CallsSearch>
  /** The details of a call. */
  readonly sheet: SheetAddress
  /** Search parameters that only this log has. */
  readonly also?: Pick<LogFilter, 'account_id' | 'usage_suspect'>
  /** Ids to filter by. */
  readonly models: readonly string[]
  /** Absent: the log has no filter by key. */
  readonly keys?: readonly Key[]
  /** Filters, columns and details that only this log has. */
  readonly filters?: ReactNode
  readonly columns?: readonly Column<LoggedCall>[]
  readonly details: (call: LoggedCall) => ReactNode
}

/** The log of calls: filters, totals, live tail, details and export. */
export function CallLog(props: CallLogProps) {
  const { t } = useTranslation()
  const { title, source, search, onChange, also = {}, models, keys, filters } = props
  const timeZone = useContext(TimeZone)
  const [openedAt] = useState(() => Date.now())
  const filter: LogFilter = { ...filterOf(search, { openedAt, timeZone }), ...also }
  const rows = { ...rowsOf(source, filter, search.before), placeholderData: keepPreviousData }
  return (
    <div className={styles.place} data-beside={search.call === undefined ? undefined : true}>
      <PageHead title={title} lead={t('calls.lead')}>
        <ExportMenu name="calls" read={(format) => source.save(filter, format)} />
        <Button
          variant="default"
          aria-pressed={search.tail === true}
          data-on={search.tail}
          leftSection={<Icon name={search.tail === true ? 'paused' : 'play'} />}
          onClick={() =>
            onChange({ tail: search.tail === true ? undefined : true, before: undefined }, 'push')
          }
        >
          {t('calls.tail')}
        </Button>
      </PageHead>
      <CallFilters
        search={search}
        models={models}
        {...(keys === undefined ? {} : { keys })}
        onChange={(fields) => onChange({ ...fields, before: undefined })}
      >
        {filters}
      </CallFilters>
      <Sums source={source} filter={filter} rows={rows} />
      <List {...props} rows={rows} />
    </div>
  )
}

/** What asks for the rows. Only what shows them follows it, so that their arrival does not render the filters again. */
type RowsQuery = ReturnType<typeof rowsOf> & { readonly placeholderData: typeof keepPreviousData }

interface SumsProps {
  readonly source: LogSource
  readonly filter: LogFilter
  readonly rows: RowsQuery
}

/** The totals, which are asked for once the rows are there. */
function Sums({ source, filter, rows }: SumsProps) {
  const { isPending, isPlaceholderData } = useQuery(rows)
  return <Totals source={source} filter={filter} enabled={!isPending && !isPlaceholderData} />
}

interface ListProps extends CallLogProps {
  readonly rows: RowsQuery
}

/** One page of the log; the first one refreshes by itself. */
function List({ rows, source, search, keys = [], columns, details, onChange, sheet }: ListProps) {
  const { call, before, tail } = search
  const calls = useQuery({
    ...rows,
    refetchInterval: before === undefined ? (tail === true ? TAIL_MS : LIVE_MS) : false,
  })
  const keyNames = new Map(keys.map(({ id, name }) => [id, name]))
  return (
    <>
      <Loaded query={calls} height={640}>
        {(page) => (
          <>
            {page.data.length === 0 ? (
              <Nothing isAll={page.next_cursor === null} search={search} onChange={onChange} />
            ) : (
              <CallTable
                rows={page.data}
                chosen={call}
                keyNames={keyNames}
                more={columns}
                onChoose={sheet.open}
              />
            )}
            <Pages next={page.next_cursor} search={search} onChange={onChange} />
          </>
        )}
      </Loaded>
      {call !== undefined && (
        <Suspense>
          <CallSheet
            id={call}
            source={source}
            keyNames={keyNames}
            more={details}
            rows={calls.data?.data ?? []}
            onOpen={sheet.open}
            onClose={sheet.close}
          />
        </Suspense>
      )}
    </>
  )
}

interface NothingProps extends Pick<CallLogProps, 'search' | 'onChange'> {
  /** False: there may be older matches. */
  readonly isAll: boolean
}

const FILTERS = ['model', 'key_id', 'ending', ...FURTHER] as const

/** The empty state: look further back, clear the filters, or make the first call. */
function Nothing({ isAll, search, onChange }: NothingProps) {
  const { t } = useTranslation()
  if (!isAll)
    return (
      <Empty icon="calls" title={t('calls.noneHere')}>
        {t('calls.noneHereHint')}
      </Empty>
    )
  const isFiltered = FILTERS.some((name) => search[name] !== undefined)
  if (!isFiltered && search.period === 'all')
    return (
      <Empty
        icon="calls"
        title={t('overview.noCalls')}
        action={
          <Button component={LinkButton} to="/" variant="default">
            {t('notFound.home')}
          </Button>
        }
      >
        {t('overview.noCallsHint')}
      </Empty>
    )
  const wider: Change<CallsSearch> = isFiltered
    ? Object.fromEntries(FILTERS.map((name) => [name, undefined]))
    : { period: 'all' }
  return (
    <Empty
      icon="calls"
      title={t('calls.none')}
      action={
        <Button variant="default" onClick={() => onChange({ ...wider, before: undefined })}>
          {t(isFiltered ? 'clearFilters' : 'calls.periods.all')}
        </Button>
      }
    >
      {t('calls.noneHint')}
    </Empty>
  )
}

interface PagesProps extends Pick<CallLogProps, 'search' | 'onChange'> {
  readonly next: string | null
}

function Pages({ next, search: { before }, onChange }: PagesProps) {
  const { t } = useTranslation()
  const turn = (fields: Change<CallsSearch>): void => {
    onChange(fields, 'push')
    window.scrollTo({ top: 0 })
  }
  return (
    <div className={styles.pages}>
      {before !== undefined && (
        <Button variant="default" onClick={() => turn({ before: undefined })}>
          {t('calls.newest')}
        </Button>
      )}
      {next !== null && (
        <Button
          variant="default"
          rightSection={<Icon name="right" size={14} />}
          onClick={() => turn({ before: next, tail: undefined })}
        >
          {t('calls.older')}
        </Button>
      )}
    </div>
  )
}
