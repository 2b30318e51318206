import { Button, Checkbox, NumberInput, Select, Switch } from '@mantine/core'
import { useForm, type UseFormReturnType } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type Member, membersQuery } from '../api/members.ts'
import { changeMember, type Role, removeMember } from '../api/organisations.ts'
import { useIsOwner } from '../api/session.ts'
import { Confirm } from '../parts/forms/confirm.tsx'
import { Sheet } from '../parts/forms/dialog.tsx'
import forms from '../parts/forms/form.module.css'
import { FormFrame } from '../parts/forms/form-frame.tsx'
import { useSubmit } from '../parts/forms/use-submit.ts'
import { PolicyFields } from '../parts/limits/policy-fields.tsx'
import { policyBodyOf, type PolicyValues, policyValuesOf } from '../parts/limits/policy-values.ts'
import { Marked } from '../parts/marks/marked.tsx'
import { inBackground } from '../parts/page/in-background.ts'
import { isZero } from '../parts/values/decimal.ts'
import { memberName } from './member-name.ts'
import { RolesHint, rolesFor } from './roles.tsx'
import { useCurrencySign } from '../parts/values/use-currency.ts'
import { useTranslation } from '../texts/use-translation.ts'

interface MemberSheetProps {
  readonly of: Member
  readonly organisation: string
  readonly onClose: () => void
}

/** Role, caps and limits of a member, and removing them. */
export function MemberSheet({ of: member, organisation, onClose }: MemberSheetProps) {
  const { t } = useTranslation()
  const isOwner = useIsOwner()
  const { form, submit, isPending, problem } = useMember({ of: member, organisation, onClose })
  return (
    <Sheet onClose={onClose} title={memberName(member)}>
      <FormFrame
        sending={{ submit, isPending, problem }}
        ready={form.isDirty()}
        onClose={onClose}
        beside={<Remove of={member} organisation={organisation} onClose={onClose} />}
      >
        <Select
          label={t('organisation.role')}
          disabled={member.role === 'owner' && !isOwner}
          data={rolesFor(isOwner || member.role === 'owner').map((value) => ({
            value,
            label: t(`organisation.roles.${value}`),
          }))}
          {...form.getInputProps('role')}
        />
        <RolesHint />
        <Bounds form={form} />
        <Switch
          label={t('organisation.active')}
          description={t('organisation.activeHint')}
          {...form.getInputProps('active', { type: 'checkbox' })}
        />
      </FormFrame>
    </Sheet>
  )
}

/** Limits that all keys of the member share. */
function Bounds({ form }: { readonly form: UseFormReturnType<MemberValues> }) {
  const { t } = useTranslation()
  const sign = useCurrencySign()
  return (
    <>
      <NumberInput
        label={t('organisation.cap')}
        description={t('organisation.capHint')}
        prefix={sign}
        min={0}
        decimalScale={2}
        placeholder={t('organisation.capNone')}
        {...form.getInputProps('monthly_cap_yuan')}
      />
      <div className={forms.part}>
        <h3>{t('organisation.limits')}</h3>
        <p className={forms.hint}>{t('organisation.limitsHint')}</p>
        <PolicyFields form={form} place="policy" of={form.values.policy} />
      </div>
    </>
  )
}

type MemberValues = {
  readonly role: Role
  /** Empty: no cap. */
  readonly monthly_cap_yuan: string | number
  readonly active: boolean
  readonly policy: PolicyValues
}

function useReload(organisation: string): () => void {
  const queryClient = useQueryClient()
  return () => inBackground(queryClient.invalidateQueries({ queryKey: membersQuery(organisation).queryKey }))
}

function useMember({ of: member, organisation, onClose }: MemberSheetProps) {
  const reload = useReload(organisation)
  const cap = member.monthly_cap_yuan
  const form = useForm<MemberValues>({
    initialValues: {
      role: member.role,
      monthly_cap_yuan: isZero(cap) ? '' : Number(cap),
      active: member.status === 'active',
      policy: policyValuesOf(member.policy),
    },
  })
  const sending = useSubmit(form, {
    send: ({ role, monthly_cap_yuan: next, active, policy }) =>
      changeMember(organisation, member.id, {
        ...(role === member.role ? {} : { role }),
        ...(form.isDirty('active') ? { status: active ? 'active' : 'suspended' } : {}),
        ...(form.isDirty('monthly_cap_yuan') ? { monthly_cap_yuan: next === '' ? '0' : String(next) } : {}),
        ...(form.isDirty('policy') ? { policy: policyBodyOf(policy) } : {}),
      }),
    onDone: () => {
      reload()
      onClose()
    },
  })
  return { form, ...sending }
}

function Remove({ of: member, organisation, onClose }: MemberSheetProps) {
  const { t } = useTranslation()
  const reload = useReload(organisation)
  const [asking, setAsking] = useState(false)
  const [keeps, setKeeps] = useState(false)
  return (
    <>
      <Button variant="subtle" onClick={() => setAsking(true)}>
        {t('organisation.remove')}
      </Button>
      {asking && (
        <Confirm
          title={t('organisation.removeTitle')}
          action={t('organisation.remove')}
          onConfirm={async () => {
            await removeMember(organisation, member.id, keeps ? 'keep' : 'delete')
            reload()
            onClose()
          }}
          onClose={() => setAsking(false)}
        >
          <p>
            <Marked text={t('organisation.removeText', { name: memberName(member) })} />
          </p>
          <Checkbox
            mt="md"
            label={t('organisation.keepKeys')}
            checked={keeps}
            onChange={({ currentTarget: { checked } }) => setKeeps(checked)}
          />
        </Confirm>
      )}
    </>
  )
}
