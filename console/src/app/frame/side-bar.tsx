import { ActionIcon } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { Suspense } from 'react'
import { usePerson } from '../../api/session.ts'
import { Icon } from '../../parts/marks/icon.tsx'
import { Mark } from '../../parts/marks/mark.tsx'
import { late } from '../../parts/page/late.ts'
import { Tip } from '../../parts/page/tip.tsx'
import styles from './frame.module.css'
import { PAGES } from './pages.ts'
import { PlanMeter } from './plan-meter.tsx'
import { useTranslation } from '../../texts/use-translation.ts'

const OperatorNav = late(async () => (await import('./operator-nav.tsx')).OperatorNav)

interface SideBarProps {
  readonly narrow: boolean
  readonly onNarrow: (narrow: boolean) => void
}

export function SideBar({ narrow, onNarrow }: SideBarProps) {
  const { t } = useTranslation()
  const { role } = usePerson()
  const fold = t(narrow ? 'frame.widen' : 'frame.narrow')
  return (
    <aside className={styles.side}>
      <Link to="/" className={styles.brand} aria-label="Sluice">
        <Mark />
        <span className={styles.wide}>Sluice</span>
      </Link>
      <nav className={styles.nav} aria-label={t('frame.pages')}>
        <h2 className={styles.group}>{t('frame.use')}</h2>
        {PAGES.map(({ to, icon, name }) => (
          <Tip key={to} label={t(`pages.${name}`)} position="right" disabled={!narrow}>
            <Link to={to} activeOptions={{ exact: to === '/' }} activeProps={{ 'aria-current': 'page' }}>
              <Icon name={icon} />
              <span className={styles.wide}>{t(`pages.${name}`)}</span>
            </Link>
          </Tip>
        ))}
        {role === 'admin' && (
          <Suspense>
            <OperatorNav narrow={narrow} />
          </Suspense>
        )}
      </nav>
      <div className={styles.foot}>
        <PlanMeter />
        <Tip label={fold} position="right">
          <ActionIcon aria-label={fold} className={styles.fold} onClick={() => onNarrow(!narrow)}>
            <Icon name="panel" />
          </ActionIcon>
        </Tip>
      </div>
    </aside>
  )
}
