import { useQuery } from '@tanstack/react-query'
import { LinkButton } from '../parts/page/link-button.tsx'
import { PageTitle } from '../parts/page/page-title.tsx'
import { Note } from '../parts/page/problem.tsx'
import { CodeAndPasswordPage } from './code-and-password-page.tsx'
import styles from './sign-in.module.css'
import { optionsQuery } from './options.ts'
import { register } from './sign-in-api.ts'
import { useTranslation } from '../texts/use-translation.ts'

export function RegisterPage() {
  const { t } = useTranslation()
  const { data: options } = useQuery(optionsQuery)
  const toSignIn = (
    <>
      {t('signIn.register.haveAccount')} <LinkButton to="/sign-in">{t('signIn.submit')}</LinkButton>
    </>
  )
  if (options === undefined) return null
  if (options.register_by.every((way) => way === 'service')) {
    return (
      <>
        <section className={styles.card}>
          <PageTitle>{t('signIn.register.title')}</PageTitle>
          <p className={styles.lead}>{t('signIn.at', { host: window.location.host })}</p>
          <Note tone="info">
            {t(options.services.length > 0 ? 'signIn.register.byService' : 'signIn.register.closed')}
          </Note>
        </section>
        <p className={styles.below}>{toSignIn}</p>
      </>
    )
  }
  const byPhone = options.register_by.includes('phone')
  return (
    <CodeAndPasswordPage
      title={t('signIn.register.title')}
      lead={t(options.registration === 'invited' ? 'signIn.register.invited' : 'signIn.register.lead')}
      contactLabel={t(byPhone ? 'signIn.contact' : 'signIn.email')}
      purpose="register"
      submit={t('signIn.register.submit')}
      finish={register}
    >
      {toSignIn}
    </CodeAndPasswordPage>
  )
}
