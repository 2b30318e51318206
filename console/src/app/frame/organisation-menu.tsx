import { Menu } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { organisationsQuery, useMembership, usePerson } from '../../api/session.ts'
import { Icon } from '../../parts/marks/icon.tsx'
import { inBackground } from '../../parts/page/in-background.ts'
import styles from './frame.module.css'

/** For whom one acts: oneself, or an organisation one is in. */
export function OrganisationMenu() {
  const { t } = useTranslation()
  const person = usePerson()
  const membership = useMembership()
  const navigate = useNavigate()
  const { data: organisations = [] } = useQuery(organisationsQuery)
  const own = person.name ?? person.email ?? person.phone ?? person.id
  const name = membership?.name ?? own
  const choose = (org: string | undefined): void => inBackground(navigate({ to: '/', search: { org } }))
  if (organisations.length === 0) {
    return <OnlyOne name={name} />
  }
  return (
    <Menu position="bottom-start" width={260}>
      <Menu.Target>
        <button type="button" className={styles.organisation} aria-label={t('frame.actFor', { name })}>
          <Glyph name={name} />
          <span className={styles.name}>{name}</span>
          <Icon name="down" size={14} />
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{t('frame.yourself')}</Menu.Label>
        <Menu.Item
          leftSection={<Glyph name={own} />}
          rightSection={membership === undefined ? <Icon name="check" size={14} /> : undefined}
          onClick={() => choose(undefined)}
        >
          {own}
        </Menu.Item>
        <Menu.Label>{t('frame.organisations')}</Menu.Label>
        {organisations.map(({ id, name: each }) => (
          <Menu.Item
            key={id}
            leftSection={<Glyph name={each} />}
            rightSection={membership?.id === id ? <Icon name="check" size={14} /> : undefined}
            onClick={() => choose(id)}
          >
            {each}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

/** Where there is nobody else to act for. */
function OnlyOne({ name }: { readonly name: string }) {
  return (
    <span className={styles.organisation}>
      <Glyph name={name} />
      <span className={styles.name}>{name}</span>
    </span>
  )
}

/** The first letter of a name, drawn: it is none of the words of the button around it. */
function Glyph({ name }: { readonly name: string }) {
  const [first = ''] = name
  return <span className={styles.glyph} aria-hidden="true" data-letter={first.toUpperCase()} />
}
