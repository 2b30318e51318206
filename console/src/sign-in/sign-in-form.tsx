import { Button } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation, useQuery } from '@tanstack/react-query'
import { type ReactNode, type RefObject, useRef, useState } from 'react'
import { ApiError } from '../api/api-error.ts'
import { PasswordField } from '../parts/identity/password-field.tsx'
import { Icon } from '../parts/marks/icon.tsx'
import { LinkButton } from '../parts/page/link-button.tsx'
import { FormProblem } from '../parts/page/problem.tsx'
import { useProblemText } from '../parts/page/use-problem.ts'
import { readContact } from './contact.ts'
import { optionsQuery } from './options.ts'
import { ContactCode, ContactField, useProofRules } from './proof-fields.tsx'
import { SecondFactorForm } from './second-factor-form.tsx'
import styles from './sign-in.module.css'
import {
  type FirstStep,
  passkeysWork,
  type SecondFactor,
  signInByCode,
  signInByPasskey,
  signInByPassword,
  startService,
} from './sign-in-api.ts'
import { useTranslation } from '../texts/use-translation.ts'

interface SignInFormProps {
  readonly onSignedIn: () => void
  /** The path of this site to which a service sends the browser back. */
  readonly returnTo: string
  /** The challenge of a sign-in through another service, which needs a second factor. */
  readonly pending?: SecondFactor | undefined
}

/** All ways of signing in that the operator has switched on. */
export function SignInForm({ onSignedIn, returnTo, pending }: SignInFormProps) {
  const { t } = useTranslation()
  const problemText = useProblemText()
  const [second, setSecond] = useState(pending)
  const [by, setBy] = useState<'password' | 'code'>('password')
  // Shared by all ways, so that the contact is typed only once.
  const contact = useRef('')
  const { data: options } = useQuery(optionsQuery)
  const take = (step: FirstStep): void => (step.state === 'signed_in' ? onSignedIn() : setSecond(step))
  const passkey = useMutation({ mutationFn: () => signInByPasskey(), onSuccess: take })
  const service = useMutation({
    mutationFn: (name: string) => startService(name, returnTo),
    onSuccess: (address) => window.location.assign(address),
  })
  if (second !== undefined) {
    return <SecondFactorForm second={second} onSignedIn={onSignedIn} onBack={() => setSecond(undefined)} />
  }
  const problem = passkey.error ?? service.error
  return (
    <div className={styles.stack}>
      {passkeysWork() && (
        <Way icon="passkey" busy={passkey.isPending} onClick={() => passkey.mutate()}>
          {t('signIn.withPasskey')}
        </Way>
      )}
      {options?.services.map(({ name, label }) => (
        <Way key={name} icon="elsewhere" busy={service.isPending} onClick={() => service.mutate(name)}>
          {t('signIn.withService', { label })}
        </Way>
      ))}
      <FormProblem
        text={problem === null ? undefined : passkeyProblem(problem, t('signIn.noPasskey'), problemText)}
      />
      {(passkeysWork() || (options?.services.length ?? 0) > 0) && (
        <div className={styles.or}>{t(by === 'password' ? 'signIn.orPassword' : 'signIn.orCode')}</div>
      )}
      {by === 'password' ? (
        <ByPassword contact={contact} onStep={take} />
      ) : (
        <ByCode contact={contact} onStep={take} />
      )}
      <Button variant="subtle" fullWidth onClick={() => setBy(by === 'password' ? 'code' : 'password')}>
        {t(by === 'password' ? 'signIn.useCode' : 'signIn.usePassword')}
      </Button>
    </div>
  )
}

/** The browser's error texts about passkeys are not helpful to people. */
function passkeyProblem(error: unknown, notGiven: string, problemText: (error: unknown) => string): string {
  return error instanceof ApiError ? problemText(error) : notGiven
}

interface WayProps {
  readonly icon: 'passkey' | 'elsewhere'
  readonly busy: boolean
  readonly onClick: () => void
  readonly children: ReactNode
}

function Way({ icon, busy, onClick, children }: WayProps) {
  return (
    <Button
      variant="default"
      size="lg"
      fullWidth
      loading={busy}
      onClick={onClick}
      leftSection={<Icon name={icon} />}
    >
      {children}
    </Button>
  )
}

interface StepProps {
  /** Reports the value of the field, for the other ways. */
  readonly contact: RefObject<string>
  readonly onStep: (step: FirstStep) => void
}

function ByPassword({ contact: kept, onStep }: StepProps) {
  const { t } = useTranslation()
  const problemText = useProblemText()
  const rules = useProofRules()
  const form = useForm({
    initialValues: { contact: kept.current, password: '' },
    onValuesChange: ({ contact }) => {
      kept.current = contact
    },
    validate: {
      contact: rules.contact,
      password: (text) => (text === '' ? t('signIn.passwordWanted') : null),
    },
  })
  const signIn = useMutation({
    mutationFn: async ({ contact: text, password }: typeof form.values) => {
      const contact = readContact(text)
      return contact === undefined ? undefined : signInByPassword(contact, password)
    },
    onSuccess: (step) => step !== undefined && onStep(step),
    onError: (error) => form.setFieldError('password', problemText(error)),
  })
  return (
    <form noValidate className={styles.stack} onSubmit={form.onSubmit((values) => signIn.mutate(values))}>
      <ContactField label={t('signIn.contact')} {...form.getInputProps('contact')} />
      <div className={styles.withLink}>
        <PasswordField
          label={t('signIn.password')}
          size="lg"
          autoComplete="current-password"
          key={form.key('password')}
          {...form.getInputProps('password')}
        />
        <LinkButton to="/reset" className={styles.link}>
          {t('signIn.forgotten')}
        </LinkButton>
      </div>
      <Button type="submit" size="lg" fullWidth loading={signIn.isPending}>
        {t('signIn.submit')}
      </Button>
    </form>
  )
}

function ByCode({ contact: kept, onStep }: StepProps) {
  const { t } = useTranslation()
  const problemText = useProblemText()
  const rules = useProofRules()
  const form = useForm({
    initialValues: { contact: kept.current, code: '' },
    onValuesChange: ({ contact }) => {
      kept.current = contact
    },
    validate: {
      contact: rules.contact,
      code: rules.code,
    },
  })
  const signIn = useMutation({
    mutationFn: async ({ contact: text, code }: typeof form.values) => {
      const contact = readContact(text)
      return contact === undefined ? undefined : signInByCode(contact, code)
    },
    onSuccess: (step) => step !== undefined && onStep(step),
    onError: (error) => form.setFieldError('code', problemText(error)),
  })
  return (
    <form noValidate className={styles.stack} onSubmit={form.onSubmit((values) => signIn.mutate(values))}>
      <ContactField label={t('signIn.contact')} {...form.getInputProps('contact')} />
      <ContactCode
        purpose="sign_in"
        contactOf={() => form.getValues().contact}
        onMissing={() => form.validateField('contact')}
        {...form.getInputProps('code')}
      />
      <Button type="submit" size="lg" fullWidth loading={signIn.isPending}>
        {t('signIn.submit')}
      </Button>
    </form>
  )
}
