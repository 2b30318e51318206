import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { Call } from '../api/calls.ts'
import { keysQuery } from '../api/keys.ts'
import { LIVE_MS } from '../api/query-client.ts'
import { useOrganisationId } from '../api/session.ts'
import { useCallColumns } from '../parts/calls/call-columns.tsx'
import { TwoLines } from '../parts/lists/columns.tsx'
import { type Column, DataTable } from '../parts/lists/data-table.tsx'
import table from '../parts/lists/table.module.css'
import { classes } from '../parts/marks/classes.ts'
import { Empty } from '../parts/page/empty.tsx'
import { inBackground } from '../parts/page/in-background.ts'
import { LinkButton } from '../parts/page/link-button.tsx'
import { Loaded } from '../parts/page/loaded.tsx'
import page from '../parts/page/page.module.css'
import { useFormat } from '../parts/values/format.ts'
import styles from './overview.module.css'
import { lastCallsQuery } from './queries.ts'
import { useTranslation } from '../texts/use-translation.ts'

export function LastCalls() {
  const { t } = useTranslation()
  const calls = useQuery({
    ...lastCallsQuery(useOrganisationId()),
    refetchInterval: LIVE_MS,
  })
  return (
    <section className={page.section}>
      <div className={page.sectionHead}>
        <h2>{t('overview.lastCalls')}</h2>
        <LinkButton to="/calls" className={page.link}>
          {t('overview.allCalls')}
        </LinkButton>
      </div>
      <div className={styles.callsPlace}>
        <Loaded query={calls} height={312}>
          {({ data: rows }) =>
            rows.length === 0 ? (
              <Empty icon="calls" title={t('overview.noCalls')}>
                {t('overview.noCallsHint')}
              </Empty>
            ) : (
              <CallTable rows={rows} />
            )
          }
        </Loaded>
      </div>
    </section>
  )
}

function CallTable({ rows }: { readonly rows: readonly Call[] }) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const { data: keys = [] } = useQuery(keysQuery(useOrganisationId()))
  return (
    <DataTable
      label={t('overview.lastCalls')}
      columns={useColumns(new Map(keys.map(({ id, name }) => [id, name])))}
      rows={rows}
      idOf={({ request_id }) => request_id}
      onChoose={({ request_id: call }) => inBackground(navigate({ to: '/calls', search: { call } }))}
    />
  )
}

function useColumns(names: ReadonlyMap<string, string>): readonly Column<Call>[] {
  const { t } = useTranslation()
  const format = useFormat()
  const { time, cost, took, ending } = useCallColumns()
  return [
    time,
    {
      id: 'model',
      head: t('calls.model'),
      cell: (call) => <Model call={call} keyName={names.get(call.key_id ?? '')} />,
    },
    {
      ...cost,
      cell: (call) => (
        <>
          <span className={table.first}>{cost.cell(call)}</span>
          <span className={classes(table.second, table.phone)}>{format.duration(call.duration_ms)}</span>
        </>
      ),
    },
    took,
    ending,
  ]
}

function Model({ call, keyName }: { readonly call: Call; readonly keyName: string | undefined }) {
  const { t } = useTranslation()
  const { model, model_requested: asked } = call
  const isOther = asked !== null && model !== null && asked !== model
  const facts = [
    ...(isOther ? [t('calls.asked', { model: asked })] : []),
    ...(keyName === undefined ? [] : [keyName]),
  ]
  return <TwoLines first={model ?? asked ?? call.endpoint} second={facts.join(' · ')} />
}
