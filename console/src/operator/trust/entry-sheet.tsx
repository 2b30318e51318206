import { useTranslation } from 'react-i18next'
import type { AuditEntry } from '../../api/operator/audit.ts'
import { Sheet } from '../../parts/forms/dialog.tsx'
import sheet from '../../parts/forms/sheet.module.css'
import { type Fact, Facts } from '../../parts/lists/facts.tsx'
import table from '../../parts/lists/table.module.css'
import { useFormat } from '../../parts/values/format.ts'
import operator from '../parts/operator.module.css'

/** One act, with what was before and after it. */
export function EntrySheet({ of, onClose }: { readonly of: AuditEntry; readonly onClose: () => void }) {
  const { t } = useTranslation()
  const format = useFormat()
  const rows: readonly Fact[] = [
    [t('calls.time'), format.moment(of.at)],
    [t('operate.by'), of.actor.name],
    [t('trust.address'), of.actor.address === '' ? '–' : of.actor.address],
    [t('trust.subject'), of.subject, 'code'],
    ...(of.actor.request_id === null ? [] : [[t('requestId'), of.actor.request_id, 'code'] as const]),
    [t('trust.hash'), of.hash, 'code'],
  ]
  return (
    <Sheet title={t('trust.entry', { number: of.sequence, action: of.action })} onClose={onClose}>
      <Facts rows={rows} />
      {of.changes.length > 0 && (
        <section className={sheet.part}>
          <h3>{t('trust.changes')}</h3>
          <table className={table.table} aria-label={t('trust.changes')}>
            <thead>
              <tr>
                <th>{t('trust.field')}</th>
                <th>{t('trust.before')}</th>
                <th>{t('trust.after')}</th>
              </tr>
            </thead>
            <tbody>
              {of.changes.map(({ field, from, to }) => (
                <tr key={field}>
                  <td>{field}</td>
                  <td className={operator.wrapped}>
                    <code>{shown(from)}</code>
                  </td>
                  <td className={operator.wrapped}>
                    <code>{shown(to)}</code>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </Sheet>
  )
}

function shown(value: unknown): string {
  if (value === null || value === undefined) return '–'
  return typeof value === 'string' ? value : JSON.stringify(value)
}
