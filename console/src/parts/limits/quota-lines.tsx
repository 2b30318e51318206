import { Fragment } from 'react'
import type { Subscription } from '../../api/subscription.ts'
import { useFormat } from '../values/format.ts'
import { LimitBar } from './limit-bar.tsx'
import styles from './quota-lines.module.css'
import { useTranslation } from '../../texts/use-translation.ts'

/** The remaining quota of each window of a plan, and when the window ends. */
export function QuotaLines({ quota }: Pick<Subscription, 'quota'>) {
  const { t } = useTranslation()
  const format = useFormat()
  return (
    <div className={styles.lines}>
      {quota.map(({ credits, seconds, used, held, remaining, resets_at }) => {
        const share = Number(credits) === 0 ? 0 : (Number(used) + Number(held)) / Number(credits)
        const left = t('limits.left', { left: format.number(remaining, 2), limit: format.number(credits, 2) })
        const ends =
          resets_at === null ? t('limits.notBegun') : t('limits.until', { moment: format.recent(resets_at) })
        const words = format.list([left, ends])
        return (
          <Fragment key={seconds}>
            <span>{format.period(seconds)}</span>
            <LimitBar used={share} label={words} />
            <span>{t('overview.left', { share: format.percent(Math.max(0, 1 - share)) })}</span>
            <span className={styles.ends}>{words}</span>
          </Fragment>
        )
      })}
    </div>
  )
}
