import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { LinkButton } from '../parts/page/link-button.tsx'
import { PageTitle } from '../parts/page/page-title.tsx'
import { Note } from '../parts/page/problem.tsx'
import { optionsQuery } from './options.ts'
import { readReturn } from './return-from-service.ts'
import styles from './sign-in.module.css'
import { SignInForm } from './sign-in-form.tsx'
import { useEnter } from './use-enter.ts'
import { useTranslation } from '../texts/use-translation.ts'

const route = getRouteApi('/signed-out/sign-in')

export function SignInPage() {
  const { t } = useTranslation()
  const { next } = route.useSearch()
  const { data: options } = useQuery(optionsQuery)
  const back = readReturn(window.location.hash)
  const enter = useEnter()
  return (
    <>
      <section className={styles.card}>
        <PageTitle>{t('signIn.title')}</PageTitle>
        <p className={styles.lead}>{t('signIn.at', { host: window.location.host })}</p>
        {back.kind === 'refused' && (
          <div className={styles.stack}>
            <Note tone="bad">{t(`signIn.service.${back.why}`)}</Note>
            <span />
          </div>
        )}
        <SignInForm
          onSignedIn={() => enter(back.kind === 'pending' ? back.returnTo : next)}
          returnTo={next ?? '/console/'}
          pending={back.kind === 'pending' ? back.second : undefined}
        />
      </section>
      {options !== undefined && options.register_by.length > 0 && (
        <p className={styles.below}>
          {t('signIn.noAccount')} <LinkButton to="/register">{t('signIn.toRegister')}</LinkButton>
        </p>
      )}
    </>
  )
}
