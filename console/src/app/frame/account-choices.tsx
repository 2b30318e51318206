import { Menu } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { client, dataOf } from '../../api/client.ts'
import { REFUSED_IN_FRAME } from '../../api/refusal.ts'
import { usePerson } from '../../api/session.ts'
import { Icon } from '../../parts/marks/icon.tsx'
import type { Opened } from '../../parts/page/menu-button.tsx'
import { OpenedMenu } from '../../parts/page/opened-menu.tsx'
import styles from './frame.module.css'
import { useTranslation } from '../../texts/use-translation.ts'

export function AccountChoices(opened: Opened) {
  const { t } = useTranslation()
  const person = usePerson()
  const router = useRouter()
  const signOut = useMutation({
    mutationFn: () => dataOf(client.POST('/api/v1/user/user/sign-out')),
    // A full reload, so that no data of the session is left.
    onSuccess: () => window.location.assign(router.buildLocation({ to: '/sign-in', search: {} }).publicHref),
    meta: REFUSED_IN_FRAME,
  })
  return (
    <OpenedMenu {...opened} width={220}>
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
    </OpenedMenu>
  )
}
