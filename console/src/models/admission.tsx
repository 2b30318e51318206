import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { plansQuery } from '../api/wallet.ts'
import { Icon } from '../parts/marks/icon.tsx'
import { LinkButton } from '../parts/page/link-button.tsx'
import { Note } from '../parts/page/problem.tsx'
import styles from './models.module.css'
import type { Model } from './use-models.ts'
import { useTranslation } from '../texts/use-translation.ts'

const SIGNS = { up: 'done', unsteady: 'warning', down: 'failed' } as const

/** Whether the model is available now. */
export function Health({ of }: { readonly of: Model['health'] }) {
  const { t } = useTranslation()
  return (
    <span className={styles.health} data-health={of}>
      <Icon name={SIGNS[of]} size={14} />
      {t(`models.healths.${of}`)}
    </span>
  )
}

/** What the account lacks to call the model. */
export function Missing({ of }: { readonly of: Model }) {
  const { t } = useTranslation()
  const missing = useMissing(of)
  if (missing.length === 0) return t('models.allowed')
  return missing.map(({ what, words }) => (
    <span key={what} className={styles.missing}>
      {words}
    </span>
  ))
}

/** The same as a list, each with a link to get it; renders nothing if nothing is missing. */
export function Steps({ of }: { readonly of: Model }) {
  const { t } = useTranslation()
  return useMissing(of).map(({ what, words }) => (
    <Note
      key={what}
      tone="info"
      action={
        <Button
          variant="default"
          size="xs"
          renderRoot={(props) =>
            what === 'plan' ? (
              <LinkButton {...props} to="/wallet" search={{ open: 'plan' }} />
            ) : (
              <LinkButton {...props} to="/settings" search={{ tab: 'verification' }} />
            )
          }
        >
          {t(`models.steps.${what}`)}
        </Button>
      }
    >
      {words}
    </Note>
  ))
}

function useMissing({ missing, needs }: Model) {
  const { t } = useTranslation()
  const { data: plans } = useQuery({ ...plansQuery, enabled: missing.includes('plan') })
  const fitting = plans?.filter(({ level }) => level >= needs.plan_level) ?? []
  const [plan] = fitting.toSorted((one, other) => one.level - other.level)
  const planWords =
    plan === undefined
      ? t('models.needsPlan')
      : t(fitting.length > 1 ? 'models.needsThisOrHigher' : 'models.needsThis', { plan: plan.code })
  return missing.map((what) => ({
    what,
    words: what === 'plan' ? planWords : t(`models.needsVerification.${needs.verification}`),
  }))
}
