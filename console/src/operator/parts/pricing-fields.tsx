import { MultiSelect, NumberInput, TextInput } from '@mantine/core'
import form from '../../parts/forms/form.module.css'
import styles from './operator.module.css'
import { BILLING_MODES, MODE_OF, PRICE_FIELDS, type PricingValues } from './pricing-values.ts'
import { useTranslation } from '../../texts/use-translation.ts'

interface PricingFieldsProps {
  readonly form: { getInputProps(path: string): object }
  /** The field of the form that holds the prices. */
  readonly place: string
  readonly of: PricingValues
}

/** The billing mode and its prices. */
export function PricingFields({ form: fields, place, of }: PricingFieldsProps) {
  const { t } = useTranslation()
  return (
    <>
      <div className={form.row}>
        <MultiSelect
          label={t('operate.billedBy')}
          data={BILLING_MODES.all.map((value) => ({ value, label: t(`operate.modes.${value}`) }))}
          {...fields.getInputProps(`${place}.billing_modes`)}
        />
        <TextInput
          label={t('operate.currency')}
          maxLength={3}
          {...fields.getInputProps(`${place}.currency`)}
        />
      </div>
      <div className={styles.prices}>
        {PRICE_FIELDS.filter((field) => of.billing_modes.includes(MODE_OF[field])).map((field) => (
          <NumberInput
            key={field}
            label={t(`operate.prices.${field}`)}
            min={0}
            decimalScale={9}
            {...fields.getInputProps(`${place}.${field}`)}
          />
        ))}
      </div>
    </>
  )
}
