import { TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { useIdempotency } from '../../api/idempotency.ts'
import { useOrganisationId } from '../../api/session.ts'
import { redeem } from '../../api/wallet.ts'
import { Dialog } from '../../parts/forms/dialog.tsx'
import { FormFrame } from '../../parts/forms/form-frame.tsx'
import { useSubmit } from '../../parts/forms/use-submit.ts'
import { useFormat } from '../../parts/values/format.ts'
import { useRefreshMoney } from '../use-refresh.ts'
import { useCurrencySign } from '../../parts/values/use-currency.ts'
import { useTranslation } from '../../texts/use-translation.ts'

/** Redeems a code; stays open to redeem several. */
export function RedeemDialog({ onClose }: { readonly onClose: () => void }) {
  const { t } = useTranslation()
  const { form, submit, isPending, problem, done } = useRedeeming()
  return (
    <Dialog onClose={onClose} title={t('wallet.redeem')}>
      <FormFrame
        sending={{ submit, isPending, problem }}
        action={t('wallet.redeemNow')}
        done={done}
        onClose={onClose}
      >
        <TextInput
          label={t('wallet.code')}
          description={t('wallet.codeHint')}
          autoComplete="off"
          spellCheck={false}
          data-autofocus
          {...form.getInputProps('code')}
        />
      </FormFrame>
    </Dialog>
  )
}

function useRedeeming() {
  const { t } = useTranslation()
  const sign = useCurrencySign()
  const format = useFormat()
  const organisation = useOrganisationId()
  const refresh = useRefreshMoney()
  const once = useIdempotency()
  const [done, setDone] = useState<string>()
  const form = useForm({
    initialValues: { code: '' },
    validate: { code: (text) => (text.trim() === '' ? t('wallet.codeWanted') : null) },
    onValuesChange: () => setDone(undefined),
  })
  const sending = useSubmit(form, {
    send: ({ code }) => redeem(code, { organisation, once: once.header(code) }),
    onDone: ({ credits, yuan }) => {
      once.done()
      form.reset()
      setDone(
        credits === null
          ? t('wallet.redeemedYuan', { yuan: `${sign}${format.number(yuan ?? '0', 2)}` })
          : t('wallet.redeemedCredits', { credits: format.number(credits, 2) }),
      )
      refresh()
    },
    fields: {
      40005: { field: 'code', text: t('wallet.codeUnknown') },
      40900: { field: 'code', text: t('wallet.codeSpent') },
    },
  })
  return { form, done, ...sending }
}
