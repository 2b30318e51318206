import type { Kind } from './kinds/kind.ts'
import { useTranslation } from '../texts/use-translation.ts'

export function useKindName(): (kind: Kind) => string {
  const { t } = useTranslation()
  return (kind) => (kind.form === 'conversation' ? kind.label : t(`playground.kinds.${kind.id}`))
}
