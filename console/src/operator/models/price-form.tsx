import { TextInput } from '@mantine/core'
import { useForm, type UseFormReturnType } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { useContext } from 'react'
import type { AnyModel } from '../../api/operator/catalogue.ts'
import { changeModel, schedulePrices } from '../../api/operator/models.ts'
import { TimeZone } from '../../parts/values/format.ts'
import { inBackground } from '../../parts/page/in-background.ts'
import { useSubmit } from '../../parts/forms/use-submit.ts'
import { momentOf } from '../../parts/values/zoned-days.ts'
import { FormSheet } from '../parts/form-sheet.tsx'
import { Changes } from '../parts/differences.tsx'
import { PricingFields } from '../parts/pricing-fields.tsx'
import { pricingBodyOf, type PricingValues, pricingValuesOf } from '../parts/pricing-values.ts'
import { usePriceName } from '../parts/use-price-name.tsx'
import { priceChanges } from './price-trail.ts'
import { useTranslation } from '../../texts/use-translation.ts'
import { Segments } from '../../parts/forms/segments.tsx'

interface PriceFormProps {
  readonly of: AnyModel
  readonly onClose: () => void
}

type PriceValues = {
  readonly pricing: PricingValues
  readonly when: 'now' | 'later'
  /** In the format of a date and time field. */
  readonly effective_at: string
}

/** Changes prices, at once or at a given time; the differences are shown below. */
export function PriceForm({ of, onClose }: PriceFormProps) {
  const { t } = useTranslation()
  const timeZone = useContext(TimeZone)
  const queryClient = useQueryClient()
  const before = pricingValuesOf(of.pricing, of.pricing.currency)
  const values = useForm<PriceValues>({
    initialValues: { pricing: before, when: 'now', effective_at: '' },
    validate: {
      effective_at: (at, { when }) => (when === 'later' && at === '' ? t('catalogue.momentWanted') : null),
    },
  })
  const sending = useSubmit<PriceValues, unknown>(values, {
    send: ({ pricing, when, effective_at: at }) => {
      const body = pricingBodyOf(pricing)
      if (when === 'now') return changeModel(of.model_id, { pricing: body })
      const moment = new Date(momentOf(at, timeZone)).toISOString()
      return schedulePrices({ model_id: of.model_id, effective_at: moment, pricing: body })
    },
    onDone: () => {
      for (const key of ['any-models', 'price-changes', 'audit'])
        inBackground(queryClient.invalidateQueries({ queryKey: [key] }))
      onClose()
    },
  })
  const { pricing, when } = values.values
  return (
    <FormSheet
      title={t('catalogue.pricesOf', { model: of.name })}
      action={t(when === 'now' ? 'catalogue.applyNow' : 'catalogue.schedule')}
      sending={sending}
      onClose={onClose}
    >
      <PricingFields form={values} place="pricing" of={pricing} />
      <When values={values} />
      <Changes of={priceChanges(before, pricing)} nameOf={usePriceName()} />
    </FormSheet>
  )
}

function When({ values }: { readonly values: UseFormReturnType<PriceValues> }) {
  const { t } = useTranslation()
  return (
    <>
      <Segments
        aria-label={t('catalogue.when')}
        data={[
          { value: 'now', label: t('catalogue.atOnce') },
          { value: 'later', label: t('catalogue.later') },
        ]}
        {...values.getInputProps('when')}
      />
      {values.values.when === 'later' && (
        <TextInput
          type="datetime-local"
          label={t('catalogue.from')}
          description={t('catalogue.fromHint')}
          {...values.getInputProps('effective_at')}
        />
      )}
    </>
  )
}
