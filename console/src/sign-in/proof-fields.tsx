/** Fields of signing in that several forms share. */
import { TextInput, type TextInputProps } from '@mantine/core'
import { CodeInput } from '../parts/identity/code-input.tsx'
import { NEW_PASSWORD_MIN } from '../parts/identity/password-rule.ts'
import { readContact } from './contact.ts'
import { type CodePurpose, sendCode } from './sign-in-api.ts'
import { useTranslation } from '../texts/use-translation.ts'

/** The error of a field's value; null: none. */
export function useProofRules() {
  const { t } = useTranslation()
  return {
    contact: (text: string) => (readContact(text) === undefined ? t('signIn.contactWanted') : null),
    code: (text: string) => (/^\d{6}$/.test(text) ? null : t('signIn.codeWanted')),
    newPassword: (text: string) =>
      text.length < NEW_PASSWORD_MIN ? t('signIn.passwordShort', { count: NEW_PASSWORD_MIN }) : null,
  }
}

/** An e-mail address or a phone number. */
export function ContactField(field: TextInputProps) {
  return <TextInput size="lg" autoComplete="username" inputMode="email" {...field} />
}

interface ContactCodeProps extends TextInputProps {
  readonly purpose: CodePurpose
  /** The value of the contact field. */
  readonly contactOf: () => string
  /** Called if the value is not a contact, so that its field shows the error. */
  readonly onMissing: () => void
}

/** The code that is sent to a contact. */
export function ContactCode({ purpose, contactOf, onMissing, ...field }: ContactCodeProps) {
  return (
    <CodeInput
      {...field}
      goesTo={purpose === 'register' ? 'newcomer' : 'account'}
      onSend={async () => {
        const contact = readContact(contactOf())
        if (contact !== undefined) return sendCode(contact, purpose)
        onMissing()
        return undefined
      }}
    />
  )
}
