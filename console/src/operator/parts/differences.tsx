import type { ReactNode } from 'react'
import form from '../../parts/forms/form.module.css'
import table from '../../parts/lists/table.module.css'
import styles from './differences.module.css'
import type { FieldDifference } from './field-difference.ts'
import { useTranslation } from '../../texts/use-translation.ts'

interface DifferencesProps {
  readonly label: string
  readonly of: readonly FieldDifference[]
  /** The name of a field; its key when absent. */
  readonly nameOf?: (field: string) => ReactNode
  /** There was no former value, so only the new one is shown. */
  readonly isNew?: boolean
}

/** Fields before and after. */
export function Differences({ label, of, nameOf = inCode, isNew = false }: DifferencesProps) {
  return (
    <table className={table.table} aria-label={label}>
      <tbody>
        {of.map(({ field, from, to }) => (
          <tr key={field}>
            <td className={styles.field}>{nameOf(field)}</td>
            <td className={styles.values}>
              {isNew ? (
                textOf(to)
              ) : (
                <>
                  <span className={styles.old}>{textOf(from)}</span>
                  <span className={styles.to}>→</span>
                  <b>{textOf(to)}</b>
                </>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function inCode(field: string): ReactNode {
  return <code>{field}</code>
}

function textOf(value: unknown): string {
  if (value === null || value === undefined || value === '') return '–'
  if (typeof value === 'string' || typeof value === 'number') return String(value)
  return JSON.stringify(value, (_, each: unknown) => (each === null ? undefined : each))
}

/** The changes that a form would make, below its fields. */
export function Changes({ of, nameOf }: Pick<DifferencesProps, 'of' | 'nameOf'>) {
  const { t } = useTranslation()
  return (
    <div className={form.part}>
      <h3>{t('operate.changes')}</h3>
      {of.length === 0 ? (
        <p className={form.hint}>{t('operate.noChange')}</p>
      ) : (
        <Differences label={t('operate.changes')} of={of} {...(nameOf === undefined ? {} : { nameOf })} />
      )}
    </div>
  )
}
