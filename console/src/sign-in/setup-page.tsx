import { Button } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { ApiError } from '../api/api-error.ts'
import { addPasskey } from '../parts/identity/passkey.ts'
import { PasswordField } from '../parts/identity/password-field.tsx'
import { RecoveryCodes } from '../parts/identity/recovery-codes.tsx'
import { Icon } from '../parts/marks/icon.tsx'
import { PageTitle } from '../parts/page/page-title.tsx'
import { FormProblem, Note } from '../parts/page/problem.tsx'
import { useFieldProblems } from '../parts/page/use-problem.ts'
import { useProofRules } from './proof-fields.tsx'
import { SecondFactorForm } from './second-factor-form.tsx'
import styles from './sign-in.module.css'
import { passkeysWork, type SecondFactor, setPassword, signInByLink } from './sign-in-api.ts'
import { useEnter } from './use-enter.ts'
import { useTranslation } from '../texts/use-translation.ts'

const route = getRouteApi('/signed-out/setup')

/** The page of a set-up link, from the first start or the command line: sets a password or a passkey, and signs in. */
export function SetupPage() {
  const { t } = useTranslation()
  const token = useToken()
  const setup = useSetup(token)
  const [codes, keepCodes] = useState<readonly string[]>([])
  if (codes.length > 0) {
    return (
      <section className={styles.card}>
        <PageTitle>{t('factors.recovery')}</PageTitle>
        <p className={styles.lead}>{t('recovery.lead')}</p>
        <RecoveryCodes codes={codes} onKept={setup.enter} />
      </section>
    )
  }
  return (
    <section className={styles.card}>
      <PageTitle>{t('signIn.setup.title')}</PageTitle>
      <p className={styles.lead}>{t('signIn.setup.lead')}</p>
      {token === undefined ? (
        <Note tone="info">{t('signIn.setup.noToken')}</Note>
      ) : setup.second === undefined ? (
        <Ways setup={setup} onCodes={keepCodes} />
      ) : (
        <SecondFactorForm second={setup.second} onSignedIn={setup.passed} onBack={setup.back} />
      )}
    </section>
  )
}

/** The token of the link; removed from the address bar and the history once it is read. */
function useToken(): string | undefined {
  const { token } = route.useSearch()
  const [kept] = useState(token)
  useEffect(() => {
    window.history.replaceState(window.history.state, '', window.location.pathname)
  }, [])
  return kept
}

type Setup = ReturnType<typeof useSetup>

/** The link is used once, when the person has chosen; what fails after that is retried in the session it opened. */
function useSetup(token: string | undefined) {
  const enter = useEnter()
  const [state, setState] = useState<'new' | 'entered'>('new')
  const [second, setSecond] = useState<SecondFactor>()
  /** True: the link's session was opened. */
  const open = async (): Promise<boolean> => {
    if (state === 'entered' || token === undefined) return true
    const step = await signInByLink(token)
    if (step.state === 'signed_in') setState('entered')
    else setSecond(step)
    return step.state === 'signed_in'
  }
  return {
    second,
    open,
    enter: () => enter(undefined),
    passed: () => {
      setState('entered')
      setSecond(undefined)
    },
    back: () => setSecond(undefined),
  }
}

interface WaysProps {
  readonly setup: Setup
  /** Called with the recovery codes that came with the first passkey. */
  readonly onCodes: (codes: readonly string[]) => void
}

function Ways(props: WaysProps) {
  const { t } = useTranslation()
  const { form, problem, byPassword, byPasskey } = useWays(props)
  return (
    <form
      noValidate
      className={styles.stack}
      onSubmit={form.onSubmit(({ password }) => byPassword.mutate(password))}
    >
      <PasswordField
        label={t('signIn.newPassword')}
        size="lg"
        autoComplete="new-password"
        {...form.getInputProps('password')}
      />
      <FormProblem text={problem} />
      <Button type="submit" size="lg" fullWidth loading={byPassword.isPending}>
        {t('signIn.setup.submit')}
      </Button>
      {passkeysWork() && (
        <>
          <div className={styles.or}>{t('signIn.setup.or')}</div>
          <Button
            variant="default"
            size="lg"
            fullWidth
            loading={byPasskey.isPending}
            leftSection={<Icon name="passkey" />}
            onClick={() => byPasskey.mutate()}
          >
            {t('signIn.setup.withPasskey')}
          </Button>
        </>
      )}
    </form>
  )
}

/** Password and passkey; each opens the link's session before it changes the account. */
function useWays({ setup, onCodes }: WaysProps) {
  const { t } = useTranslation()
  const fieldProblems = useFieldProblems()
  const [problem, setProblem] = useState<string>()
  const rules = useProofRules()
  const form = useForm({
    initialValues: { password: '' },
    validate: { password: rules.newPassword },
  })
  const failed = (error: unknown): void =>
    setProblem(
      error instanceof ApiError && error.code === 40104
        ? t('signIn.setup.usedUp')
        : fieldProblems(form, error),
    )
  const byPassword = useMutation({
    mutationFn: async (password: string) => (await setup.open()) && (await setPassword(password), true),
    onMutate: () => setProblem(undefined),
    onSuccess: (done) => done && setup.enter(),
    onError: failed,
  })
  const byPasskey = useMutation({
    mutationFn: async () => ((await setup.open()) ? addPasskey(t('signIn.setup.passkeyName')) : undefined),
    onMutate: () => setProblem(undefined),
    onSuccess: (added) => {
      if (added === undefined) return
      if (added.recovery_codes.length > 0) onCodes(added.recovery_codes)
      else setup.enter()
    },
    onError: (error) => (error instanceof ApiError ? failed(error) : setProblem(t('signIn.noPasskey'))),
  })
  return { form, problem, byPassword, byPasskey }
}
