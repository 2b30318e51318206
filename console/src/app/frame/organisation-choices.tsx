import { Menu } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { organisationsQuery, useMembership } from '../../api/session.ts'
import { Icon } from '../../parts/marks/icon.tsx'
import { inBackground } from '../../parts/page/in-background.ts'
import type { Opened } from '../../parts/page/menu-button.tsx'
import { OpenedMenu } from '../../parts/page/opened-menu.tsx'
import { Glyph } from './organisation-glyph.tsx'
import { useTranslation } from '../../texts/use-translation.ts'

/** `own`: the person's name. */
export function OrganisationChoices({ own, ...opened }: Opened & { readonly own: string }) {
  const { t } = useTranslation()
  const membership = useMembership()
  const navigate = useNavigate()
  const { data: organisations = [] } = useQuery(organisationsQuery)
  const choose = (org: string | undefined): void => inBackground(navigate({ to: '/', search: { org } }))
  return (
    <OpenedMenu {...opened} position="bottom-start" width={260}>
      <Menu.Label>{t('frame.yourself')}</Menu.Label>
      <Menu.Item
        leftSection={<Glyph name={own} />}
        rightSection={membership === undefined ? <Icon name="check" size={14} /> : undefined}
        onClick={() => choose(undefined)}
      >
        {own}
      </Menu.Item>
      <Menu.Label>{t('frame.organisations')}</Menu.Label>
      {organisations.map(({ id, name }) => (
        <Menu.Item
          key={id}
          leftSection={<Glyph name={name} />}
          rightSection={membership?.id === id ? <Icon name="check" size={14} /> : undefined}
          onClick={() => choose(id)}
        >
          {name}
        </Menu.Item>
      ))}
    </OpenedMenu>
  )
}
