import { Link } from '@tanstack/react-router'
import type { Health } from '../../api/operator/health.ts'
import { Icon } from '../../parts/marks/icon.tsx'
import { useFormat } from '../../parts/values/format.ts'
import styles from './health.module.css'
import { useTranslation } from '../../texts/use-translation.ts'

/** Things that wait for a decision, each with a link. */
export function Waiting({ of }: { readonly of: Health['waiting'] }) {
  const { t } = useTranslation()
  const format = useFormat()
  const number = (count: number): string => format.number(count)
  return (
    <ul className={styles.waiting} aria-label={t('health.waiting')}>
      <li data-some={of.verifications > 0 || undefined}>
        <Link to="/operate/trust">
          <b>{number(of.verifications)}</b> {t('health.verifications')}
          <Icon name="right" size={14} />
        </Link>
      </li>
      <li data-some={of.top_ups > 0 || undefined}>
        <Link to="/operate/money" search={{ tab: 'topUps', state: 'review' }}>
          <b>{number(of.top_ups)}</b> {t('health.topUps')}
          <Icon name="right" size={14} />
        </Link>
      </li>
      <li data-some={of.suspect_calls > 0 || undefined}>
        <Link to="/operate/calls" search={{ suspect: true, period: '24h' }}>
          <b>{number(of.suspect_calls)}</b> {t('health.suspects')}
          <Icon name="right" size={14} />
        </Link>
      </li>
    </ul>
  )
}
