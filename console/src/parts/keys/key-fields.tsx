import { MultiSelect, Select, TagsInput, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import styles from '../forms/form.module.css'
import { PolicyFields } from '../limits/policy-fields.tsx'
import type { KeyFormOf } from './key-form-of.ts'
import { useTranslation } from '../../texts/use-translation.ts'
import { Segments } from '../forms/segments.tsx'

interface KeyFieldsProps {
  readonly form: KeyFormOf
  /** All models to choose from. */
  readonly models: readonly string[]
  readonly groups: readonly {
    readonly name: string
    readonly protocol: string
    readonly models: readonly string[]
  }[]
  /** The field for the key's owner, if there is a choice. */
  readonly children?: ReactNode
}

/** The fields of a key: name, models, allowed addresses, expiry and limits. */
export function KeyFields({ form, models, groups, children }: KeyFieldsProps) {
  const { t } = useTranslation()
  return (
    <>
      <TextInput
        label={t('keys.name')}
        description={t('keys.nameHint')}
        data-autofocus
        {...form.getInputProps('name')}
      />
      {children}
      <Reach form={form} models={models} groups={groups} />
      <TextInput
        type="date"
        label={t('keys.expires')}
        description={t('keys.expiresHint')}
        {...form.getInputProps('expires_at')}
      />
      <Limits form={form} />
    </>
  )
}

function Limits({ form }: Pick<KeyFieldsProps, 'form'>) {
  const { t } = useTranslation()
  return (
    <div className={styles.part}>
      <h3>{t('keys.limits')}</h3>
      <Segments
        aria-label={t('keys.limits')}
        data={[
          { value: 'default', label: t('keys.defaultLimits') },
          { value: 'own', label: t('keys.ownLimits') },
        ]}
        {...form.getInputProps('limits')}
      />
      {form.values.limits === 'own' ? (
        <PolicyFields form={form} place="policy" of={form.values.policy} />
      ) : (
        <p className={styles.hint}>{t('keys.defaultLimitsHint')}</p>
      )}
    </div>
  )
}

/** Allowed models and addresses. */
function Reach({ form, models: all, groups }: Omit<KeyFieldsProps, 'children'>) {
  const { t } = useTranslation()
  const { group, models: chosen } = form.values
  const inGroup = groups.find(({ name }) => name === group)?.models
  const models = new Set([...(inGroup ?? all), ...chosen])
  return (
    <>
      <Select
        label={t('keys.group')}
        description={t('keys.groupHint')}
        data={[
          { value: '', label: t('keys.noGroup') },
          ...groups.map(({ name, protocol }) => ({ value: name, label: `${name} · ${protocol}` })),
        ]}
        {...form.getInputProps('group')}
      />
      <MultiSelect
        label={t('pages.models')}
        description={t('keys.modelsHint')}
        placeholder={chosen.length === 0 ? t('keys.allModels') : ''}
        searchable
        clearable
        clearButtonProps={{ 'aria-label': t('clearFilter', { name: t('pages.models') }) }}
        nothingFoundMessage={t('frame.nothingFound')}
        data={[...models].sort()}
        {...form.getInputProps('models')}
      />
      <TagsInput
        label={t('keys.addresses')}
        description={t('keys.addressesHint')}
        placeholder={form.values.ip_allow.length === 0 ? '203.0.113.0/24' : ''}
        {...form.getInputProps('ip_allow')}
      />
    </>
  )
}
