import type { Draft } from './draft.ts'
import type { DoneOutcome, ProgressOperation } from './operations.ts'

/** Notes where a running call stands and renews its slots. News of a call that has ended changes nothing. */
export function decideProgress(draft: Draft, operation: ProgressOperation): DoneOutcome {
  const open = draft.openCall(operation.callId)
  if (open === undefined) return { kind: 'done' }
  const { chainId, credentialId, modelId, byok, usage, usageSource, images } = operation
  draft.putOpenCall({
    ...open,
    touchedAt: Math.max(open.touchedAt, operation.at),
    progress: { chainId, credentialId, modelId, byok, usage, usageSource, images },
  })
  return { kind: 'done' }
}
