import { ActionIcon, Menu, Tooltip } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { Link, useRouter } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { client, dataOf } from '../../api/client.ts'
import { useConnection } from '../../api/connection.ts'
import { usePerson } from '../../api/session.ts'
import { Icon } from '../../parts/marks/icon.tsx'
import { Mark } from '../../parts/marks/mark.tsx'
import { LanguageMenu } from '../../parts/page/language-menu.tsx'
import { ThemeButton } from '../../parts/page/theme-button.tsx'
import type { Language } from '../../texts/languages.ts'
import styles from './frame.module.css'
import { OrganisationMenu } from './organisation-menu.tsx'

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

/** Whether what is shown is the state of this moment. */
function LiveSign() {
  const { t } = useTranslation()
  const isLive = useConnection() !== 'unreachable'
  return (
    <Tooltip label={t(isLive ? 'frame.liveHint' : 'frame.unreachableHint')}>
      <span className={styles.live} data-state={isLive ? 'live' : 'unreachable'} role="status">
        <i aria-hidden="true" />
        {t(isLive ? 'frame.live' : 'frame.unreachable')}
      </span>
    </Tooltip>
  )
}

function AccountMenu() {
  const { t } = useTranslation()
  const person = usePerson()
  const router = useRouter()
  const signOut = useMutation({
    mutationFn: () => dataOf(client.POST('/api/v1/user/user/sign-out')),
    // A new page: nothing of what was known here is left.
    onSuccess: () => window.location.assign(router.buildLocation({ to: '/sign-in', search: {} }).publicHref),
  })
  return (
    <Menu width={220}>
      <Menu.Target>
        <ActionIcon aria-label={t('frame.account')}>
          <Icon name="user" />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <div className={styles.who}>
          <b>{person.name ?? person.email ?? person.phone ?? person.id}</b>
          {person.name !== null && <span>{person.email ?? person.phone}</span>}
        </div>
        <Menu.Divider />
        <Menu.Item component="a" href="/docs" leftSection={<Icon name="book" />}>
          {t('signedOut.apiReference')}
        </Menu.Item>
        <Menu.Item leftSection={<Icon name="signOut" />} onClick={() => signOut.mutate()}>
          {t('frame.signOut')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
