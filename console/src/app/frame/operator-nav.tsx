import { Link } from '@tanstack/react-router'
import { Sign } from '../../parts/marks/icon.tsx'
import { Tip } from '../../parts/page/tip.tsx'
import styles from './frame.module.css'
import { OPERATOR_PAGES } from './operator-pages.ts'
import { useTranslation } from '../../texts/use-translation.ts'

/** The pages of those who run the gateway, below the others. */
export function OperatorNav({ narrow, onGone }: { readonly narrow: boolean; readonly onGone?: () => void }) {
  const { t } = useTranslation()
  return (
    <>
      <h2 className={styles.group}>{t('operate.title')}</h2>
      {OPERATOR_PAGES.map(({ to, sign, name }) => (
        <Tip key={to} label={t(`operate.pages.${name}`)} position="right" disabled={!narrow}>
          <Link to={to} activeProps={{ 'aria-current': 'page' }} {...(onGone && { onClick: onGone })}>
            <Sign path={sign} />
            <span className={styles.wide}>{t(`operate.pages.${name}`)}</span>
          </Link>
        </Tip>
      ))}
    </>
  )
}
