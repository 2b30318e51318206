import type { KeyValues } from './key-values.ts'
import { useTranslation } from '../../texts/use-translation.ts'

/** Validation of a key. */
export function useKeyRules() {
  const { t } = useTranslation()
  return {
    name: (text: KeyValues['name']) => (text.trim() === '' ? t('keys.nameWanted') : null),
    policy: {
      windows: { limit: (limit: number | string) => (limit === '' ? t('keys.limitWanted') : null) },
    },
  }
}
