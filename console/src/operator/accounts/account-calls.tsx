import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { anyCallsQuery } from '../../api/operator/calls.ts'
import { LIVE_MS } from '../../api/query-client.ts'
import { Cost } from '../../parts/calls/cost.tsx'
import { Ending } from '../../parts/calls/ending.tsx'
import sheet from '../../parts/forms/sheet.module.css'
import { DataTable } from '../../parts/lists/data-table.tsx'
import { Loaded } from '../../parts/page/loaded.tsx'
import { useFormat } from '../../parts/values/format.ts'

const CALLS = 5

/** The last calls of an account. */
export function AccountCalls({ id }: { readonly id: string }) {
  const { t } = useTranslation()
  const format = useFormat()
  const calls = useQuery({
    ...anyCallsQuery({ account_id: id, limit: CALLS }),
    refetchInterval: LIVE_MS,
  })
  return (
    <section className={sheet.part}>
      <h3>{t('overview.lastCalls')}</h3>
      <Loaded query={calls} height={80}>
        {({ data: rows }) =>
          rows.length === 0 ? (
            <p className={sheet.note}>{t('overview.noCalls')}</p>
          ) : (
            <DataTable
              label={t('overview.lastCalls')}
              rows={rows}
              idOf={({ request_id: request }) => request}
              columns={[
                {
                  id: 'time',
                  head: t('calls.time'),
                  kind: 'muted',
                  cell: ({ created_at: at }) => format.recent(at),
                },
                {
                  id: 'model',
                  head: t('calls.model'),
                  cell: ({ model, model_requested: asked, endpoint }) => model ?? asked ?? endpoint,
                },
                { id: 'cost', head: 'Credits', kind: 'number', cell: (call) => <Cost call={call} /> },
                { id: 'ending', head: t('calls.ending'), wide: true, cell: (call) => <Ending call={call} /> },
              ]}
            />
          )
        }
      </Loaded>
    </section>
  )
}
