import { PasswordInput, type PasswordInputProps } from '@mantine/core'
import { useTranslation } from '../../texts/use-translation.ts'

/** A password field with a button that shows it; screen readers announce its error. */
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
