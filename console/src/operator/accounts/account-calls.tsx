import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { anyCallsQuery } from '../../api/operator/calls.ts'
import { LIVE_MS } from '../../api/query-client.ts'
import { useCallColumns } from '../../parts/calls/call-columns.tsx'
import type { LoggedCall } from '../../parts/calls/log-source.ts'
import sheet from '../../parts/forms/sheet.module.css'
import { type Column, DataTable } from '../../parts/lists/data-table.tsx'
import { Loaded } from '../../parts/page/loaded.tsx'
import page from '../../parts/page/page.module.css'
import { useTranslation } from '../../texts/use-translation.ts'

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
  const { time, cost, ending } = useCallColumns()
  return [
    { ...time, wide: false },
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
    cost,
    ending,
  ]
}
