import { NumberInput, Select, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { changeVendor, type Vendor, type VendorKind } from '../../api/operator/catalogue.ts'
import { FormFrame } from '../../parts/forms/form-frame.tsx'
import form from '../../parts/forms/form.module.css'
import sheet from '../../parts/forms/sheet.module.css'
import { useSubmit } from '../../parts/forms/use-submit.ts'
import { inBackground } from '../../parts/page/in-background.ts'
import { useTranslation } from '../../texts/use-translation.ts'

const STATES = ['enabled', 'maintenance', 'disabled'] as const
const TIMEOUTS = ['connect_ms', 'first_byte_ms', 'idle_ms'] as const

type SettingsValues = {
  readonly name: string
  /** Empty: the default of the kind. */
  readonly base_url: string
  readonly status: string
  /** Ms; empty: unchanged. */
  readonly timeouts: Readonly<Record<(typeof TIMEOUTS)[number], number | string>>
}

interface VendorSettingsProps {
  readonly of: Vendor
  readonly kind: VendorKind | undefined
}

/** Address, state and timeouts of a vendor. */
export function VendorSettings({ of, kind }: VendorSettingsProps) {
  const { t } = useTranslation()
  const { values, sending } = useVendorSettings(of)
  return (
    <section className={sheet.part}>
      <h3>{t('vendors.settings')}</h3>
      <FormFrame sending={sending} rank="second" ready={values.isDirty()}>
        <div className={form.row}>
          <TextInput label={t('vendors.name')} {...values.getInputProps('name')} />
          <Select
            label={t('operate.state')}
            data={STATES.map((value) => ({ value, label: t(`vendors.states.${value}`) }))}
            {...values.getInputProps('status')}
          />
        </div>
        <TextInput
          label={t('vendors.address')}
          placeholder={kind?.base_url ?? 'https://'}
          {...values.getInputProps('base_url')}
        />
        <TimeoutFields form={values} />
      </FormFrame>
    </section>
  )
}

function TimeoutFields({ form: fields }: { readonly form: { getInputProps(path: string): object } }) {
  const { t } = useTranslation()
  return (
    <div className={form.part}>
      <h4>{t('vendors.timeouts')}</h4>
      <p className={form.hint}>{t('vendors.timeoutsHint')}</p>
      <div className={form.row}>
        {TIMEOUTS.map((name) => (
          <NumberInput
            key={name}
            label={t(`vendors.times.${name}`)}
            suffix=" ms"
            min={1}
            allowDecimal={false}
            {...fields.getInputProps(`timeouts.${name}`)}
          />
        ))}
      </div>
    </div>
  )
}

function useVendorSettings(of: Vendor) {
  const queryClient = useQueryClient()
  const values = useForm<SettingsValues>({
    initialValues: {
      name: of.name,
      base_url: of.base_url ?? '',
      status: of.status,
      timeouts: of.timeouts,
    },
  })
  const sending = useSubmit(values, {
    send: ({ name, base_url: address, status, timeouts }) =>
      changeVendor(of.code, {
        name,
        base_url: address.trim() === '' ? null : address.trim(),
        status: STATES.find((each) => each === status) ?? 'enabled',
        timeouts: Object.fromEntries(
          TIMEOUTS.filter((name) => timeouts[name] !== '').map((name) => [name, Number(timeouts[name])]),
        ),
      }),
    onDone: (_, sent) => {
      values.resetDirty(sent)
      inBackground(queryClient.invalidateQueries({ queryKey: ['vendors'] }))
    },
  })
  return { values, sending }
}
