import { useTranslation } from 'react-i18next'
import { useFormat } from './format.ts'

/** What models take in and make. */
export const FEATURES = ['text', 'image', 'audio', 'video'] as const

/** Their names, one after the other; one that is not known here keeps the gateway's. */
export function useFeatureWords(): (features: readonly string[]) => string {
  const { t } = useTranslation()
  const format = useFormat()
  return (features) =>
    format.list(
      features.map((name) => {
        const known = FEATURES.find((each) => each === name)
        return known === undefined ? name : t(`features.${known}`)
      }),
    )
}
