import { useInfiniteQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { auditQuery } from '../../api/operator/audit.ts'
import sheet from '../../parts/forms/sheet.module.css'
import { DataTable } from '../../parts/lists/data-table.tsx'
import { Loaded } from '../../parts/page/loaded.tsx'
import { useFormat } from '../../parts/values/format.ts'

const ENTRIES = 5

/** What was done to an account, and by whom. */
export function AccountTrail({ id }: { readonly id: string }) {
  const { t } = useTranslation()
  const format = useFormat()
  const audit = useInfiniteQuery(auditQuery({ subject: id, limit: ENTRIES }))
  return (
    <section className={sheet.part}>
      <h3>{t('accounts.trail')}</h3>
      <Loaded query={audit} height={80}>
        {({ pages: [first] }) =>
          first === undefined || first.data.length === 0 ? (
            <p className={sheet.note}>{t('accounts.noTrail')}</p>
          ) : (
            <DataTable
              label={t('accounts.trail')}
              rows={first.data}
              idOf={({ sequence }) => String(sequence)}
              columns={[
                {
                  id: 'time',
                  head: t('calls.time'),
                  kind: 'muted',
                  cell: ({ at }) => format.recent(at),
                },
                { id: 'action', head: t('accounts.action'), cell: ({ action }) => <code>{action}</code> },
                { id: 'who', head: t('accounts.by'), kind: 'muted', cell: ({ actor }) => actor.name },
              ]}
            />
          )
        }
      </Loaded>
    </section>
  )
}
