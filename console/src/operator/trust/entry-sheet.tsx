import { Button } from '@mantine/core'
import type { AuditEntry } from '../../api/operator/audit.ts'
import { Sheet } from '../../parts/forms/dialog.tsx'
import sheet from '../../parts/forms/sheet.module.css'
import { type Fact, Facts } from '../../parts/lists/facts.tsx'
import table from '../../parts/lists/table.module.css'
import { classes } from '../../parts/marks/classes.ts'
import { useFormat } from '../../parts/values/format.ts'
import { AccountLink } from '../parts/account-link.tsx'
import styles from './trust.module.css'
import { useTranslation } from '../../texts/use-translation.ts'

/** One entry of the audit log, with the values before and after. */
export function EntrySheet({
  of,
  onFollow,
  onClose,
}: {
  readonly of: AuditEntry
  /** Filters the log by a subject. */
  readonly onFollow: (subject: string) => void
  readonly onClose: () => void
}) {
  const { t } = useTranslation()
  const format = useFormat()
  const rows: readonly Fact[] = [
    [t('calls.time'), format.moment(of.at)],
    [
      t('operate.by'),
      of.actor.account_id === null ? (
        of.actor.name
      ) : (
        <AccountLink key="by" id={of.actor.account_id} name={of.actor.name} />
      ),
    ],
    [t('trust.address'), of.actor.address === '' ? '–' : of.actor.address],
    [t('trust.subject'), <Subject key="subject" of={of.subject} onFollow={onFollow} />],
    ...(of.actor.request_id === null ? [] : [[t('requestId'), of.actor.request_id, 'code'] as const]),
    [t('trust.hash'), of.hash, 'code'],
  ]
  return (
    <Sheet title={t('trust.entry', { number: of.sequence, action: of.action })} onClose={onClose}>
      <Facts rows={rows} />
      {of.changes.length > 0 && <Changes of={of.changes} />}
    </Sheet>
  )
}

interface SubjectProps {
  readonly of: string
  readonly onFollow: (subject: string) => void
}

/** The subject, and a filter by it. */
function Subject({ of, onFollow }: SubjectProps) {
  const { t } = useTranslation()
  return (
    <span className={styles.subject}>
      {of.startsWith('acc_') ? <AccountLink id={of} /> : <code>{of}</code>}
      <Button variant="default" size="compact-xs" onClick={() => onFollow(of)}>
        {t('trust.follow')}
      </Button>
    </span>
  )
}

/** All changed fields, not shortened. */
function Changes({ of }: { readonly of: AuditEntry['changes'] }) {
  const { t } = useTranslation()
  return (
    <section className={sheet.part}>
      <h3>{t('trust.changes')}</h3>
      <table className={classes(table.table, styles.changes)} aria-label={t('trust.changes')}>
        <thead>
          <tr>
            <th>{t('trust.field')}</th>
            <th>{t('trust.before')}</th>
            <th>{t('trust.after')}</th>
          </tr>
        </thead>
        <tbody>
          {of.map(({ field, from, to }) => (
            <tr key={field}>
              <td>{field}</td>
              <td>
                <code>{shown(from)}</code>
              </td>
              <td>
                <code>{shown(to)}</code>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function shown(value: unknown): string {
  if (value === null || value === undefined) return '–'
  return typeof value === 'string' ? value : JSON.stringify(value, undefined, 2)
}
