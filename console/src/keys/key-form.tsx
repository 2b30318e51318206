import { Button, MultiSelect, SegmentedControl, Select, TagsInput, TextInput } from '@mantine/core'
import { type UseFormReturnType, useForm } from '@mantine/form'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useContext } from 'react'
import { useTranslation } from 'react-i18next'
import { changeKey, createKey, type Key, type NewKey } from '../api/keys.ts'
import { membersQuery } from '../api/members.ts'
import { groupsQuery, pricingQuery } from '../api/models.ts'
import { useMayManage, useOrganisationId } from '../api/session.ts'
import styles from '../parts/forms/form.module.css'
import { useSubmit } from '../parts/forms/use-submit.ts'
import { PolicyFields } from '../parts/limits/policy-fields.tsx'
import { inBackground } from '../parts/page/in-background.ts'
import { FormProblem } from '../parts/page/problem.tsx'
import { TimeZone } from '../parts/values/format.ts'
import type { KeyFormOf } from './key-form-of.ts'
import { bodyOf, type KeyValues, valuesOf } from './key-values.ts'

interface KeyFormProps {
  readonly of: Key | undefined
  readonly onClose: () => void
  readonly onMade: (made: NewKey) => void
}

/** Everything a key can be told: its name, what it may call, from where, until when and how much. */
export function KeyForm({ of, onClose, onMade }: KeyFormProps) {
  const { t } = useTranslation()
  const timeZone = useContext(TimeZone)
  const form = useForm<KeyValues>({
    initialValues: valuesOf(of, timeZone),
    validate: {
      name: (text) => (text.trim() === '' ? t('keys.nameWanted') : null),
      policy: {
        windows: { limit: (limit) => (limit === '' ? t('keys.limitWanted') : null) },
      },
    },
  })
  const { submit, isPending, problem } = useKeySubmit(form, { of, onClose, onMade })
  return (
    <form noValidate className={styles.stack} onSubmit={submit}>
      <TextInput
        label={t('keys.name')}
        description={t('keys.nameHint')}
        data-autofocus
        {...form.getInputProps('name')}
      />
      {of === undefined && <MemberField field={form.getInputProps('member')} />}
      <Reach form={form} />
      <TextInput
        type="date"
        label={t('keys.expires')}
        description={t('keys.expiresHint')}
        {...form.getInputProps('expires_at')}
      />
      <Limits form={form} />
      <FormProblem text={problem} />
      <div className={styles.foot}>
        <Button variant="default" onClick={onClose}>
          {t('cancel')}
        </Button>
        <Button type="submit" loading={isPending}>
          {t(of === undefined ? 'keys.create' : 'save')}
        </Button>
      </div>
    </form>
  )
}

function useKeySubmit(form: UseFormReturnType<KeyValues>, { of, onClose, onMade }: KeyFormProps) {
  const timeZone = useContext(TimeZone)
  const organisation = useOrganisationId()
  const queryClient = useQueryClient()
  return useSubmit(form, {
    send: async (values) => {
      const body = bodyOf(values, of, timeZone)
      if (of === undefined) {
        const member = values.member === '' ? {} : { member: values.member }
        return { made: await createKey({ ...body, ...member }, organisation) }
      }
      await changeKey(of.id, body, organisation)
      return { made: undefined }
    },
    onDone: ({ made }) => {
      inBackground(queryClient.invalidateQueries({ queryKey: ['keys'] }))
      inBackground(queryClient.invalidateQueries({ queryKey: ['key-limits'] }))
      if (made === undefined) onClose()
      else onMade(made)
    },
  })
}

function Limits({ form }: { readonly form: KeyFormOf }) {
  const { t } = useTranslation()
  return (
    <div className={styles.part}>
      <h3>{t('keys.limits')}</h3>
      <SegmentedControl
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

/** What the key may call, and from where. */
function Reach({ form }: { readonly form: KeyFormOf }) {
  const { t } = useTranslation()
  const { data: offers = [] } = useQuery(pricingQuery(useOrganisationId()))
  const { data: groups = [] } = useQuery(groupsQuery)
  const { group, models: chosen } = form.values
  const inGroup = groups.find(({ name }) => name === group)?.models
  const models = new Set([...(inGroup ?? offers.map(({ model_id }) => model_id)), ...chosen])
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

/** Whose key it will be, where one may choose. */
function MemberField({ field }: { readonly field: ReturnType<KeyFormOf['getInputProps']> }) {
  const { t } = useTranslation()
  const organisation = useOrganisationId()
  const mayChoose = useMayManage() && organisation !== undefined
  const { data: members = [] } = useQuery({ ...membersQuery(organisation ?? ''), enabled: mayChoose })
  if (!mayChoose) return null
  return (
    <Select
      label={t('keys.member')}
      description={t('keys.memberHint')}
      data={[
        { value: '', label: t('keys.noMember') },
        ...members.map(({ id, name, email }) => ({ value: id, label: name ?? email ?? id })),
      ]}
      {...field}
    />
  )
}
