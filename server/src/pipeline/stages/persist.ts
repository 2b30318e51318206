import type {
  AbandonOperation,
  DoneOutcome,
  SettleOperation,
  SettleOutcome,
} from '../../core/calls/operations.ts'
import { monthStartAt } from './charge-terms.ts'
import type { Pipeline } from '../context.ts'

/**
 * Ends a call in the store. What it does not take now is kept and tried again for as long as the process lives
 * (`pending-operations.ts`), so nobody waits here for a store that is away; resolves to undefined then.
 * @param onTried after the try, however it went
 */
export function persist(
  pipeline: Pipeline,
  operation: SettleOperation,
  onTried?: () => void,
): Promise<SettleOutcome | undefined>
export function persist(
  pipeline: Pipeline,
  operation: AbandonOperation,
  onTried?: () => void,
): Promise<DoneOutcome | undefined>
export async function persist(
  pipeline: Pipeline,
  operation: SettleOperation | AbandonOperation,
  onTried: () => void = () => undefined,
): Promise<SettleOutcome | DoneOutcome | undefined> {
  const { storage, pending, telemetry } = pipeline
  const ended = operation.kind === 'settle' ? operation : inItsMonth(pipeline, operation)
  try {
    return await (ended.kind === 'settle' ? storage.calls.settle(ended) : storage.calls.abandon(ended))
  } catch (error) {
    const { callId, log } = ended
    telemetry.log.error(
      { requestId: log.requestId, callId, error },
      'the end of a call could not be written; it is tried again',
    )
    pending.add(ended)
    return undefined
  } finally {
    onTried()
  }
}

/** A call that charges nothing leaves room for what is owed: in the month in which it ends. */
function inItsMonth(pipeline: Pipeline, operation: AbandonOperation): AbandonOperation {
  const { timezone } = pipeline.catalogue().settings
  const monthStart = monthStartAt(pipeline, { at: operation.at, timezone }, (error) =>
    pipeline.telemetry.log.error({ callId: operation.callId, error }, 'the month cannot be told'),
  )
  return { ...operation, monthStart }
}
