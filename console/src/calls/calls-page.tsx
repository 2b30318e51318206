import { Button } from '@mantine/core'
import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { lazy, Suspense, useContext, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { type CallFilter, callsQuery, exportCalls, type readCalls } from '../api/calls.ts'
import { LIVE_MS } from '../api/query-client.ts'
import { useOrganisationId } from '../api/session.ts'
import { ExportMenu } from '../parts/lists/export-menu.tsx'
import { type Change, present } from '../parts/lists/search-fields.ts'
import { Icon } from '../parts/marks/icon.tsx'
import { Empty } from '../parts/page/empty.tsx'
import { inBackground } from '../parts/page/in-background.ts'
import { Loaded } from '../parts/page/loaded.tsx'
import { PageHead } from '../parts/page/page-head.tsx'
import { TimeZone } from '../parts/values/format.ts'
import { CallFilters } from './call-filters.tsx'
import { CallTable } from './call-table.tsx'
import styles from './calls.module.css'
import { type CallsSearch, filterOf } from './filter.ts'
import { Totals } from './totals.tsx'

const CallSheet = lazy(() =>
  import('./call-sheet.tsx').then(({ CallSheet: component }) => ({ default: component })),
)

const route = getRouteApi('/frame/calls')
const ROWS = 50
/** While the end of the log is followed. */
const TAIL_MS = 1_000

export function CallsPage() {
  const { t } = useTranslation()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const change = (fields: Change<CallsSearch>, replace = false): void =>
    inBackground(navigate({ search: (now) => present({ ...now, ...fields }), replace }))
  const organisation = useOrganisationId()
  const timeZone = useContext(TimeZone)
  const [openedAt] = useState(() => Date.now())
  const filter = filterOf(search, { openedAt, timeZone })
  return (
    <div className={styles.place} data-beside={search.call === undefined ? undefined : true}>
      <PageHead title={t('pages.calls')}>
        <ExportMenu name="calls" read={(format) => exportCalls(filter, format, organisation)} />
        <Button
          variant="default"
          aria-pressed={search.tail === true}
          data-on={search.tail}
          leftSection={<Icon name={search.tail === true ? 'paused' : 'play'} />}
          onClick={() => change({ tail: search.tail === true ? undefined : true, before: undefined })}
        >
          {t('calls.tail')}
        </Button>
      </PageHead>
      <CallFilters search={search} onChange={(fields) => change({ ...fields, before: undefined }, true)} />
      <Totals filter={filter} />
      <List filter={filter} search={search} onChange={change} />
    </div>
  )
}

interface ListProps {
  readonly filter: CallFilter
  readonly search: CallsSearch
  readonly onChange: (fields: Change<CallsSearch>, replace?: boolean) => void
}

/** One page of the log; the newest one moves. */
function List({ filter, search, onChange }: ListProps) {
  const { before, tail, call } = search
  const calls = useQuery({
    ...callsQuery(
      { ...filter, limit: ROWS, ...(before === undefined ? {} : { cursor: before }) },
      useOrganisationId(),
    ),
    refetchInterval: before === undefined ? (tail === true ? TAIL_MS : LIVE_MS) : false,
    placeholderData: keepPreviousData,
  })
  const open = (id: string): void => onChange({ call: id }, call !== undefined)
  return (
    <>
      <Rows calls={calls} search={search} onOpen={open} onChange={onChange} />
      {call !== undefined && (
        <Suspense>
          <CallSheet
            id={call}
            rows={calls.data?.data ?? []}
            onOpen={open}
            onClose={() => onChange({ call: undefined })}
          />
        </Suspense>
      )}
    </>
  )
}

interface RowsProps {
  readonly calls: UseQueryResult<Awaited<ReturnType<typeof readCalls>>>
  readonly search: CallsSearch
  readonly onOpen: (id: string) => void
  readonly onChange: (fields: Change<CallsSearch>) => void
}

function Rows({ calls, search: { before, call }, onOpen, onChange }: RowsProps) {
  const { t } = useTranslation()
  return (
    <Loaded query={calls} height={640}>
      {({ data: rows, next_cursor: next }) => (
        <>
          {rows.length === 0 ? (
            <Empty icon="calls" title={t(next === null ? 'calls.none' : 'calls.noneHere')}>
              {t(next === null ? 'calls.noneHint' : 'calls.noneHereHint')}
            </Empty>
          ) : (
            <CallTable rows={rows} chosen={call} onChoose={({ request_id }) => onOpen(request_id)} />
          )}
          <div className={styles.pages}>
            {before !== undefined && (
              <Button variant="default" onClick={() => onChange({ before: undefined })}>
                {t('calls.newest')}
              </Button>
            )}
            {next !== null && (
              <Button
                variant="default"
                rightSection={<Icon name="right" size={14} />}
                onClick={() => {
                  onChange({ before: next, tail: undefined })
                  window.scrollTo({ top: 0 })
                }}
              >
                {t('calls.older')}
              </Button>
            )}
          </div>
        </>
      )}
    </Loaded>
  )
}
