import { useTranslation } from 'react-i18next'
import table from '../../parts/lists/table.module.css'
import { PRICE_FIELDS } from '../parts/pricing-values.ts'
import styles from './models.module.css'
import type { FieldDifference } from './price-trail.ts'

interface DifferencesProps {
  readonly label: string
  readonly of: readonly FieldDifference[]
}

/** Prices before and after. */
export function Differences({ label, of }: DifferencesProps) {
  const { t } = useTranslation()
  return (
    <table className={table.table} aria-label={label}>
      <tbody>
        {of.map(({ field, from, to }) => {
          const price = PRICE_FIELDS.find((each) => each === field)
          return (
            <tr key={field}>
              <td>{price === undefined ? <code>{field}</code> : t(`operate.prices.${price}`)}</td>
              <td className={table.number}>
                <span className={styles.old}>{textOf(from)}</span>
                <span className={styles.to}>→</span>
                <b>{textOf(to)}</b>
              </td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return '–'
  return typeof value === 'string' || typeof value === 'number' ? String(value) : JSON.stringify(value)
}
