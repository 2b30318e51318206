import { ActionIcon } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useConnection } from '../../api/connection.ts'
import { Icon } from '../../parts/marks/icon.tsx'
import { Mark } from '../../parts/marks/mark.tsx'
import { LanguageMenu } from '../../parts/page/language-menu.tsx'
import { late } from '../../parts/page/late.ts'
import { MenuButton } from '../../parts/page/menu-button.tsx'
import { ThemeButton } from '../../parts/page/theme-button.tsx'
import { Tip } from '../../parts/page/tip.tsx'
import type { Language } from '../../texts/languages.ts'
import styles from './frame.module.css'
import { OrganisationMenu } from './organisation-menu.tsx'
import { useTranslation } from '../../texts/use-translation.ts'

const AccountChoices = late(async () => (await import('./account-choices.tsx')).AccountChoices)

interface TopBarProps {
  readonly onSearch: () => void
  readonly onLanguage: (language: Language) => void
}

export function TopBar({ onSearch, onLanguage }: TopBarProps) {
  const { t } = useTranslation()
  return (
    <header className={styles.top}>
      <Link to="/" className={styles.phoneMark} aria-label="Sluice">
        <Mark />
      </Link>
      <OrganisationMenu />
      <button type="button" className={styles.find} onClick={onSearch}>
        <Icon name="search" />
        <span className={styles.findText}>{t('frame.search')}</span>
        <kbd className={styles.key}>/</kbd>
      </button>
      <div className={styles.tools}>
        <LiveSign />
        <span className={styles.phoneOnly}>
          <ActionIcon aria-label={t('frame.search')} onClick={onSearch}>
            <Icon name="search" />
          </ActionIcon>
        </span>
        <LanguageMenu onChosen={onLanguage}>
          <ActionIcon aria-label={t('frame.language')}>
            <Icon name="language" />
          </ActionIcon>
        </LanguageMenu>
        <ThemeButton />
        <AccountMenu />
      </div>
    </header>
  )
}

/** Whether the data shown is current. */
function LiveSign() {
  const { t } = useTranslation()
  const isLive = useConnection() !== 'unreachable'
  return (
    <Tip label={t(isLive ? 'frame.liveHint' : 'frame.unreachableHint')}>
      <span className={styles.live} data-state={isLive ? 'live' : 'unreachable'} role="status">
        <i aria-hidden="true" />
        {t(isLive ? 'frame.live' : 'frame.unreachable')}
      </span>
    </Tip>
  )
}

function AccountMenu() {
  const { t } = useTranslation()
  return (
    <MenuButton
      button={
        <ActionIcon aria-label={t('frame.account')}>
          <Icon name="user" />
        </ActionIcon>
      }
    >
      {(opened) => <AccountChoices {...opened} />}
    </MenuButton>
  )
}
