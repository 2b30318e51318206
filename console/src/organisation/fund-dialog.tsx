import { NumberInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { useIdempotency } from '../api/idempotency.ts'
import { fundOrganisation } from '../api/organisations.ts'
import { usePerson } from '../api/session.ts'
import { Dialog } from '../parts/forms/dialog.tsx'
import forms from '../parts/forms/form.module.css'
import { FormFrame } from '../parts/forms/form-frame.tsx'
import { useSubmit } from '../parts/forms/use-submit.ts'
import { inBackground } from '../parts/page/in-background.ts'
import { useFormat } from '../parts/values/format.ts'
import { useCurrencySign } from '../parts/values/use-currency.ts'
import { useTranslation } from '../texts/use-translation.ts'
import { Segments } from '../parts/forms/segments.tsx'

interface FundDialogProps {
  readonly organisation: string
  readonly onClose: () => void
}

const UNITS = ['credits', 'yuan'] as const

/** Moves the person's own Credits or balance to the organisation. */
export function FundDialog({ organisation, onClose }: FundDialogProps) {
  const { t } = useTranslation()
  const sign = useCurrencySign()
  const format = useFormat()
  const { credits, balance } = usePerson()
  const { form, submit, isPending, problem } = useFunding(organisation, onClose)
  const { unit } = form.values
  return (
    <Dialog onClose={onClose} title={t('organisation.fund')}>
      <FormFrame sending={{ submit, isPending, problem }} action={t('organisation.move')} onClose={onClose}>
        <p className={forms.words}>{t('organisation.fundHint')}</p>
        <Segments
          aria-label={t('organisation.unit')}
          data={UNITS.map((value) => ({ value, label: t(`organisation.units.${value}`) }))}
          {...form.getInputProps('unit')}
        />
        <NumberInput
          label={t('organisation.amount')}
          description={t('organisation.have', {
            amount:
              unit === 'credits'
                ? `${format.number(credits, 2)} Credits`
                : `${sign}${format.number(balance, 2)}`,
          })}
          min={0}
          data-autofocus
          {...form.getInputProps('amount')}
        />
      </FormFrame>
    </Dialog>
  )
}

function useFunding(organisation: string, onClose: () => void) {
  const { t } = useTranslation()
  const queryClient = useQueryClient()
  const once = useIdempotency()
  const form = useForm<{ unit: (typeof UNITS)[number]; amount: string | number }>({
    initialValues: { unit: 'credits', amount: '' },
    validate: { amount: (value) => (Number(value) > 0 ? null : t('organisation.amountWanted')) },
  })
  const sending = useSubmit(form, {
    send: ({ unit: of, amount }) => {
      const body = of === 'credits' ? { credits: String(amount) } : { yuan: String(amount) }
      return fundOrganisation(organisation, body, once.header(body))
    },
    onDone: () => {
      inBackground(queryClient.invalidateQueries({ queryKey: ['account'] }))
      onClose()
    },
  })
  return { form, ...sending }
}
