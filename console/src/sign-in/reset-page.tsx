import { LinkButton } from '../parts/page/link-button.tsx'
import { CodeAndPasswordPage } from './code-and-password-page.tsx'
import { resetPassword } from './sign-in-api.ts'
import { useTranslation } from '../texts/use-translation.ts'

export function ResetPage() {
  const { t } = useTranslation()
  return (
    <CodeAndPasswordPage
      title={t('signIn.reset.title')}
      lead={t('signIn.reset.lead')}
      contactLabel={t('signIn.contact')}
      purpose="reset_password"
      submit={t('signIn.reset.submit')}
      finish={resetPassword}
    >
      {t('signIn.reset.remembered')} <LinkButton to="/sign-in">{t('signIn.submit')}</LinkButton>
    </CodeAndPasswordPage>
  )
}
