import { useTranslation } from 'react-i18next'
import type { Kind } from './kinds/kind.ts'

export function useKindName(): (kind: Kind) => string {
  const { t } = useTranslation()
  return (kind) => (kind.form === 'conversation' ? kind.label : t(`playground.kinds.${kind.id}`))
}
