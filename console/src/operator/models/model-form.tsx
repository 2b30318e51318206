import { MultiSelect, NumberInput, Select, Switch, TextInput } from '@mantine/core'
import { useForm, type UseFormReturnType } from '@mantine/form'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { AnyModel } from '../../api/operator/catalogue.ts'
import { addModel, changeModel } from '../../api/operator/models.ts'
import { settingsQuery } from '../../api/operator/settings.ts'
import form from '../../parts/forms/form.module.css'
import { inBackground } from '../../parts/page/in-background.ts'
import { useSubmit } from '../../parts/forms/use-submit.ts'
import { FormSheet } from '../parts/form-sheet.tsx'
import { PricingFields } from '../parts/pricing-fields.tsx'
import { Surcharges } from './surcharges.tsx'
import { VERIFICATIONS } from './model-words.tsx'
import { FEATURES } from '../../parts/values/features.ts'
import { changeOf, type ModelValues, modelValuesOf, newModelOf, STATUSES } from './model-values.ts'
import { useTranslation } from '../../texts/use-translation.ts'

interface ModelFormProps {
  /** undefined: a new model. */
  readonly of: AnyModel | undefined
  readonly onClose: () => void
  readonly onMade: (id: string) => void
}

/** The form of a model and who may call it; for a new model also its prices. */
export function ModelForm(props: ModelFormProps) {
  const { data: settings } = useQuery(settingsQuery)
  return settings === undefined ? null : <Fields {...props} currency={settings.currency} />
}

function Fields({ of, currency, onClose, onMade }: ModelFormProps & { readonly currency: string }) {
  const { t } = useTranslation()
  const queryClient = useQueryClient()
  const initial = modelValuesOf(of, currency)
  const values = useForm<ModelValues>({
    initialValues: initial,
    validate: {
      model_id: (id) => (id.trim() === '' ? t('catalogue.idWanted') : null),
      surcharges: {
        name: (name) => (name.trim() === '' ? t('catalogue.fieldWanted') : null),
        value: (value) => (value === '' ? t('catalogue.valueWanted') : null),
      },
    },
  })
  const sending = useSubmit(values, {
    send: (next) =>
      of === undefined ? addModel(newModelOf(next)) : changeModel(of.model_id, changeOf(next, initial)),
    onDone: ({ model_id: id }) => {
      inBackground(queryClient.invalidateQueries({ queryKey: ['any-models'] }))
      onMade(id)
    },
  })
  return (
    <FormSheet
      title={of === undefined ? t('catalogue.add') : t('catalogue.editTitle', { model: of.name })}
      sending={sending}
      onClose={onClose}
      {...(of === undefined ? { action: t('catalogue.add') } : {})}
    >
      <Identity values={values} isNew={of === undefined} />
      <Admission values={values} />
      {of === undefined && (
        <div className={form.part}>
          <h3>{t('catalogue.prices')}</h3>
          <PricingFields form={values} place="pricing" of={values.values.pricing} />
        </div>
      )}
      <Surcharges values={values} />
    </FormSheet>
  )
}

interface PartProps {
  readonly values: UseFormReturnType<ModelValues>
}

function Identity({ values, isNew }: PartProps & { readonly isNew: boolean }) {
  const { t } = useTranslation()
  return (
    <>
      <div className={form.row}>
        {isNew && (
          <TextInput
            label={t('catalogue.id')}
            description={t('catalogue.idHint')}
            data-autofocus
            {...values.getInputProps('model_id')}
          />
        )}
        <TextInput
          label={t('catalogue.name')}
          description={t('catalogue.nameHint')}
          placeholder={values.values.model_id}
          {...values.getInputProps('name')}
        />
      </div>
      <MultiSelect
        label={t('catalogue.takes')}
        data={FEATURES.map((value) => ({ value, label: t(`features.${value}`) }))}
        {...values.getInputProps('support_features')}
      />
      <div className={form.row}>
        <NumberInput
          label={t('catalogue.context')}
          suffix={t('catalogue.tokens')}
          min={1}
          allowDecimal={false}
          {...values.getInputProps('context_tokens')}
        />
        <NumberInput
          label={t('catalogue.longest')}
          suffix={t('catalogue.tokens')}
          min={1}
          allowDecimal={false}
          {...values.getInputProps('max_output_tokens')}
        />
      </div>
    </>
  )
}

function Admission({ values }: PartProps) {
  const { t } = useTranslation()
  return (
    <div className={form.part}>
      <h3>{t('catalogue.admission')}</h3>
      <Select
        label={t('operate.state')}
        data={STATUSES.map((value) => ({ value, label: t(`catalogue.statuses.${value}`) }))}
        {...values.getInputProps('status')}
      />
      <div className={form.row}>
        <Select
          label={t('catalogue.verification')}
          data={VERIFICATIONS.map((name, level) => ({
            value: String(level),
            label: t(`catalogue.verifications.${name}`),
          }))}
          {...values.getInputProps('required_verification')}
        />
        <NumberInput
          label={t('catalogue.leastPlan')}
          description={t('catalogue.leastPlanHint')}
          min={0}
          allowDecimal={false}
          {...values.getInputProps('required_plan')}
        />
      </div>
      <Switch
        label={t('catalogue.visible')}
        description={t('catalogue.visibleHint')}
        {...values.getInputProps('client_visible', { type: 'checkbox' })}
      />
      <Switch
        label={t('catalogue.covered')}
        description={t('catalogue.coveredHint')}
        {...values.getInputProps('subscription_covered', { type: 'checkbox' })}
      />
    </div>
  )
}
