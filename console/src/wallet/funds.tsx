import type { Account } from '../api/session.ts'
import { Figure } from '../parts/charts/figure.tsx'
import page from '../parts/page/page.module.css'
import { Amount } from '../parts/values/amount.tsx'
import { isZero } from '../parts/values/decimal.ts'
import { useFormat } from '../parts/values/format.ts'
import { useCurrencySign } from '../parts/values/use-currency.ts'
import { useTranslation } from '../texts/use-translation.ts'

/** Credits, held amounts, balance, spending and debts. */
export function Funds({ account }: { readonly account: Account | undefined }) {
  const { t } = useTranslation()
  const format = useFormat()
  const sign = useCurrencySign()
  return (
    <div className={page.figures}>
      <Figure
        name={t('overview.credits')}
        value={account && <Amount value={account.credits} />}
        note={
          account === undefined || isZero(account.held_credits)
            ? t('overview.heldNone')
            : t('wallet.held', { credits: format.number(account.held_credits, 2) })
        }
      />
      <Figure
        name={t('overview.balance')}
        value={account && <Amount value={account.balance} currency={account.currency} />}
        note={t('wallet.balanceNote')}
      />
      <Figure
        name={t('wallet.month')}
        value={account && <Amount value={account.month_spent_yuan} currency={account.currency} />}
        note={
          account === undefined || isZero(account.monthly_cap_yuan)
            ? t('wallet.noCap')
            : t('wallet.ofCap', { cap: `${sign}${format.number(account.monthly_cap_yuan, 2)}` })
        }
      />
      <Figure
        name={t('wallet.owed')}
        value={account && <Amount value={account.owed} />}
        note={t(account === undefined || isZero(account.owed) ? 'wallet.owedNone' : 'wallet.owedNote')}
      />
    </div>
  )
}
