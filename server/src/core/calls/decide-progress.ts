import { freeSlot } from '../limits/limit-state.ts'
import type { Draft } from '../ledger/draft.ts'
import type { OpenCall } from '../ledger/hot-rows.ts'
import type { DoneOutcome, ProgressOperation } from '../ledger/operations.ts'
import { madeIn } from '../metering/quantities.ts'

/** Records the usage of a running call and renews its slots. A report about an ended call changes nothing. */
export function decideProgress(draft: Draft, operation: ProgressOperation): DoneOutcome {
  const open = draft.openCall(operation.callId)
  if (open === undefined) return { kind: 'done' }
  const { chainId, credentialId, modelId, byok, usageSource, left } = operation
  draft.putOpenCall({
    ...open,
    ...(left === true ? { taken: withoutSlots(draft, open) } : {}),
    touchedAt: Math.max(open.touchedAt, operation.at),
    progress: { chainId, credentialId, modelId, byok, usageSource, ...madeIn(operation) },
  })
  return { kind: 'done' }
}

/**
 * A client that has disconnected may call again at once. The vendor is still working, so the place on its credential
 * stays taken.
 */
function withoutSlots(draft: Draft, { taken }: OpenCall): OpenCall['taken'] {
  return taken.map((one) => {
    if (one.slotFree === true || one.subject.startsWith('credential:')) return one
    draft.putLimits(freeSlot(draft.limits(one.subject)))
    return { ...one, slotFree: true }
  })
}
