/** Decides which of several failures is reported to the client. */
import { CONSEQUENCES } from '../../core/routing/failure.ts'
import { refusesSignatures } from '../../core/routing/signature-refusal.ts'
import { parseJson } from './classify.ts'
import type { AttemptFailure } from '../exchange/exchange-outcome.ts'
import type { FinalFailure } from './attempt-outcome.ts'
import type { Trying } from './try-routes.ts'

/** How every search over upstreams treats its failures. */
export const UPSTREAM_FAILURES = {
  classOf: (failure) => (failure.kind === 'upstream' ? failure.class.kind : undefined),
  moreInformative,
  rateLimited: (retryAfterMs) => ({ kind: 'rate-limited', retryAfterMs }),
  noChain: () => ({ kind: 'no-chain' }),
  mayFallBack: (failure) =>
    failure.kind === 'upstream'
      ? CONSEQUENCES[failure.class.kind].fallback
      : failure.kind !== 'unconvertible',
} satisfies Partial<Trying<unknown, FinalFailure>>

/**
 * Of all failures the client gets the first real upstream error (docs/reference/contract.md#D-errors-37): an upstream's
 * own error takes precedence over a refusal of the platform's credential, that over a time-out, and that over a failed
 * connection.
 */
function moreInformative(known: FinalFailure | undefined, next: FinalFailure): FinalFailure {
  // The credential that is free again first determines the wait.
  if (known?.kind === 'rate-limited' && next.kind === 'rate-limited')
    return next.retryAfterMs < known.retryAfterMs ? next : known
  return known === undefined || rank(next) > rank(known) ? next : known
}

function rank(failure: FinalFailure): number {
  switch (failure.kind) {
    case 'no-chain':
      return 0
    case 'rate-limited':
      return 1
    case 'upstream':
      return rankOfUpstream(failure.failure)
    case 'unconvertible':
      return 6
  }
}

function rankOfUpstream(failure: AttemptFailure): number {
  switch (failure.kind) {
    case 'transport':
      return failure.transport.kind.endsWith('timeout') ? 3 : 2
    case 'deadline':
      return 3
    case 'status':
      return isCredentialRefusal(failure.status) ? 4 : 5
    case 'answer':
      return failure.answer.kind === 'error' ? 5 : 2
  }
}

/** The upstream refuses the credential it was called with, not the client's request. */
export function isCredentialRefusal(status: number): boolean {
  return status === 401 || status === 402 || status === 403
}

/** The upstream refused the request for the reasoning in its history (docs/protocols.md#rule-7). */
export function refusedSignatures(told: FinalFailure): boolean {
  if (told.kind !== 'upstream' || !told.replayed) return false
  const { failure } = told
  switch (failure.kind) {
    case 'status':
      return refusesSignatures({
        status: failure.status,
        headers: failure.headers,
        body: parseJson(failure.body),
      })
    case 'answer':
      return (
        failure.answer.kind === 'error' &&
        refusesSignatures({ status: failure.answer.status ?? 200, headers: {}, body: failure.answer.raw })
      )
    case 'transport':
    case 'deadline':
      return false
  }
}
