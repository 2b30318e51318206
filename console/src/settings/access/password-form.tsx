import { useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { changePassword, sessionsQuery } from '../../api/access.ts'
import { FormFrame } from '../../parts/forms/form-frame.tsx'
import { useSubmit } from '../../parts/forms/use-submit.ts'
import { PasswordField } from '../../parts/identity/password-field.tsx'
import { NEW_PASSWORD_MIN } from '../../parts/identity/password-rule.ts'
import { inBackground } from '../../parts/page/in-background.ts'
import { useTranslation } from '../../texts/use-translation.ts'

/** Changes the password; ends all other sessions. */
export function PasswordForm() {
  const { t } = useTranslation()
  const queryClient = useQueryClient()
  const [done, setDone] = useState<string>()
  const form = useForm({
    initialValues: { current_password: '', password: '' },
    validate: {
      password: (text) =>
        text.length < NEW_PASSWORD_MIN ? t('signIn.passwordShort', { count: NEW_PASSWORD_MIN }) : null,
    },
    onValuesChange: () => setDone(undefined),
  })
  const { submit, isPending, problem } = useSubmit(form, {
    send: ({ current_password: current, password }) =>
      changePassword(current === '' ? { password } : { current_password: current, password }),
    onDone: () => {
      form.reset()
      setDone(t('settings.passwordChanged'))
      inBackground(queryClient.invalidateQueries({ queryKey: sessionsQuery.queryKey }))
    },
    fields: { 40104: { field: 'current_password', text: t('settings.passwordWrong') } },
  })
  return (
    <FormFrame sending={{ submit, isPending, problem }} action={t('settings.changePassword')} done={done}>
      <PasswordField
        label={t('settings.currentPassword')}
        description={t('settings.currentPasswordHint')}
        autoComplete="current-password"
        {...form.getInputProps('current_password')}
      />
      <PasswordField
        label={t('signIn.newPassword')}
        autoComplete="new-password"
        {...form.getInputProps('password')}
      />
    </FormFrame>
  )
}
