import { Textarea, TextInput } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import type { VendorKind } from '../../api/operator/catalogue.ts'
import form from '../../parts/forms/form.module.css'
import { PasswordField } from '../../parts/identity/password-field.tsx'

interface SecretFieldsProps {
  readonly form: { getInputProps(path: string): object }
  readonly of: VendorKind
  /** There is something stored already, which stays where a field is left empty. */
  readonly stored: boolean
}

/** A form made of what the kind says of its credentials. */
export function SecretFields({ form: values, of: { secret, fields }, stored }: SecretFieldsProps) {
  const { t } = useTranslation()
  const hint = stored ? t('vendors.stays') : undefined
  const label = (name: string, optional: boolean): string =>
    optional ? t('vendors.optional', { name }) : name
  if (secret.need === 'none' && fields.length === 0)
    return <p className={form.hint}>{t('vendors.needsNothing')}</p>
  return (
    <>
      {secret.need !== 'none' &&
        (secret.form === 'service-account' ? (
          <Textarea
            label={t('vendors.serviceAccount')}
            description={hint ?? t('vendors.serviceAccountHint')}
            autosize
            minRows={4}
            maxRows={10}
            {...values.getInputProps('secret')}
          />
        ) : (
          <PasswordField
            label={label(t('vendors.key'), secret.need === 'optional')}
            autoComplete="off"
            {...(hint === undefined ? {} : { description: hint })}
            {...values.getInputProps('secret')}
          />
        ))}
      {fields.map(({ name, secret: isSecret, optional }) =>
        isSecret ? (
          <PasswordField
            key={name}
            label={label(name, optional)}
            autoComplete="off"
            {...values.getInputProps(`fields.${name}`)}
          />
        ) : (
          <TextInput key={name} label={label(name, optional)} {...values.getInputProps(`fields.${name}`)} />
        ),
      )}
    </>
  )
}
