import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { LIVE_MS } from '../api/query-client.ts'
import { accountQuery, useOrganisationId } from '../api/session.ts'
import { type Subscription, subscriptionQuery } from '../api/subscription.ts'
import { Figure } from '../parts/charts/figure.tsx'
import { QuotaLines } from '../parts/limits/quota-lines.tsx'
import page from '../parts/page/page.module.css'
import { Amount } from '../parts/values/amount.tsx'
import { isZero } from '../parts/values/decimal.ts'
import { useFormat } from '../parts/values/format.ts'
import styles from './overview.module.css'
import { type SpendVisit, useSpend } from './use-spend.ts'
import { useTranslation } from '../texts/use-translation.ts'

/** Funds: Credits, what running calls hold of them, balance and plan. */
export function Figures(visit: SpendVisit) {
  const { t } = useTranslation()
  const format = useFormat()
  const { data: spend } = useSpend(visit)
  const organisation = useOrganisationId()
  const { data: account } = useQuery({ ...accountQuery(organisation), refetchInterval: LIVE_MS })
  const { data: subscription } = useQuery({ ...subscriptionQuery(organisation), refetchInterval: LIVE_MS })
  const perDay = spend === undefined ? 0 : Number(spend.total) / spend.days
  const days = account === undefined ? undefined : daysLeft(Number(account.credits), perDay)
  return (
    <div className={page.figures}>
      <Figure
        name={t('overview.credits')}
        value={account && <Amount value={account.credits} />}
        note={days === undefined ? t('overview.creditsNote') : t('overview.daysLeft', { count: days })}
      />
      <Figure
        name={t('overview.held')}
        value={account && <Amount value={account.held_credits} />}
        note={t(
          account === undefined || isZero(account.held_credits) ? 'overview.heldNone' : 'overview.heldNote',
        )}
      />
      <Figure
        name={t('overview.balance')}
        value={account && <Amount value={account.balance} currency={account.currency} />}
        note={
          account?.auto_exchange.enabled === true
            ? t('overview.exchangesBelow', { credits: format.number(account.auto_exchange.below_credits, 2) })
            : t('overview.exchangesByHand')
        }
      />
      <Plan subscription={subscription} />
    </div>
  )
}

/** Longer estimates are not useful and are not shown. */
const DAYS_MAX = 365

function daysLeft(credits: number, perDay: number): number | undefined {
  if (perDay <= 0) return undefined
  const days = Math.floor(credits / perDay)
  return days > DAYS_MAX ? undefined : days
}

function Plan({ subscription }: { readonly subscription: Subscription | undefined }) {
  const { t } = useTranslation()
  const format = useFormat()
  if (subscription === undefined) {
    return (
      <div>
        <div className={page.figureName}>{t('overview.plan')}</div>
        {/* The height of two quota lines, so that nothing below moves. */}
        <Skeleton height={80} mt={6} />
      </div>
    )
  }
  if (subscription.plan === null) {
    return (
      <div>
        <div className={page.figureName}>{t('overview.plan')}</div>
        <div className={page.figure}>{t('overview.noPlan')}</div>
        <div className={page.figureNote}>{t('overview.noPlanNote')}</div>
      </div>
    )
  }
  return (
    <div>
      <div className={page.figureName}>
        {t('frame.plan', { plan: subscription.plan })}{' '}
        {subscription.expires_at !== null && (
          <span className={styles.until}>
            {t('overview.until', { day: format.day(subscription.expires_at) })}
          </span>
        )}
      </div>
      <QuotaLines quota={subscription.quota} />
    </div>
  )
}
