import type { CredentialId } from '../ids.ts'
import { giveBackLimits } from '../limits/limit-state.ts'
import type { Draft } from '../ledger/draft.ts'
import type { Subject } from '../ledger/hot-rows.ts'
import type { DoneOutcome, UnclaimOperation } from '../ledger/operations.ts'

/**
 * The credential was tried without success and its call continues elsewhere: everything it took on that credential is
 * given back at once.
 */
export function decideUnclaim(draft: Draft, { callId, credentialId }: UnclaimOperation): DoneOutcome {
  const open = draft.openCall(callId)
  if (open === undefined) return { kind: 'done' }
  const subject = subjectOf(credentialId)
  const given = open.taken.filter((taken) => taken.subject === subject)
  if (given.length === 0) return { kind: 'done' }
  for (const taken of given) draft.putLimits(giveBackLimits(draft.limits(subject), taken))
  draft.putOpenCall({
    ...open,
    claims: open.claims.filter((claim) => claim !== credentialId),
    taken: open.taken.filter((taken) => taken.subject !== subject),
  })
  return { kind: 'done' }
}

const subjectOf = (credentialId: CredentialId): Subject => `credential:${credentialId}`
