import { CONCURRENCY_RETRY_MS, decideLimits, takeLimits } from '../limits/limit-state.ts'
import type { Draft } from '../ledger/draft.ts'
import type { Subject } from '../ledger/hot-rows.ts'
import type { ClaimOperation, ClaimOutcome } from '../ledger/operations.ts'

/**
 * A place on an upstream credential. A call holds at most one per credential, until it ends: asking again takes
 * nothing. A call that is not open gets no place, because nothing would give it back.
 */
export function decideClaim(draft: Draft, operation: ClaimOperation): ClaimOutcome {
  const open = draft.openCall(operation.callId)
  if (open === undefined) return { kind: 'full', retryAfterMs: CONCURRENCY_RETRY_MS }
  if (open.claims.includes(operation.credentialId)) return { kind: 'claimed' }
  const subject: Subject = `credential:${operation.credentialId}`
  const state = draft.limits(subject)
  const policy = draft.tiered(operation.policy)
  const exceeded = decideLimits(state, policy, operation)
  if (exceeded !== undefined) return { kind: 'full', retryAfterMs: exceeded.retryAfterMs }
  const { state: claimed, taken } = takeLimits(state, policy, operation)
  draft.putLimits(claimed)
  draft.putOpenCall({
    ...open,
    touchedAt: Math.max(open.touchedAt, operation.at),
    claims: [...open.claims, operation.credentialId],
    taken: [...open.taken, taken],
  })
  return { kind: 'claimed' }
}
