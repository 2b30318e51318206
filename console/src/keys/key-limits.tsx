import { Skeleton } from '@mantine/core'
import type { KeyLimits } from '../api/keys.ts'
import { useDimensionName } from '../parts/limits/dimensions.ts'
import { LimitBar } from '../parts/limits/limit-bar.tsx'
import { type Format, useFormat } from '../parts/values/format.ts'
import styles from './keys.module.css'
import { useTranslation } from '../texts/use-translation.ts'

interface KeyLimitBarsProps {
  readonly limits: KeyLimits | undefined
  /** The key cannot be used right now. */
  readonly quiet: boolean
}

/** The usage of each limit of a key. */
export function KeyLimitBars({ limits, quiet }: KeyLimitBarsProps) {
  const { t } = useTranslation()
  const format = useFormat()
  const nameOf = useDimensionName()
  if (limits === undefined) return <Skeleton height={14} width={200} />
  const { concurrency, windows } = limits
  if (windows.length === 0 && concurrency.limit === null) {
    return <span className={styles.none}>{t('keys.noLimits')}</span>
  }
  return (
    <div className={styles.limits}>
      {concurrency.limit !== null && (
        <Line
          name={t('keys.atOnce')}
          used={concurrency.in_use}
          limit={concurrency.limit}
          label={t('keys.atOnceLabel', { used: concurrency.in_use, limit: concurrency.limit })}
          quiet={quiet}
        />
      )}
      {windows.map(({ dimension, seconds, limit, used, held, remaining, resets_at }) => (
        <Line
          key={`${dimension} ${seconds}`}
          name={format.list([nameOf(dimension), format.period(seconds)])}
          used={Number(used) + Number(held)}
          limit={Number(limit)}
          label={[
            t('limits.left', { left: format.number(remaining, 6), limit: format.number(limit, 6) }),
            ...(resets_at === null ? [] : [t('limits.until', { moment: format.recent(resets_at) })]),
          ].join(' ')}
          quiet={quiet}
        />
      ))}
    </div>
  )
}

interface LineProps {
  readonly name: string
  readonly used: number
  readonly limit: number
  readonly label: string
  readonly quiet: boolean
}

function Line({ name, used, limit, label, quiet }: LineProps) {
  const format = useFormat()
  return (
    <div>
      <span>{name}</span>
      <LimitBar used={limit === 0 ? 1 : used / limit} label={`${name}: ${label}`} quiet={quiet} />
      <span className={styles.sum}>
        {shortly(format, used)} / {shortly(format, limit)}
      </span>
    </div>
  )
}

/** Large amounts are shortened; the bar's title has all digits. */
function shortly(format: Format, amount: number): string {
  return amount >= 100_000 ? format.short(amount) : format.number(Math.floor(amount))
}
