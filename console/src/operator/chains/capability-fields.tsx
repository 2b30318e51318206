import { NumberInput, Select } from '@mantine/core'
import form from '../../parts/forms/form.module.css'
import { IMAGES, REASONING, SAMPLING, TOOLS } from './capability-values.ts'
import { useTranslation } from '../../texts/use-translation.ts'

interface CapabilityFieldsProps {
  readonly form: { getInputProps(path: string): object }
}

/** Capabilities of a chain's model that the vendor's module cannot know. */
export function CapabilityFields({ form: fields }: CapabilityFieldsProps) {
  const { t } = useTranslation()
  const presumed = { value: '', label: t('chains.presumed') }
  return (
    <div className={form.part}>
      <h3>{t('chains.capabilities')}</h3>
      <p className={form.hint}>{t('chains.capabilitiesHint')}</p>
      <div className={form.row}>
        <Select
          label={t('chains.reasoning')}
          data={[
            presumed,
            ...REASONING.all.map((value) => ({ value, label: t(`chains.reasonings.${value}`) })),
          ]}
          {...fields.getInputProps('capabilities.reasoning')}
        />
        <Select
          label={t('chains.sampling')}
          data={[
            presumed,
            ...SAMPLING.all.map((value) => ({ value, label: t(`chains.samplings.${value}`) })),
          ]}
          {...fields.getInputProps('capabilities.sampling')}
        />
      </div>
      <div className={form.row}>
        <Select
          label={t('chains.tools')}
          data={[presumed, ...TOOLS.all.map((value) => ({ value, label: t(`chains.toolUse.${value}`) }))]}
          {...fields.getInputProps('capabilities.tools')}
        />
        <Select
          label={t('chains.images')}
          data={[presumed, ...IMAGES.all.map((value) => ({ value, label: t(`chains.imageForms.${value}`) }))]}
          {...fields.getInputProps('capabilities.images')}
        />
      </div>
      <NumberInput
        label={t('chains.stops')}
        description={t('chains.stopsHint')}
        placeholder={t('chains.presumed')}
        min={0}
        max={64}
        allowDecimal={false}
        {...fields.getInputProps('capabilities.max_stop')}
      />
    </div>
  )
}
