import { Button } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { actOnChain, type Chain } from '../../api/operator/chains.ts'
import { REFUSED_IN_FRAME } from '../../api/refusal.ts'
import { State } from '../../parts/marks/state.tsx'
import { useFormat } from '../../parts/values/format.ts'
import { useTranslation } from '../../texts/use-translation.ts'

export const CHAIN_STATES = ['healthy', 'failing', 'cooling', 'limited', 'draining', 'disabled'] as const
export type ChainState = (typeof CHAIN_STATES)[number]

/** States of a chain, the most severe first. */
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

const CAUSES = ['failure', 'credential', 'not-found', 'rate-limit'] as const

/** Why a chain is skipped, with the vendor's error text. */
export function Trouble({ of }: { readonly of: Chain }) {
  const { t } = useTranslation()
  const format = useFormat()
  const { cause, last_error: error } = of.health
  const known = CAUSES.find((each) => each === cause)
  return (
    <div>
      {known === undefined ? t('chains.failsNow') : t(`chains.causes.${known}`)}
      {error !== null && (
        <code title={format.moment(error.at)}>
          {[error.status, error.code ?? error.kind].filter((each) => each !== null).join(' ')}:{' '}
          {error.message}
        </code>
      )}
    </div>
  )
}

/** Resets a chain's failures, so that the next call may use it. */
export function ResetChain({ of }: { readonly of: Chain }) {
  const { t } = useTranslation()
  const queryClient = useQueryClient()
  const reset = useMutation({
    mutationFn: () => actOnChain(of.id, 'reset'),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['chains'] }),
    meta: REFUSED_IN_FRAME,
  })
  return (
    <Button variant="default" size="xs" loading={reset.isPending} onClick={() => reset.mutate()}>
      {t('chains.reset')}
    </Button>
  )
}
