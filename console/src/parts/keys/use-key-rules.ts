import { useTranslation } from 'react-i18next'
import type { KeyValues } from './key-values.ts'

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
