import { useQuery } from '@tanstack/react-query'
import { organisationsQuery, useMembership, usePerson } from '../../api/session.ts'
import { Icon } from '../../parts/marks/icon.tsx'
import { late } from '../../parts/page/late.ts'
import { MenuButton } from '../../parts/page/menu-button.tsx'
import styles from './frame.module.css'
import { Glyph } from './organisation-glyph.tsx'
import { useTranslation } from '../../texts/use-translation.ts'

const OrganisationChoices = late(async () => (await import('./organisation-choices.tsx')).OrganisationChoices)

/** Chooses the account to act for: the person's own, or one of their organisations. */
export function OrganisationMenu() {
  const { t } = useTranslation()
  const person = usePerson()
  const membership = useMembership()
  const { data: organisations = [] } = useQuery(organisationsQuery)
  const own = person.name ?? person.email ?? person.phone ?? person.id
  const name = membership?.name ?? own
  if (organisations.length === 0) {
    return <OnlyOne name={name} />
  }
  return (
    <MenuButton
      button={
        <button type="button" className={styles.organisation} aria-label={t('frame.actFor', { name })}>
          <Glyph name={name} />
          <span className={styles.name}>{name}</span>
          <Icon name="down" size={14} />
        </button>
      }
    >
      {(opened) => <OrganisationChoices {...opened} own={own} />}
    </MenuButton>
  )
}

/** Shown to people without an organisation. */
function OnlyOne({ name }: { readonly name: string }) {
  return (
    <span className={styles.organisation}>
      <Glyph name={name} />
      <span className={styles.name}>{name}</span>
    </span>
  )
}
