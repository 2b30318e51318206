import { Button, NumberInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useIdempotency } from '../api/idempotency.ts'
import { type Account, useOrganisationId } from '../api/session.ts'
import { exchange, offersQuery } from '../api/wallet.ts'
import forms from '../parts/forms/form.module.css'
import { useSubmit } from '../parts/forms/use-submit.ts'
import { Done } from '../parts/page/done.tsx'
import page from '../parts/page/page.module.css'
import { FormProblem } from '../parts/page/problem.tsx'
import { compareDecimals, isZero, timesDecimal } from '../parts/values/decimal.ts'
import { useFormat } from '../parts/values/format.ts'
import { useRefreshMoney } from './use-refresh.ts'
import styles from './wallet.module.css'
import { useCurrencySign } from '../parts/values/use-currency.ts'
import { useTranslation } from '../texts/use-translation.ts'

/** Exchanges balance for Credits by hand. */
export function Exchange({ account }: { readonly account: Account | undefined }) {
  const { t } = useTranslation()
  const sign = useCurrencySign()
  const balance = account?.balance ?? '0'
  const { form, submit, isPending, problem, done, forget } = useExchange(balance)
  return (
    <section>
      <h2 className={styles.title}>{t('wallet.exchange')}</h2>
      <form noValidate className={forms.stack} onSubmit={submit} onChange={forget}>
        <p className={page.muted}>{t('wallet.exchangeHint')}</p>
        <div className={styles.trade}>
          <NumberInput
            label={t('overview.balance')}
            prefix={sign}
            min={0}
            decimalScale={6}
            placeholder={sign}
            {...form.getInputProps('yuan')}
          />
          <Button type="submit" loading={isPending} disabled={isZero(balance)}>
            {t('wallet.exchangeNow')}
          </Button>
        </div>
        <div className={styles.becomes}>
          <Becomes yuan={String(form.values.yuan)} />
          {!isZero(balance) && (
            <button
              type="button"
              className={page.link}
              onClick={() => form.setFieldValue('yuan', Number(balance))}
            >
              {t('wallet.all')}
            </button>
          )}
        </div>
        <FormProblem text={problem} />
        <Done text={done} />
      </form>
    </section>
  )
}

function useExchange(balance: string) {
  const { t } = useTranslation()
  const format = useFormat()
  const organisation = useOrganisationId()
  const refresh = useRefreshMoney()
  const once = useIdempotency()
  const [done, setDone] = useState<string>()
  const form = useForm<{ yuan: string | number }>({
    initialValues: { yuan: '' },
    validate: {
      yuan: (value) =>
        value === '' || isZero(String(value))
          ? t('wallet.amountWanted')
          : compareDecimals(String(value), balance) > 0
            ? t('wallet.tooMuch')
            : null,
    },
  })
  const sending = useSubmit(form, {
    send: ({ yuan }) => exchange(String(yuan), { organisation, once: once.header(yuan) }),
    onDone: ({ exchanged_credits: credits }) => {
      once.done()
      form.reset()
      setDone(t('wallet.exchanged', { credits: format.number(credits, 2) }))
      refresh()
    },
  })
  return { form, ...sending, done, forget: () => setDone(undefined) }
}

/** The amount in Credits. */
function Becomes({ yuan }: { readonly yuan: string }) {
  const { t } = useTranslation()
  const format = useFormat()
  const { data: offers } = useQuery(offersQuery)
  const credits = offers === undefined || yuan === '' ? '0' : timesDecimal(yuan, offers.credits_per_unit)
  return <span className={forms.hint}>{t('wallet.becomes', { credits: format.number(credits, 6) })}</span>
}
