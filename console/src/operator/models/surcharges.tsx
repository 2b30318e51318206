import { ActionIcon, Button, NumberInput, Select, TagsInput, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import form from '../../parts/forms/form.module.css'
import { Icon } from '../../parts/marks/icon.tsx'
import type { ModelValues } from './model-values.ts'
import styles from './models.module.css'
import { useTranslation } from '../../texts/use-translation.ts'

interface SurchargesProps {
  readonly values: UseFormReturnType<ModelValues>
}

/** What makes a call more expensive, and what calls may not ask for. */
export function Surcharges({ values }: SurchargesProps) {
  const { t } = useTranslation()
  return (
    <div className={form.part}>
      <h3>{t('catalogue.surcharges')}</h3>
      <p className={form.hint}>{t('catalogue.surchargesHint')}</p>
      {values.values.surcharges.map((_, at) => (
        <Surcharge key={at} values={values} at={at} />
      ))}
      <div>
        <Button
          variant="subtle"
          size="xs"
          leftSection={<Icon name="plus" size={14} />}
          onClick={() => values.insertListItem('surcharges', { name: '', kind: 'factor', value: '' })}
        >
          {t('catalogue.addSurcharge')}
        </Button>
      </div>
      <TagsInput
        label={t('catalogue.refused')}
        description={t('catalogue.refusedHint')}
        {...values.getInputProps('refuse')}
      />
    </div>
  )
}

function Surcharge({ values, at }: SurchargesProps & { readonly at: number }) {
  const { t } = useTranslation()
  return (
    <div className={styles.surcharge}>
      <TextInput
        label={t('catalogue.field')}
        placeholder="service_tier.priority"
        {...values.getInputProps(`surcharges.${at}.name`)}
      />
      <Select
        label={t('catalogue.adds')}
        data={(['factor', 'per_call'] as const).map((value) => ({
          value,
          label: t(`catalogue.surchargeKinds.${value}`),
        }))}
        {...values.getInputProps(`surcharges.${at}.kind`)}
      />
      <NumberInput
        label={t('catalogue.value')}
        min={0}
        decimalScale={9}
        {...values.getInputProps(`surcharges.${at}.value`)}
      />
      <ActionIcon
        size="lg"
        aria-label={t('catalogue.removeSurcharge')}
        onClick={() => values.removeListItem('surcharges', at)}
      >
        <Icon name="close" />
      </ActionIcon>
    </div>
  )
}
