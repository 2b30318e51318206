import { useInfiniteQuery } from '@tanstack/react-query'
import { auditQuery } from '../../api/operator/audit.ts'
import sheet from '../../parts/forms/sheet.module.css'
import { DataTable } from '../../parts/lists/data-table.tsx'
import { Loaded } from '../../parts/page/loaded.tsx'
import { useFormat } from '../../parts/values/format.ts'
import { useTranslation } from '../../texts/use-translation.ts'

const ENTRIES = 5

interface TrailProps {
  /** The subject, as the audit log names it. */
  readonly subject: string
}

/** The newest entries of the audit log about a subject. */
export function Trail({ subject }: TrailProps) {
  const { t } = useTranslation()
  const format = useFormat()
  const audit = useInfiniteQuery(auditQuery({ subject, limit: ENTRIES }))
  return (
    <section className={sheet.part}>
      <h3>{t('operate.trail')}</h3>
      <Loaded query={audit} height={80}>
        {({ pages: [first] }) =>
          first === undefined || first.data.length === 0 ? (
            <p className={sheet.note}>{t('operate.noTrail')}</p>
          ) : (
            <DataTable
              label={t('operate.trail')}
              rows={first.data}
              idOf={({ sequence }) => String(sequence)}
              columns={[
                {
                  id: 'time',
                  head: t('calls.time'),
                  kind: 'muted',
                  cell: ({ at }) => format.recent(at),
                },
                { id: 'action', head: t('operate.action'), cell: ({ action }) => <code>{action}</code> },
                { id: 'who', head: t('operate.by'), kind: 'muted', cell: ({ actor }) => actor.name },
              ]}
            />
          )
        }
      </Loaded>
    </section>
  )
}
