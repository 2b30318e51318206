import { State } from '../../parts/marks/state.tsx'
import { useTranslation } from '../../texts/use-translation.ts'

const SIGNS = {
  enabled: { icon: 'done', tone: 'good' },
  disabled: { icon: 'paused', tone: 'quiet' },
  maintenance: { icon: 'tool', tone: 'warn' },
} as const

/** The state of a vendor or a credential. */
export function VendorState({ status }: { readonly status: string }) {
  const { t } = useTranslation()
  const known = status === 'disabled' || status === 'maintenance' ? status : 'enabled'
  return <State {...SIGNS[known]}>{t(`vendors.states.${known}`)}</State>
}
