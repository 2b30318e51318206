import { useFormat } from './format.ts'
import { useTranslation } from '../../texts/use-translation.ts'

/** Kinds of input and output of models. */
export const FEATURES = ['text', 'image', 'audio', 'video'] as const

/** The names as a list; an unknown one is shown as the gateway names it. */
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
