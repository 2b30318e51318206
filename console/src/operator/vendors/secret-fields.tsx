import { Textarea, TextInput } from '@mantine/core'
import type { VendorKind } from '../../api/operator/catalogue.ts'
import form from '../../parts/forms/form.module.css'
import { PasswordField } from '../../parts/identity/password-field.tsx'
import { insteadOfSecret, useFieldHint, useFieldName } from './credential-words.ts'
import { useTranslation } from '../../texts/use-translation.ts'

interface SecretFieldsProps {
  readonly form: { getInputProps(path: string): object }
  readonly of: VendorKind
  /** Secrets are stored already; an empty field keeps its value. */
  readonly stored: boolean
}

/** Fields made from the kind's description of its credentials. */
export function SecretFields({ form: values, of, stored }: SecretFieldsProps) {
  const { t } = useTranslation()
  const { secret, fields } = of
  const choices = insteadOfSecret(of)
  const hint = stored ? t('vendors.stays') : undefined
  if (secret.need === 'none' && fields.length === 0)
    return <p className={form.hint}>{t('vendors.needsNothing')}</p>
  return (
    <>
      {choices.length > 0 && <p className={form.hint}>{t('vendors.eitherHint')}</p>}
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
            label={
              secret.need === 'optional' && choices.length === 0
                ? t('vendors.optional', { name: t('vendors.key') })
                : t('vendors.key')
            }
            autoComplete="off"
            {...(hint === undefined ? {} : { description: hint })}
            {...values.getInputProps('secret')}
          />
        ))}
      {fields.map((field) => (
        <OneField
          key={field.name}
          of={field}
          isChoice={choices.includes(field.name)}
          props={values.getInputProps(`fields.${field.name}`)}
        />
      ))}
    </>
  )
}

interface OneFieldProps {
  readonly of: VendorKind['fields'][number]
  /** It is an alternative to the secret, so it is not simply optional. */
  readonly isChoice: boolean
  readonly props: object
}

function OneField({ of: { name, secret, optional }, isChoice, props }: OneFieldProps) {
  const { t } = useTranslation()
  const called = useFieldName()(name)
  const hint = useFieldHint()(name)
  const described = {
    label: optional && !isChoice ? t('vendors.optional', { name: called }) : called,
    ...(hint === undefined ? {} : { description: hint }),
    ...props,
  }
  return secret ? <PasswordField autoComplete="off" {...described} /> : <TextInput {...described} />
}
