import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { LinkButton } from '../parts/page/link-button.tsx'
import { Note } from '../parts/page/problem.tsx'
import { CodeAndPasswordPage } from './code-and-password-page.tsx'
import styles from './sign-in.module.css'
import { optionsQuery, register } from './sign-in-api.ts'

export function RegisterPage() {
  const { t } = useTranslation()
  const { data: options } = useQuery(optionsQuery)
  const toSignIn = (
    <>
      {t('register.haveAccount')} <LinkButton to="/sign-in">{t('signIn.submit')}</LinkButton>
    </>
  )
  if (options === undefined) return null
  if (options.register_by.every((way) => way === 'service')) {
    return (
      <>
        <section className={styles.card}>
          <h1>{t('register.title')}</h1>
          <p className={styles.lead}>{t('signIn.at', { host: window.location.host })}</p>
          <Note tone="info">{t(options.services.length > 0 ? 'register.byService' : 'register.closed')}</Note>
        </section>
        <p className={styles.below}>{toSignIn}</p>
      </>
    )
  }
  const byPhone = options.register_by.includes('phone')
  return (
    <CodeAndPasswordPage
      title={t('register.title')}
      lead={t(options.registration === 'invited' ? 'register.invited' : 'register.lead')}
      contactLabel={t(byPhone ? 'signIn.contact' : 'signIn.email')}
      purpose="register"
      submit={t('register.submit')}
      finish={register}
    >
      {toSignIn}
    </CodeAndPasswordPage>
  )
}
