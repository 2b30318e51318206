import { NumberInput, Select, Switch, TextInput } from '@mantine/core'
import { type UseFormReturnType, useForm } from '@mantine/form'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { anyModelsQuery, credentialsQuery, vendorsQuery } from '../../api/operator/catalogue.ts'
import { addChain, type Chain, changeChain } from '../../api/operator/chains.ts'
import { settingsQuery } from '../../api/operator/settings.ts'
import form from '../../parts/forms/form.module.css'
import { useSubmit } from '../../parts/forms/use-submit.ts'
import { inBackground } from '../../parts/page/in-background.ts'
import { FormSheet } from '../parts/form-sheet.tsx'
import { PricingFields } from '../parts/pricing-fields.tsx'
import { CapabilityFields } from './capability-fields.tsx'
import { type ChainValues, changeOf, newChainOf, PROTOCOLS, STREAM_USAGES, valuesOf } from './chain-values.ts'
import { useTranslation } from '../../texts/use-translation.ts'

interface ChainFormProps {
  /** The model of a new chain; empty: not chosen yet. */
  readonly model: string
  /** undefined: a new chain. */
  readonly of: Chain | undefined
  readonly onClose: () => void
}

/** The form of a chain. Costs are entered in the gateway's currency. */
export function ChainForm(props: ChainFormProps) {
  const { data: settings } = useQuery(settingsQuery)
  return settings === undefined ? null : <Fields {...props} currency={settings.currency} />
}

function Fields({ model, of, currency, onClose }: ChainFormProps & { readonly currency: string }) {
  const { t } = useTranslation()
  const queryClient = useQueryClient()
  const initial = valuesOf(of, model, currency)
  const values = useForm<ChainValues>({
    initialValues: initial,
    validate: {
      model_id: (id) => (id === '' ? t('chains.modelWanted') : null),
      vendor: (code) => (code === '' ? t('chains.vendorWanted') : null),
    },
  })
  const sending = useSubmit(values, {
    send: (next) =>
      of === undefined ? addChain(newChainOf(next)) : changeChain(of.id, changeOf(next, initial)),
    onDone: () => {
      inBackground(queryClient.invalidateQueries({ queryKey: ['chains'] }))
      onClose()
    },
  })
  const title =
    of === undefined ? t('chains.add') : t('chains.editTitle', { vendor: of.vendor, model: of.model_id })
  return (
    <FormSheet
      title={title}
      sending={sending}
      onClose={onClose}
      {...(of === undefined ? { action: t('chains.add') } : {})}
    >
      {of === undefined && <Between values={values} />}
      <Upstream values={values} isNew={of === undefined} />
      <Shares values={values} />
      <Switch
        label={t('chains.cost')}
        description={t('chains.costHint')}
        {...values.getInputProps('costs', { type: 'checkbox' })}
      />
      {values.values.costs && <PricingFields form={values} place="cost" of={values.values.cost} />}
      <CapabilityFields form={values} />
      {of !== undefined && <Conduct values={values} />}
    </FormSheet>
  )
}

interface PartProps {
  readonly values: UseFormReturnType<ChainValues>
}

/** Model and vendor, which cannot be changed later. */
function Between({ values }: PartProps) {
  const { t } = useTranslation()
  const { data: models = [] } = useQuery(anyModelsQuery)
  const { data: vendors = [] } = useQuery(vendorsQuery)
  return (
    <>
      <Select
        searchable
        label={t('calls.model')}
        data={models.map(({ model_id: id }) => id)}
        {...values.getInputProps('model_id')}
      />
      <div className={form.row}>
        <Select
          label={t('chains.vendor')}
          data={vendors.map(({ code, name }) => ({ value: code, label: name }))}
          {...values.getInputProps('vendor')}
        />
        <Select label={t('calls.protocol')} data={PROTOCOLS.all} {...values.getInputProps('protocol')} />
      </div>
    </>
  )
}

function Upstream({ values, isNew }: PartProps & { readonly isNew: boolean }) {
  const { t } = useTranslation()
  const { data: credentials = [] } = useQuery(credentialsQuery)
  const { vendor, model_id: model } = values.values
  const own = credentials.filter((credential) => credential.vendor === vendor).map(({ name }) => name)
  return (
    <div className={form.row}>
      <Select
        label={t('chains.credential')}
        {...(isNew ? { description: t('chains.credentialHint') } : {})}
        data={own}
        {...values.getInputProps('credential')}
      />
      <TextInput
        label={t('chains.forward')}
        {...(isNew ? { description: t('chains.forwardHint') } : {})}
        placeholder={model}
        {...values.getInputProps('forward_model_id')}
      />
    </div>
  )
}

function Shares({ values }: PartProps) {
  const { t } = useTranslation()
  return (
    <>
      <div className={form.row}>
        <NumberInput
          label={t('chains.priority')}
          description={t('chains.priorityHint')}
          min={0}
          allowDecimal={false}
          {...values.getInputProps('priority')}
        />
        <NumberInput
          label={t('chains.weight')}
          description={t('chains.weightHint')}
          min={0}
          allowDecimal={false}
          {...values.getInputProps('weight')}
        />
      </div>
      <NumberInput
        label={t('chains.rate')}
        description={t('chains.rateHint')}
        min={0}
        decimalScale={6}
        {...values.getInputProps('rate_multiplier')}
      />
    </>
  )
}

/** Timeouts and retries of a chain. */
function Conduct({ values }: PartProps) {
  const { t } = useTranslation()
  return (
    <div className={form.part}>
      <h3>{t('chains.conduct')}</h3>
      <Select
        label={t('chains.streamUsage')}
        data={STREAM_USAGES.map((value) => ({ value, label: t(`chains.streamUsages.${value}`) }))}
        {...values.getInputProps('stream_usage')}
      />
      <div className={form.row}>
        <NumberInput
          label={t('chains.grace')}
          suffix=" ms"
          min={0}
          allowDecimal={false}
          {...values.getInputProps('client_gone_grace_ms')}
        />
        <NumberInput
          label={t('chains.slowest')}
          suffix=" B/s"
          min={0}
          allowDecimal={false}
          {...values.getInputProps('min_bytes_per_second')}
        />
      </div>
    </div>
  )
}
