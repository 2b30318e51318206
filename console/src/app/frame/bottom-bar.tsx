import { useDisclosure } from '@mantine/hooks'
import { Link } from '@tanstack/react-router'
import { Suspense } from 'react'
import { late } from '../../parts/page/late.ts'
import { Icon } from '../../parts/marks/icon.tsx'
import styles from './frame.module.css'
import { PAGES, PAGES_AT_HAND } from './pages.ts'
import { useTranslation } from '../../texts/use-translation.ts'

const PageSheet = late(async () => (await import('./page-sheet.tsx')).PageSheet)

/** The navigation on a phone: the most used pages, and the others in a sheet. */
export function BottomBar() {
  const { t } = useTranslation()
  const [open, sheet] = useDisclosure(false)
  return (
    <>
      <nav className={styles.bottom} aria-label={t('frame.pages')}>
        {PAGES.slice(0, PAGES_AT_HAND).map(({ to, icon, name }) => (
          <Link
            key={to}
            to={to}
            activeOptions={{ exact: to === '/' }}
            activeProps={{ 'aria-current': 'page' }}
          >
            <Icon name={icon} size={20} />
            {t(`pages.${name}`)}
          </Link>
        ))}
        <button type="button" onClick={sheet.open} aria-haspopup="dialog">
          <Icon name="menu" size={20} />
          {t('frame.menu')}
        </button>
      </nav>
      {open && (
        <Suspense>
          <PageSheet onClose={sheet.close} />
        </Suspense>
      )}
    </>
  )
}
