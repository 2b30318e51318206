import { useTranslation } from 'react-i18next'
import type { Chain } from '../../api/operator/chains.ts'
import { State } from '../../parts/marks/state.tsx'
import { useFormat } from '../../parts/values/format.ts'
import styles from './chains.module.css'

export const CHAIN_STATES = ['healthy', 'failing', 'cooling', 'limited', 'draining', 'disabled'] as const
export type ChainState = (typeof CHAIN_STATES)[number]

/** What hinders a chain, the strongest first; `healthy`: nothing. */
export function stateOf({ status, health }: Chain): ChainState {
  if (status === 'disabled') return 'disabled'
  if (status === 'maintenance') return 'draining'
  switch (health.state) {
    case 'cooling-down':
    case 'probing':
      return 'cooling'
    case 'rate-limited':
      return 'limited'
    case 'failing':
      return 'failing'
    case 'healthy':
      return 'healthy'
  }
}

const SIGNS = {
  healthy: { icon: 'done', tone: 'good' },
  failing: { icon: 'warning', tone: 'warn' },
  cooling: { icon: 'clock', tone: 'bad' },
  limited: { icon: 'clock', tone: 'warn' },
  draining: { icon: 'export', tone: 'quiet' },
  disabled: { icon: 'paused', tone: 'quiet' },
} as const

export function Health({ of }: { readonly of: Chain }) {
  const { t } = useTranslation()
  const format = useFormat()
  const state = stateOf(of)
  const until = of.health.cooling_until
  const waits = (state === 'cooling' || state === 'limited') && until !== null
  return (
    <State {...SIGNS[state]}>
      {waits ? t('chains.coolingUntil', { moment: format.time(until) }) : t(`chains.states.${state}`)}
    </State>
  )
}

/** The last outcomes of a chain, oldest first. */
export function Outcomes({ of: { outcomes } }: { readonly of: Chain['health'] }) {
  const { t } = useTranslation()
  const signs = outcomes.split('')
  const failed = signs.filter((sign) => sign === '-').length
  return (
    <span
      className={styles.outcomes}
      role="img"
      aria-label={t('chains.outcomes', { count: outcomes.length, failed })}
      title={t('chains.outcomes', { count: outcomes.length, failed })}
    >
      {signs.map((sign, index) => (
        <i key={index} data-failed={sign === '-' || undefined} />
      ))}
    </span>
  )
}
