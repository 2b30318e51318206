import { useQuery } from '@tanstack/react-query'
import { useMayManage, useOrganisationId } from '../../api/session.ts'
import { subscriptionQuery } from '../../api/subscription.ts'
import { LimitBar } from '../../parts/limits/limit-bar.tsx'
import { useFormat } from '../../parts/values/format.ts'
import styles from './frame.module.css'
import { useTranslation } from '../../texts/use-translation.ts'

/** How much of the plan's longest quota is used; renders nothing without a plan. */
export function PlanMeter() {
  const { t } = useTranslation()
  const format = useFormat()
  const mayManage = useMayManage()
  const { data } = useQuery({ ...subscriptionQuery(useOrganisationId()), enabled: mayManage })
  const plan = data?.plan ?? undefined
  const longest = data?.quota.toSorted((one, other) => other.seconds - one.seconds)[0]
  if (plan === undefined || longest === undefined) return null
  const used = Number(longest.used) + Number(longest.held)
  const share = Number(longest.credits) === 0 ? 0 : used / Number(longest.credits)
  return (
    <div className={styles.plan}>
      <div className={styles.planWords}>
        <span>{t('frame.plan', { plan })}</span>
        <span>
          {t('frame.planUsed', { share: format.percent(share), period: format.period(longest.seconds) })}
        </span>
      </div>
      <LimitBar
        used={share}
        label={t('frame.planLabel', {
          used: format.number(used, 2),
          credits: format.number(longest.credits, 2),
        })}
      />
    </div>
  )
}
