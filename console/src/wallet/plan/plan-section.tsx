import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { LIVE_MS } from '../../api/query-client.ts'
import { useIsOwner, useOrganisationId } from '../../api/session.ts'
import { type Subscription, subscriptionQuery } from '../../api/subscription.ts'
import { changeRenewal } from '../../api/wallet.ts'
import { Confirm } from '../../parts/forms/confirm.tsx'
import { QuotaLines } from '../../parts/limits/quota-lines.tsx'
import { Marked } from '../../parts/marks/marked.tsx'
import { Loaded } from '../../parts/page/loaded.tsx'
import page from '../../parts/page/page.module.css'
import { useFormat } from '../../parts/values/format.ts'
import { useRefreshMoney } from '../use-refresh.ts'
import styles from '../wallet.module.css'
import { useTranslation } from '../../texts/use-translation.ts'

/** The plan, its remaining quota, and its renewal. */
export function PlanSection({ onChange }: { readonly onChange: () => void }) {
  const { t } = useTranslation()
  const isOwner = useIsOwner()
  const subscription = useQuery({
    ...subscriptionQuery(useOrganisationId()),
    refetchInterval: LIVE_MS,
  })
  return (
    <section>
      <h2 className={styles.title}>{t('overview.plan')}</h2>
      <Loaded query={subscription} height={160}>
        {(data) => (
          <>
            {data.plan === null ? (
              <p className={page.muted}>{t('wallet.noPlan')}</p>
            ) : (
              <Running subscription={data} />
            )}
            {isOwner ? (
              <div className={styles.acts}>
                <Button variant={data.plan === null ? 'filled' : 'default'} onClick={onChange}>
                  {t(data.plan === null ? 'wallet.choosePlan' : 'wallet.changePlan')}
                </Button>
                {data.plan !== null && <Renewal subscription={data} />}
              </div>
            ) : (
              <p className={styles.hint}>{t('wallet.ownersOnly')}</p>
            )}
          </>
        )}
      </Loaded>
    </section>
  )
}

function Running({ subscription }: { readonly subscription: Subscription }) {
  const { t } = useTranslation()
  const { plan, quota } = subscription
  const words = useRenewalWords(subscription)
  return (
    <>
      <p className={styles.plan}>
        <b>{plan}</b> <span className={page.muted}>{words}</span>
      </p>
      <QuotaLines quota={quota} />
      <p className={styles.hint}>{t('wallet.carriedHint')}</p>
    </>
  )
}

function useRenewalWords({
  expires_at: end,
  renews_at: renewal,
  next_plan: next,
  pay_from: pool,
  plan,
}: Subscription) {
  const { t } = useTranslation()
  const format = useFormat()
  if (end === null) return ''
  if (renewal === null || pool === null) return t('wallet.ends', { day: format.date(end) })
  const words = { day: format.date(renewal), pool: t(`wallet.pools.${pool}`), plan: next ?? plan ?? '' }
  return t(next === null || next === plan ? 'wallet.renews' : 'wallet.goesOn', words)
}

/** Cancels the renewal, or resumes it. */
function Renewal({
  subscription: { plan, auto_renew: renews, expires_at: end },
}: {
  readonly subscription: Subscription
}) {
  const { t } = useTranslation()
  const format = useFormat()
  const organisation = useOrganisationId()
  const refresh = useRefreshMoney()
  const [asking, setAsking] = useState(false)
  const words = { plan, day: end === null ? '' : format.date(end) }
  return (
    <>
      <Button variant="subtle" onClick={() => setAsking(true)}>
        {t(renews ? 'wallet.cancelPlan' : 'wallet.renewPlan')}
      </Button>
      {asking && (
        <Confirm
          title={t(renews ? 'wallet.cancelTitle' : 'wallet.renewTitle')}
          action={t(renews ? 'wallet.cancelPlan' : 'wallet.renewPlan')}
          danger={renews}
          onConfirm={async () => {
            await changeRenewal({ auto_renew: !renews }, organisation)
            refresh()
          }}
          onClose={() => setAsking(false)}
        >
          <Marked text={t(renews ? 'wallet.cancelText' : 'wallet.renewText', words)} />
        </Confirm>
      )}
    </>
  )
}
