import { NumberInput, Switch } from '@mantine/core'
import { type UseFormReturnType, useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type Account, accountQuery, useOrganisationId } from '../api/session.ts'
import { changeAccount } from '../api/wallet.ts'
import forms from '../parts/forms/form.module.css'
import { FormFrame } from '../parts/forms/form-frame.tsx'
import { useSubmit } from '../parts/forms/use-submit.ts'
import { isZero } from '../parts/values/decimal.ts'
import styles from './wallet.module.css'
import { useCurrencySign } from '../parts/values/use-currency.ts'
import { useTranslation } from '../texts/use-translation.ts'

/**
 * A type, not an interface: the form library requires an index signature. Field names are the gateway's, so that errors
 * are shown beside them.
 */
type Rules = {
  readonly api_deduction: boolean
  /** Empty: no cap. */
  readonly monthly_cap_yuan: string | number
  readonly auto_exchange: {
    readonly enabled: boolean
    readonly below_credits: string | number
    readonly step_yuan: string | number
  }
}

/** Rules of paying: Credits, monthly cap and automatic exchange. */
export function PayingRules({ account }: { readonly account: Account }) {
  const { t } = useTranslation()
  const sign = useCurrencySign()
  const { form, submit, isPending, problem, saved } = useRules(account)
  return (
    <section className={styles.rules}>
      <h2 className={styles.title}>{t('wallet.rules')}</h2>
      <FormFrame sending={{ submit, isPending, problem }} rank="second" ready={form.isDirty()} done={saved}>
        <Switch
          label={t('wallet.deduction')}
          description={t('wallet.deductionHint')}
          {...form.getInputProps('api_deduction', { type: 'checkbox' })}
        />
        <AutoExchange form={form} />
        <NumberInput
          label={t('wallet.cap')}
          description={t('wallet.capHint')}
          prefix={sign}
          min={0}
          decimalScale={2}
          placeholder={t('wallet.noCap')}
          {...form.getInputProps('monthly_cap_yuan')}
        />
      </FormFrame>
    </section>
  )
}

function AutoExchange({ form }: { readonly form: UseFormReturnType<Rules> }) {
  const { t } = useTranslation()
  const sign = useCurrencySign()
  const { enabled } = form.values.auto_exchange
  return (
    <>
      <Switch
        label={t('wallet.auto')}
        description={t('wallet.autoHint')}
        {...form.getInputProps('auto_exchange.enabled', { type: 'checkbox' })}
      />
      <div className={forms.row}>
        <NumberInput
          label={t('wallet.below')}
          suffix=" Credits"
          min={0}
          disabled={!enabled}
          {...form.getInputProps('auto_exchange.below_credits')}
        />
        <NumberInput
          label={t('wallet.step')}
          prefix={sign}
          min={0}
          decimalScale={2}
          disabled={!enabled}
          {...form.getInputProps('auto_exchange.step_yuan')}
          error={form.errors['auto_exchange'] ?? form.errors['auto_exchange.step_yuan']}
        />
      </div>
    </>
  )
}

function useRules(account: Account) {
  const { t } = useTranslation()
  const queryClient = useQueryClient()
  const organisation = useOrganisationId()
  const [saved, setSaved] = useState<string>()
  const form = useForm<Rules>({
    initialValues: rulesOf(account),
    validate: {
      auto_exchange: (rule) =>
        rule.enabled && (rule.step_yuan === '' || isZero(String(rule.step_yuan)))
          ? t('wallet.amountWanted')
          : null,
    },
    onValuesChange: () => setSaved(undefined),
  })
  const sending = useSubmit(form, {
    send: ({ api_deduction, monthly_cap_yuan: cap, auto_exchange: auto }) =>
      changeAccount(
        {
          api_deduction,
          monthly_cap_yuan: cap === '' ? '0' : String(cap),
          auto_exchange: {
            enabled: auto.enabled,
            ...(auto.below_credits === '' ? {} : { below_credits: String(auto.below_credits) }),
            ...(auto.step_yuan === '' ? {} : { step_yuan: String(auto.step_yuan) }),
          },
        },
        organisation,
      ),
    onDone: (changed) => {
      queryClient.setQueryData(accountQuery(organisation).queryKey, changed)
      form.setInitialValues(rulesOf(changed))
      form.reset()
      setSaved(t('saved'))
    },
  })
  return { form, saved, ...sending }
}

function rulesOf({ api_deduction, monthly_cap_yuan: cap, auto_exchange: auto }: Account): Rules {
  return {
    api_deduction,
    monthly_cap_yuan: isZero(cap) ? '' : Number(cap),
    auto_exchange: {
      enabled: auto.enabled,
      below_credits: Number(auto.below_credits),
      step_yuan: Number(auto.step_yuan),
    },
  }
}
