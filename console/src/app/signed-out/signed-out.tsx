import { Button } from '@mantine/core'
import { Outlet } from '@tanstack/react-router'
import { Icon } from '../../parts/marks/icon.tsx'
import { Mark } from '../../parts/marks/mark.tsx'
import { LanguageMenu } from '../../parts/page/language-menu.tsx'
import { ThemeButton } from '../../parts/page/theme-button.tsx'
import { isLanguage, LANGUAGES } from '../../texts/languages.ts'
import styles from './signed-out.module.css'
import { useTranslation } from '../../texts/use-translation.ts'

/** The page around the sign-in cards. */
export function SignedOut() {
  const { t, language } = useTranslation()
  return (
    <div className={styles.frame}>
      <header className={styles.header}>
        <LanguageMenu>
          <Button variant="subtle" leftSection={<Icon name="language" />}>
            {isLanguage(language) ? LANGUAGES[language].label : language}
          </Button>
        </LanguageMenu>
        <ThemeButton />
      </header>
      <main className={styles.main}>
        <div className={styles.brand}>
          <Mark />
          Sluice
        </div>
        <Outlet />
      </main>
      <footer className={styles.footer}>
        <a href="/docs">{t('signedOut.apiReference')}</a>
      </footer>
    </div>
  )
}
