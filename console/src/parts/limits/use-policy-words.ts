import { useFormat } from '../values/format.ts'
import { useDimensionName } from './dimensions.ts'
import { useTranslation } from '../../texts/use-translation.ts'

/** A limit as the gateway reports it. */
export interface Policy {
  readonly concurrency?: number
  readonly windows?: readonly {
    readonly dimension: string
    readonly limit: number
    readonly seconds: number
  }[]
}

/** Limits in one line; null: the default limits apply. */
export function usePolicyWords(): (policy: Policy | null) => string {
  const { t } = useTranslation()
  const format = useFormat()
  const nameOf = useDimensionName()
  return (policy) => {
    if (policy === null) return t('keys.defaultLimits')
    const words = [
      ...(policy.concurrency === undefined ? [] : [t('keys.atOnceWords', { count: policy.concurrency })]),
      ...(policy.windows ?? []).map(({ dimension, limit, seconds }) =>
        t('keys.windowWords', {
          name: nameOf(dimension),
          limit: format.number(limit, 6),
          period: format.period(seconds),
        }),
      ),
    ]
    return words.length === 0 ? t('keys.noLimits') : words.join(' · ')
  }
}
