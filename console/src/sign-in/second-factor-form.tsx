import { Button, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiError } from '../api/api-error.ts'
import { Icon } from '../parts/marks/icon.tsx'
import { FormProblem } from '../parts/page/problem.tsx'
import { useProblemText } from '../parts/page/use-problem.ts'
import styles from './sign-in.module.css'
import { answerSecondFactor, type FactorKind, type SecondFactor, signInByPasskey } from './sign-in-api.ts'
import { useTranslation } from '../texts/use-translation.ts'
import { Segments } from '../parts/forms/segments.tsx'

interface SecondFactorFormProps {
  readonly second: SecondFactor
  readonly onSignedIn: () => void
  readonly onBack: () => void
}

/** The step after the first proof, with any of the person's second factors. */
export function SecondFactorForm({ second, onSignedIn, onBack }: SecondFactorFormProps) {
  const { t } = useTranslation()
  const [first = 'recovery_code'] = second.factors
  const [kind, setKind] = useState<FactorKind>(first)
  const names = {
    totp: t('factors.totp'),
    passkey: t('factors.passkey'),
    recovery_code: t('factors.recovery'),
  }
  return (
    <div className={styles.stack}>
      <p className={styles.lead}>{t('signIn.secondLead')}</p>
      {second.factors.length > 1 && (
        <Segments
          fullWidth
          aria-label={t('signIn.secondTitle')}
          value={kind}
          onChange={(value) => setKind(value)}
          data={second.factors.map((value) => ({ value, label: names[value] }))}
        />
      )}
      {kind === 'passkey' ? (
        <PasskeyStep challenge={second.challenge} onSignedIn={onSignedIn} />
      ) : (
        <TypedStep key={kind} kind={kind} challenge={second.challenge} onSignedIn={onSignedIn} />
      )}
      <Button variant="subtle" fullWidth onClick={onBack}>
        {t('signIn.startOver')}
      </Button>
    </div>
  )
}

interface StepProps {
  readonly challenge: string
  readonly onSignedIn: () => void
}

function PasskeyStep({ challenge, onSignedIn }: StepProps) {
  const { t } = useTranslation()
  const problemText = useProblemText()
  const ask = useMutation({ mutationFn: () => signInByPasskey(challenge), onSuccess: onSignedIn })
  const { error } = ask
  return (
    <>
      <Button
        size="lg"
        fullWidth
        loading={ask.isPending}
        leftSection={<Icon name="passkey" />}
        onClick={() => ask.mutate()}
      >
        {t('signIn.usePasskey')}
      </Button>
      <FormProblem
        text={
          error === null ? undefined : error instanceof ApiError ? problemText(error) : t('signIn.noPasskey')
        }
      />
    </>
  )
}

function TypedStep({ kind, challenge, onSignedIn }: StepProps & { readonly kind: 'totp' | 'recovery_code' }) {
  const { t } = useTranslation()
  const problemText = useProblemText()
  const isCode = kind === 'totp'
  const form = useForm({
    initialValues: { proof: '' },
    validate: {
      proof: (text) => ((isCode ? /^\d{6}$/.test(text) : text.trim() !== '') ? null : t('signIn.codeWanted')),
    },
  })
  const answer = useMutation({
    mutationFn: (proof: string) =>
      answerSecondFactor(challenge, isCode ? { totp: proof } : { recovery_code: proof.trim() }),
    onSuccess: onSignedIn,
    onError: (error) => form.setFieldError('proof', problemText(error)),
  })
  return (
    <form noValidate className={styles.stack} onSubmit={form.onSubmit(({ proof }) => answer.mutate(proof))}>
      <TextInput
        label={t(isCode ? 'signIn.totpCode' : 'signIn.recoveryCode')}
        size="lg"
        autoComplete="one-time-code"
        inputMode={isCode ? 'numeric' : 'text'}
        data-autofocus
        {...form.getInputProps('proof')}
      />
      <Button type="submit" size="lg" fullWidth loading={answer.isPending}>
        {t('signIn.submit')}
      </Button>
    </form>
  )
}
