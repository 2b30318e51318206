import { NumberInput, TextInput } from '@mantine/core'
import { type UseFormReturnType, useForm } from '@mantine/form'
import { useState } from 'react'
import { type AnyAccount, grant } from '../../api/operator/accounts.ts'
import { Dialog } from '../../parts/forms/dialog.tsx'
import { FormFrame } from '../../parts/forms/form-frame.tsx'
import form from '../../parts/forms/form.module.css'
import { useSubmit } from '../../parts/forms/use-submit.ts'
import { Marked } from '../../parts/marks/marked.tsx'
import { inBackground } from '../../parts/page/in-background.ts'
import { useFormat } from '../../parts/values/format.ts'
import { namesOf } from '../parts/account-name.ts'
import { useCurrencySign } from '../../parts/values/use-currency.ts'
import { useTranslation } from '../../texts/use-translation.ts'
import { Segments } from '../../parts/forms/segments.tsx'

interface GrantDialogProps {
  readonly of: AnyAccount
  readonly renew: () => Promise<unknown>
  readonly onClose: () => void
}

type GrantValues = {
  readonly pool: 'credits' | 'balance'
  /** The amount; named like the gateway's field, so that errors are shown beside it. */
  readonly amount: number | string
  readonly reason: string
}

/** Adds or removes Credits or balance; the idempotency key makes sure that it happens once. */
export function GrantDialog({ of, renew, onClose }: GrantDialogProps) {
  const { t } = useTranslation()
  const [once] = useState(() => crypto.randomUUID())
  const values = useForm<GrantValues>({
    initialValues: { pool: 'credits', amount: '', reason: '' },
    validate: { amount: (amount) => (Number(amount) === 0 ? t('accounts.amountWanted') : null) },
  })
  const sending = useSubmit(values, {
    send: ({ pool, amount, reason }) =>
      grant(
        of.id,
        { [pool]: String(amount), ...(reason.trim() === '' ? {} : { reason: reason.trim() }) },
        once,
      ),
    onDone: () => {
      inBackground(renew())
      onClose()
    },
  })
  return (
    <Dialog title={t('accounts.grantTitle', { name: namesOf(of).name })} onClose={onClose}>
      <FormFrame sending={sending} action={t('accounts.grant')} onClose={onClose}>
        <GrantFields values={values} />
      </FormFrame>
    </Dialog>
  )
}

function GrantFields({ values }: { readonly values: UseFormReturnType<GrantValues> }) {
  const { t } = useTranslation()
  const sign = useCurrencySign()
  const format = useFormat()
  const { pool, amount } = values.values
  const unit = pool === 'credits' ? 'Credits' : sign
  return (
    <>
      <Segments
        aria-label={t('accounts.pool')}
        data={[
          { value: 'credits', label: 'Credits' },
          { value: 'balance', label: t('accounts.balance') },
        ]}
        {...values.getInputProps('pool')}
      />
      <NumberInput
        label={t('accounts.amount')}
        description={t('accounts.amountHint')}
        decimalScale={6}
        suffix={` ${unit}`}
        data-autofocus
        {...values.getInputProps('amount')}
      />
      <TextInput
        label={t('operate.reason')}
        description={t('accounts.grantReason')}
        {...values.getInputProps('reason')}
      />
      {amount !== '' && Number(amount) !== 0 && (
        <p className={form.words}>
          <Marked
            text={t(Number(amount) > 0 ? 'accounts.gives' : 'accounts.takes', {
              amount: `${format.number(String(Math.abs(Number(amount))), 6)} ${unit}`,
            })}
          />
        </p>
      )}
    </>
  )
}
