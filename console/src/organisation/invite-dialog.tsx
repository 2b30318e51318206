import { NumberInput, Select, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { invitationsQuery, invite, type Role } from '../api/organisations.ts'
import { useIsOwner } from '../api/session.ts'
import { Dialog } from '../parts/forms/dialog.tsx'
import forms from '../parts/forms/form.module.css'
import { FormFrame } from '../parts/forms/form-frame.tsx'
import { useSubmit } from '../parts/forms/use-submit.ts'
import { inBackground } from '../parts/page/in-background.ts'
import { RolesHint, rolesFor } from './roles.tsx'
import { useCurrencySign } from '../parts/values/use-currency.ts'
import { useTranslation } from '../texts/use-translation.ts'

interface InviteDialogProps {
  readonly organisation: string
  readonly onClose: () => void
}

/** Invites by e-mail; stays open to invite several people. */
export function InviteDialog({ organisation, onClose }: InviteDialogProps) {
  const { t } = useTranslation()
  const sign = useCurrencySign()
  const isOwner = useIsOwner()
  const { form, submit, isPending, problem, done } = useInviting(organisation)
  return (
    <Dialog onClose={onClose} title={t('organisation.invite')}>
      <FormFrame
        sending={{ submit, isPending, problem }}
        action={t('organisation.send')}
        done={done}
        onClose={onClose}
      >
        <TextInput
          label={t('organisation.email')}
          description={t('organisation.emailHint')}
          inputMode="email"
          data-autofocus
          {...form.getInputProps('email')}
        />
        <div className={forms.row}>
          <Select
            label={t('organisation.role')}
            data={rolesFor(isOwner).map((value) => ({ value, label: t(`organisation.roles.${value}`) }))}
            {...form.getInputProps('role')}
          />
          <NumberInput
            label={t('organisation.cap')}
            prefix={sign}
            min={0}
            decimalScale={2}
            placeholder={t('organisation.capNone')}
            {...form.getInputProps('monthly_cap_yuan')}
          />
        </div>
        <RolesHint />
      </FormFrame>
    </Dialog>
  )
}

function useInviting(organisation: string) {
  const { t } = useTranslation()
  const queryClient = useQueryClient()
  const [done, setDone] = useState<string>()
  const form = useForm<{ email: string; role: Role; monthly_cap_yuan: string | number }>({
    initialValues: { email: '', role: 'member', monthly_cap_yuan: '' },
    validate: { email: (text) => (text.includes('@') ? null : t('organisation.emailWanted')) },
    onValuesChange: () => setDone(undefined),
  })
  const sending = useSubmit(form, {
    send: ({ email, role, monthly_cap_yuan: cap }) =>
      invite(organisation, { email: email.trim(), role, monthly_cap_yuan: cap === '' ? '0' : String(cap) }),
    onDone: ({ email }) => {
      form.reset()
      setDone(t('organisation.invited', { email }))
      inBackground(queryClient.invalidateQueries({ queryKey: invitationsQuery(organisation).queryKey }))
    },
  })
  return { form, done, ...sending }
}
