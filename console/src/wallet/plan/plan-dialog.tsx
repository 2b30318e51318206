import { Button, Checkbox, Radio } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useIdempotency } from '../../api/idempotency.ts'
import { useOrganisationId } from '../../api/session.ts'
import { type Subscription, subscriptionQuery } from '../../api/subscription.ts'
import {
  buyPlan,
  changeRenewal,
  type Plan,
  type Pool,
  plansQuery,
  type Quote,
  quoteQuery,
} from '../../api/wallet.ts'
import { ChoiceCard, ChoiceCards } from '../../parts/forms/choice-card.tsx'
import { Dialog } from '../../parts/forms/dialog.tsx'
import forms from '../../parts/forms/form.module.css'
import { type Fact, Facts } from '../../parts/lists/facts.tsx'
import { Empty } from '../../parts/page/empty.tsx'
import { Loaded } from '../../parts/page/loaded.tsx'
import { FormProblem, Note } from '../../parts/page/problem.tsx'
import { useProblemText } from '../../parts/page/use-problem.ts'
import { useFormat } from '../../parts/values/format.ts'
import { Money } from '../money.tsx'
import { useRefreshMoney } from '../use-refresh.ts'
import styles from '../wallet.module.css'
import { useTranslation } from '../../texts/use-translation.ts'
import { Segments } from '../../parts/forms/segments.tsx'

interface PlanDialogProps {
  readonly onClose: () => void
}

/** Chooses a plan and how it is paid; shows a quote before buying. */
export function PlanDialog({ onClose }: PlanDialogProps) {
  const { t } = useTranslation()
  const plans = useQuery(plansQuery)
  const subscription = useQuery(subscriptionQuery(useOrganisationId()))
  const both = {
    data:
      plans.data === undefined || subscription.data === undefined
        ? undefined
        : { plans: plans.data, subscription: subscription.data },
    error: plans.error ?? subscription.error,
    refetch: () => Promise.all([plans.refetch(), subscription.refetch()]),
  }
  return (
    <Dialog onClose={onClose} size={560} title={t('wallet.plans')}>
      <Loaded query={both} height={280}>
        {(data) =>
          data.plans.length === 0 ? (
            <Empty icon="wallet" title={t('wallet.noPlans')}>
              {t('wallet.noPlansHint')}
            </Empty>
          ) : (
            <Choice {...data} onClose={onClose} />
          )
        }
      </Loaded>
    </Dialog>
  )
}

interface ChoiceProps extends PlanDialogProps {
  readonly plans: readonly Plan[]
  readonly subscription: Subscription
}

function Choice({ plans, subscription, onClose }: ChoiceProps) {
  const { t } = useTranslation()
  const next =
    plans.find(({ level }) => level > subscription.level) ??
    plans.find(({ code }) => code !== subscription.plan)
  const [code, setCode] = useState(next?.code ?? plans[0]?.code ?? '')
  const [pool, setPool] = useState<Pool>(subscription.pay_from ?? 'balance')
  const chosen = plans.find((plan) => plan.code === code)
  return (
    <div className={forms.stack}>
      <Radio.Group value={code} onChange={setCode} aria-label={t('wallet.plans')}>
        <ChoiceCards>
          {plans.map((plan) => (
            <PlanCard key={plan.code} plan={plan} isOwn={plan.code === subscription.plan} pool={pool} />
          ))}
        </ChoiceCards>
      </Radio.Group>
      <div>
        <p className={styles.label} id="pay-from">
          {t('wallet.payFrom')}
        </p>
        <Segments
          aria-labelledby="pay-from"
          value={pool}
          onChange={(value) => setPool(value)}
          data={(['balance', 'credits'] as const).map((value) => ({
            value,
            label: t(`wallet.pools.${value}`),
          }))}
        />
      </div>
      {chosen !== undefined && chosen.code !== subscription.plan && (
        <Terms key={code} plan={chosen} pool={pool} subscription={subscription} onClose={onClose} />
      )}
    </div>
  )
}

interface PlanCardProps {
  readonly plan: Plan
  readonly isOwn: boolean
  readonly pool: Pool
}

function PlanCard({ plan, isOwn, pool }: PlanCardProps) {
  const { t } = useTranslation()
  const format = useFormat()
  const period = format.period(plan.period_days * 86_400)
  return (
    <ChoiceCard
      value={plan.code}
      title={plan.code}
      tag={isOwn ? t('wallet.ownPlan') : undefined}
      hint={format.list(
        plan.quota.map(({ credits, seconds }) =>
          t('wallet.quotaWords', {
            credits: format.short(Number(credits)),
            period: format.period(seconds),
          }),
        ),
      )}
    >
      <Money pool={pool} yuan={plan.price_yuan} credits={plan.price_credits} />
      <small>{t('wallet.per', { period })}</small>
    </ChoiceCard>
  )
}

interface TermsProps extends PlanDialogProps {
  readonly plan: Plan
  readonly pool: Pool
  readonly subscription: Subscription
}

/** The effect of a choice: a higher plan begins now, a lower one when the current one ends. */
function Terms(props: TermsProps) {
  const { plan, subscription } = props
  return subscription.plan !== null && plan.level <= subscription.level ? (
    <Later {...props} />
  ) : (
    <Now {...props} />
  )
}

function Now({ plan, pool, onClose }: TermsProps) {
  const { t } = useTranslation()
  const problemText = useProblemText()
  const organisation = useOrganisationId()
  const refresh = useRefreshMoney()
  const once = useIdempotency()
  const [renews, setRenews] = useState(true)
  const quote = useQuery(quoteQuery(plan.code, pool, organisation))
  const order = { plan: plan.code, pay_from: pool, auto_renew: renews }
  const buy = useMutation({
    mutationFn: () => buyPlan(order, { organisation, once: once.header(order) }),
    onSuccess: () => {
      refresh()
      onClose()
    },
  })
  return (
    <Loaded query={quote} height={180}>
      {(costs) => (
        <div className={forms.stack}>
          <Costs costs={costs} pool={pool} />
          <Checkbox
            label={t('wallet.renewIt')}
            checked={renews}
            onChange={({ currentTarget: { checked } }) => setRenews(checked)}
          />
          {!costs.affordable && <Note>{t('wallet.notEnough')}</Note>}
          <FormProblem text={buy.error === null ? undefined : problemText(buy.error)} />
          <div className={forms.foot}>
            <Button variant="default" onClick={onClose}>
              {t('cancel')}
            </Button>
            <Button loading={buy.isPending} disabled={!costs.affordable} onClick={() => buy.mutate()}>
              {t('wallet.buy', { plan: plan.code })}
            </Button>
          </div>
        </div>
      )}
    </Loaded>
  )
}

interface CostsProps {
  readonly costs: Quote
  readonly pool: Pool
}

function Costs({ costs, pool }: CostsProps) {
  const { t } = useTranslation()
  const format = useFormat()
  const money = (name: 'price' | 'refunded' | 'due') => (
    <Money pool={pool} yuan={costs[`${name}_yuan`]} credits={costs[`${name}_credits`]} />
  )
  const back: readonly Fact[] = costs.change === 'upgrade' ? [[t('wallet.givenBack'), money('refunded')]] : []
  return (
    <Facts
      rows={[
        [t('wallet.price'), money('price')],
        ...back,
        [t('wallet.due'), <b key="due">{money('due')}</b>],
        [t('wallet.runsUntil'), format.date(costs.expires_at)],
      ]}
    />
  )
}

function Later({ plan, pool, subscription, onClose }: TermsProps) {
  const { t } = useTranslation()
  const format = useFormat()
  const problemText = useProblemText()
  const organisation = useOrganisationId()
  const refresh = useRefreshMoney()
  const change = useMutation({
    mutationFn: () => changeRenewal({ auto_renew: true, next_plan: plan.code, pay_from: pool }, organisation),
    onSuccess: () => {
      refresh()
      onClose()
    },
  })
  const day = subscription.expires_at === null ? '' : format.date(subscription.expires_at)
  return (
    <div className={forms.stack}>
      <p className={forms.words}>{t('wallet.later', { plan: plan.code, day, own: subscription.plan })}</p>
      <FormProblem text={change.error === null ? undefined : problemText(change.error)} />
      <div className={forms.foot}>
        <Button variant="default" onClick={onClose}>
          {t('cancel')}
        </Button>
        <Button loading={change.isPending} onClick={() => change.mutate()}>
          {t('wallet.goOnAs', { plan: plan.code })}
        </Button>
      </div>
    </div>
  )
}
