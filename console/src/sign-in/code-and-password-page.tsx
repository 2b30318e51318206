import { Button } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { ApiError } from '../api/api-error.ts'
import { PasswordField } from '../parts/identity/password-field.tsx'
import { PageTitle } from '../parts/page/page-title.tsx'
import { FormProblem } from '../parts/page/problem.tsx'
import { useFieldProblems } from '../parts/page/use-problem.ts'
import { type Contact, readContact } from './contact.ts'
import { ContactCode, ContactField, useProofRules } from './proof-fields.tsx'
import { SecondFactorForm } from './second-factor-form.tsx'
import styles from './sign-in.module.css'
import { type CodePurpose, type FirstStep, type SecondFactor } from './sign-in-api.ts'
import { useEnter } from './use-enter.ts'
import { useTranslation } from '../texts/use-translation.ts'

interface CodeAndPasswordPageProps {
  readonly title: string
  readonly lead: string
  readonly contactLabel: string
  readonly purpose: CodePurpose
  readonly submit: string
  readonly finish: (contact: Contact, code: string, password: string) => Promise<FirstStep>
  /** Shown below the card. */
  readonly children: ReactNode
}

/** Address, code and new password: used to register and to reset the password. */
export function CodeAndPasswordPage(props: CodeAndPasswordPageProps) {
  const enter = useEnter()
  const [second, setSecond] = useState<SecondFactor>()
  const take = (step: FirstStep): void => (step.state === 'signed_in' ? enter(undefined) : setSecond(step))
  return (
    <>
      <section className={styles.card}>
        <PageTitle>{props.title}</PageTitle>
        <p className={styles.lead}>{props.lead}</p>
        {second === undefined ? (
          <Fields {...props} onStep={take} />
        ) : (
          <SecondFactorForm
            second={second}
            onSignedIn={() => enter(undefined)}
            onBack={() => setSecond(undefined)}
          />
        )}
      </section>
      <p className={styles.below}>{props.children}</p>
    </>
  )
}

type FieldsProps = CodeAndPasswordPageProps & { readonly onStep: (step: FirstStep) => void }

function Fields({ contactLabel, purpose, submit, finish, onStep }: FieldsProps) {
  const { t } = useTranslation()
  const fieldProblems = useFieldProblems()
  const [problem, setProblem] = useState<string>()
  const rules = useProofRules()
  const form = useForm({
    initialValues: { contact: '', code: '', password: '' },
    validate: {
      contact: rules.contact,
      code: rules.code,
      password: rules.newPassword,
    },
  })
  const done = useMutation({
    mutationFn: async ({ contact: text, code, password }: typeof form.values) => {
      const contact = readContact(text)
      return contact === undefined ? undefined : finish(contact, code, password)
    },
    onMutate: () => setProblem(undefined),
    onSuccess: (step) => step !== undefined && onStep(step),
    onError: (error) => {
      const text = fieldProblems(form, error)
      // Wrong code: shown beside the code.
      if (error instanceof ApiError && error.code === 40005) form.setFieldError('code', text)
      else setProblem(text)
    },
  })
  return (
    <form noValidate className={styles.stack} onSubmit={form.onSubmit((values) => done.mutate(values))}>
      <ContactField label={contactLabel} {...form.getInputProps('contact')} />
      <ContactCode
        purpose={purpose}
        contactOf={() => form.getValues().contact}
        onMissing={() => form.validateField('contact')}
        {...form.getInputProps('code')}
      />
      <PasswordField
        label={t('signIn.newPassword')}
        size="lg"
        autoComplete="new-password"
        {...form.getInputProps('password')}
      />
      <FormProblem text={problem} />
      <Button type="submit" size="lg" fullWidth loading={done.isPending}>
        {submit}
      </Button>
    </form>
  )
}
