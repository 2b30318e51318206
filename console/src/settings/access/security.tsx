import { Factors } from './factors.tsx'
import { LinkedServices } from './linked-services.tsx'
import { PasswordForm } from './password-form.tsx'
import { Section } from '../section.tsx'
import { Sessions } from './sessions.tsx'
import { useTranslation } from '../../texts/use-translation.ts'

/** Ways of signing in, and open sessions. */
export function Security() {
  const { t } = useTranslation()
  return (
    <>
      <Section title={t('signIn.password')} hint={t('settings.passwordHint')}>
        <PasswordForm />
      </Section>
      <Factors />
      <LinkedServices />
      <Section title={t('settings.sessions')} hint={t('settings.sessionsHint')}>
        <Sessions />
      </Section>
    </>
  )
}
