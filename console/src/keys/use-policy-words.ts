import { useTranslation } from 'react-i18next'
import type { Key } from '../api/keys.ts'
import { useFormat } from '../parts/format.ts'
import { useDimensionName } from './dimensions.ts'

/** The limits of a key in one line. */
export function usePolicyWords(): (policy: Key['policy']) => string {
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
