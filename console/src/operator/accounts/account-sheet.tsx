import { useQuery } from '@tanstack/react-query'
import { type AnyAccount, anyAccountQuery } from '../../api/operator/accounts.ts'
import { LIVE_MS } from '../../api/query-client.ts'
import { Sheet } from '../../parts/forms/dialog.tsx'
import sheet from '../../parts/forms/sheet.module.css'
import { QuotaLines } from '../../parts/limits/quota-lines.tsx'
import { usePolicyWords } from '../../parts/limits/use-policy-words.ts'
import { type Fact, Facts } from '../../parts/lists/facts.tsx'
import { Loaded } from '../../parts/page/loaded.tsx'
import { CopyIcon } from '../../parts/snippets/copy-button.tsx'
import { Amount } from '../../parts/values/amount.tsx'
import { Balance } from '../../parts/values/balance.tsx'
import { useFormat } from '../../parts/values/format.ts'
import operator from '../parts/operator.module.css'
import { AccountActions } from './account-actions.tsx'
import { AccountCalls } from './account-calls.tsx'
import { AccountKeys } from './account-keys.tsx'
import { AccountMembers } from './account-members.tsx'
import { AccountUsage } from './account-usage.tsx'
import { namesOf } from '../parts/account-name.ts'
import { Trail } from '../parts/trail.tsx'
import { AccountState, AccountTags } from './account-state.tsx'
import { useCurrencySign } from '../../parts/values/use-currency.ts'
import { useTranslation } from '../../texts/use-translation.ts'

interface AccountSheetProps {
  readonly id: string
  readonly onOpen: (id: string) => void
  readonly onClose: () => void
}

/** All details of an account, and its actions. */
export function AccountSheet({ id, onOpen, onClose }: AccountSheetProps) {
  const account = useQuery({ ...anyAccountQuery(id), refetchInterval: LIVE_MS })
  const { data } = account
  return (
    <Sheet onClose={onClose} size={640} title={data === undefined ? id : namesOf(data).name}>
      <Loaded query={account} height={560}>
        {(of) => (
          <>
            <p className={sheet.words}>
              <AccountState of={of} />
              <AccountTags of={of} />
              <span>{namesOf(of).also}</span>
            </p>
            <AccountActions of={of} />
            <Money of={of} />
            {of.plan !== null && <Plan of={of} plan={of.plan} />}
            <About of={of} />
            {of.kind === 'organisation' && <AccountMembers id={of.id} onOpen={onOpen} />}
            <AccountKeys of={of} />
            <AccountUsage id={of.id} />
            <AccountCalls id={of.id} />
            <Trail subject={of.id} />
          </>
        )}
      </Loaded>
    </Sheet>
  )
}

function Money({ of }: { readonly of: AnyAccount }) {
  const { t } = useTranslation()
  const sign = useCurrencySign()
  const cap = Number(of.monthly_cap_yuan)
  const format = useFormat()
  return (
    <dl className={sheet.figures}>
      <div>
        <dd>
          <Amount value={of.credits} />
        </dd>
        <dt>Credits</dt>
      </div>
      <div>
        <dd>
          <Amount value={of.held_credits} />
        </dd>
        <dt>{t('accounts.held')}</dt>
      </div>
      <div>
        <dd>
          <Balance value={of.balance} />
        </dd>
        <dt>{t('accounts.balance')}</dt>
      </div>
      <div>
        <dd>
          <Balance value={of.month_spent_yuan} />
        </dd>
        <dt>
          {cap === 0
            ? t('accounts.month')
            : t('accounts.monthOf', { cap: `${sign}${format.number(of.monthly_cap_yuan, 2)}` })}
        </dt>
      </div>
    </dl>
  )
}

/** The remaining quota of each window of the account's plan. */
function Plan({ of, plan }: { readonly of: AnyAccount; readonly plan: string }) {
  const { t } = useTranslation()
  const format = useFormat()
  const { plan_expires_at: end } = of
  return (
    <section className={sheet.part}>
      <h3>
        {format.list([
          t('frame.plan', { plan }),
          ...(end === null ? [] : [t('overview.until', { day: format.date(end) })]),
        ])}
      </h3>
      <QuotaLines quota={of.quota} />
    </section>
  )
}

function About({ of }: { readonly of: AnyAccount }) {
  const { t } = useTranslation()
  const sign = useCurrencySign()
  const format = useFormat()
  const policyWords = usePolicyWords()
  const { auto_exchange: exchange } = of
  const rows: readonly Fact[] = [
    [
      t('accounts.id'),
      <span key="id" className={operator.named}>
        <code>{of.id}</code>
        <CopyIcon value={of.id} label={t('copyId')} size="sm" />
      </span>,
    ],
    ...(of.email === null ? [] : [[t('signIn.email'), of.email] as const]),
    ...(of.phone === null ? [] : [[t('accounts.phone'), of.phone] as const]),
    [t('accounts.verification'), t(`accounts.verifications.${of.verification}`)],
    ...(of.plan === null ? [[t('overview.plan'), t('overview.noPlan')] as const] : []),
    [t('accounts.rate'), format.percent(Number(of.user_rate) / 100, 4)],
    [t('accounts.deduction'), t(of.api_deduction ? 'accounts.deducted' : 'accounts.notDeducted')],
    [
      t('accounts.exchange'),
      exchange.enabled
        ? t('accounts.exchanges', {
            step: `${sign}${format.number(exchange.step_yuan, 2)}`,
            credits: format.number(exchange.below_credits, 2),
          })
        : t('accounts.byHand'),
    ],
    [t('accounts.limits'), policyWords(of.limits)],
    ...(of.fallback_model === null ? [] : [[t('accounts.fallback'), of.fallback_model, 'code'] as const]),
    ...(of.byok.length === 0
      ? []
      : [[t('accounts.byok'), of.byok.map(({ vendor }) => vendor).join(', ')] as const]),
    ...(Number(of.owed) === 0 ? [] : [[t('accounts.owed'), <Amount key="owed" value={of.owed} />] as const]),
    [t('accounts.since'), format.moment(of.created_at)],
  ]
  return (
    <section className={sheet.part}>
      <h3>{t('accounts.about')}</h3>
      <Facts rows={rows} />
    </section>
  )
}
