import { useTranslation } from 'react-i18next'
import { Icon } from '../parts/marks/icon.tsx'
import styles from './models.module.css'
import type { Model } from './use-models.ts'

const SIGNS = { up: 'done', unsteady: 'warning', down: 'failed' } as const

/** Whether the model answers now. */
export function Health({ of }: { readonly of: Model['health'] }) {
  const { t } = useTranslation()
  return (
    <span className={styles.health} data-health={of}>
      <Icon name={SIGNS[of]} size={14} />
      {t(`models.healths.${of}`)}
    </span>
  )
}

/** What the person lacks to call the model. */
export function Missing({ of: { missing, needs } }: { readonly of: Model }) {
  const { t } = useTranslation()
  if (missing.length === 0) return t('models.allowed')
  return missing
    .map((what) =>
      what === 'plan'
        ? t('models.needsPlan', { level: needs.plan_level })
        : t(`models.needsVerification.${needs.verification}`),
    )
    .join(', ')
}
