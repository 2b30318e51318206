import { Button, Select } from '@mantine/core'
import { type UseFormReturnType, useForm } from '@mantine/form'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useContext } from 'react'
import { changeKey, createKey, type Key, type NewKey } from '../api/keys.ts'
import { membersQuery } from '../api/members.ts'
import { groupsQuery, pricingQuery } from '../api/models.ts'
import { useMayManage, useOrganisationId } from '../api/session.ts'
import styles from '../parts/forms/form.module.css'
import { useSubmit } from '../parts/forms/use-submit.ts'
import { KeyFields } from '../parts/keys/key-fields.tsx'
import type { KeyFormOf } from '../parts/keys/key-form-of.ts'
import { bodyOf, type KeyValues, valuesOf } from '../parts/keys/key-values.ts'
import { useKeyRules } from '../parts/keys/use-key-rules.ts'
import { inBackground } from '../parts/page/in-background.ts'
import { FormProblem } from '../parts/page/problem.tsx'
import { TimeZone } from '../parts/values/format.ts'
import { useTranslation } from '../texts/use-translation.ts'

interface KeyFormProps {
  readonly of: Key | undefined
  readonly onClose: () => void
  readonly onMade: (made: NewKey) => void
}

/** The form of a key: name, models, allowed addresses, expiry and limits. */
export function KeyForm({ of, onClose, onMade }: KeyFormProps) {
  const { t } = useTranslation()
  const timeZone = useContext(TimeZone)
  const form = useForm<KeyValues>({
    initialValues: valuesOf(of, timeZone),
    validate: useKeyRules(),
  })
  const { data: offers = [] } = useQuery(pricingQuery(useOrganisationId()))
  const { data: groups = [] } = useQuery(groupsQuery)
  const models = offers.map(({ model_id: id }) => id)
  const { submit, isPending, problem } = useKeySubmit(form, { of, onClose, onMade })
  return (
    <form noValidate className={styles.stack} onSubmit={submit}>
      <KeyFields form={form} models={models} groups={groups}>
        {of === undefined && <MemberField field={form.getInputProps('member')} />}
      </KeyFields>
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

/** The member that the key belongs to, if there is a choice. */
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
