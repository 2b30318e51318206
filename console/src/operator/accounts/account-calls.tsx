import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { anyCallsQuery } from '../../api/operator/calls.ts'
import { LIVE_MS } from '../../api/query-client.ts'
import { Cost } from '../../parts/calls/cost.tsx'
import { Ending } from '../../parts/calls/ending.tsx'
import type { LoggedCall } from '../../parts/calls/log-source.ts'
import sheet from '../../parts/forms/sheet.module.css'
import { type Column, DataTable } from '../../parts/lists/data-table.tsx'
import { Loaded } from '../../parts/page/loaded.tsx'
import page from '../../parts/page/page.module.css'
import { useFormat } from '../../parts/values/format.ts'

const CALLS = 5

/** The last calls of an account. */
export function AccountCalls({ id }: { readonly id: string }) {
  const { t } = useTranslation()
  const columns = useColumns(id)
  const calls = useQuery({
    ...anyCallsQuery({ account_id: id, limit: CALLS }),
    refetchInterval: LIVE_MS,
  })
  return (
    <section className={sheet.part}>
      <div className={sheet.partHead}>
        <h3>{t('overview.lastCalls')}</h3>
        <Link to="/operate/calls" search={{ account: id }} className={page.link}>
          {t('accounts.toCalls')}
        </Link>
      </div>
      <Loaded query={calls} height={80}>
        {({ data: rows }) =>
          rows.length === 0 ? (
            <p className={sheet.note}>{t('overview.noCalls')}</p>
          ) : (
            <DataTable
              label={t('overview.lastCalls')}
              rows={rows}
              idOf={({ request_id: request }) => request}
              columns={columns}
            />
          )
        }
      </Loaded>
    </section>
  )
}

function useColumns(id: string): readonly Column<LoggedCall>[] {
  const { t } = useTranslation()
  const format = useFormat()
  return [
    {
      id: 'time',
      head: t('calls.time'),
      kind: 'muted',
      cell: ({ created_at: at }) => format.recent(at),
    },
    {
      id: 'model',
      head: t('calls.model'),
      cell: ({ model, model_requested: asked, endpoint, request_id: request }) => (
        <Link
          to="/operate/calls"
          search={{ account: id, period: 'all', call: request }}
          className={page.link}
        >
          {model ?? asked ?? endpoint}
        </Link>
      ),
    },
    { id: 'cost', head: 'Credits', kind: 'number', cell: (call) => <Cost call={call} /> },
    { id: 'ending', head: t('calls.ending'), wide: true, cell: (call) => <Ending call={call} /> },
  ]
}
