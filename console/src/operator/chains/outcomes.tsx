import type { Chain } from '../../api/operator/chains.ts'
import styles from './chains.module.css'
import { useTranslation } from '../../texts/use-translation.ts'

/** The last outcomes of a chain, oldest first. */
export function Outcomes({ of: { outcomes } }: { readonly of: Chain['health'] }) {
  const { t } = useTranslation()
  const signs = outcomes.split('')
  const failed = signs.filter((sign) => sign === '-').length
  return (
    <span
      className={styles.outcomes}
      role="img"
      aria-label={t('chains.outcomes', { count: outcomes.length, failed })}
      title={t('chains.outcomes', { count: outcomes.length, failed })}
    >
      {signs.map((sign, index) => (
        <i key={index} data-failed={sign === '-' || undefined} />
      ))}
    </span>
  )
}
