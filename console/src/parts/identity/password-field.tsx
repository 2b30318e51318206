import { PasswordInput, type PasswordInputProps } from '@mantine/core'
import { useTranslation } from 'react-i18next'

/** A password, which may be looked at; its error is told to those who do not see it too. */
export function PasswordField({ error, ...field }: PasswordInputProps) {
  const { t } = useTranslation()
  return (
    <PasswordInput
      {...field}
      error={error}
      aria-invalid={error !== undefined && error !== null && error !== false}
      visibilityToggleButtonProps={{ 'aria-label': t('showPassword') }}
    />
  )
}
