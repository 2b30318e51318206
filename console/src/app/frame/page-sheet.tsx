import { Link } from '@tanstack/react-router'
import { usePerson } from '../../api/session.ts'
import { Sheet } from '../../parts/forms/dialog.tsx'
import { Icon } from '../../parts/marks/icon.tsx'
import styles from './frame.module.css'
import { OperatorNav } from './operator-nav.tsx'
import { PAGES } from './pages.ts'
import { useTranslation } from '../../texts/use-translation.ts'

/** All pages, in a bottom sheet. */
export function PageSheet({ onClose }: { readonly onClose: () => void }) {
  const { t } = useTranslation()
  const { role } = usePerson()
  return (
    <Sheet onClose={onClose} position="bottom" size="auto" title={t('frame.pages')}>
      <nav className={styles.nav} aria-label={t('frame.pages')}>
        {PAGES.map(({ to, icon, name }) => (
          <Link key={to} to={to} onClick={onClose} activeOptions={{ exact: to === '/' }}>
            <Icon name={icon} />
            {t(`pages.${name}`)}
          </Link>
        ))}
        {role === 'admin' && <OperatorNav narrow={false} onGone={onClose} />}
      </nav>
    </Sheet>
  )
}
