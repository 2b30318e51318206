import type {
  AbandonOperation,
  DoneOutcome,
  SettleOperation,
  SettleOutcome,
} from '../core/calls/operations.ts'
import { monthStartAt } from './charge-terms.ts'
import type { Gateway } from './gateway.ts'

/**
 * Ends a call in the store. What it does not take now is kept and tried again for as long as the process lives
 * (`pending-operations.ts`), so nobody waits here for a store that is away; resolves to undefined then.
 * @param onTried after the try, however it went
 */
export function persist(
  gateway: Gateway,
  operation: SettleOperation,
  onTried?: () => void,
): Promise<SettleOutcome | undefined>
export function persist(
  gateway: Gateway,
  operation: AbandonOperation,
  onTried?: () => void,
): Promise<DoneOutcome | undefined>
export async function persist(
  gateway: Gateway,
  operation: SettleOperation | AbandonOperation,
  onTried: () => void = () => undefined,
): Promise<SettleOutcome | DoneOutcome | undefined> {
  const { storage, pending, telemetry } = gateway
  const ended = operation.kind === 'settle' ? operation : inItsMonth(gateway, operation)
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
function inItsMonth(gateway: Gateway, operation: AbandonOperation): AbandonOperation {
  const { timezone } = gateway.catalogue().settings
  const monthStart = monthStartAt(gateway, { at: operation.at, timezone }, (error) =>
    gateway.telemetry.log.error({ callId: operation.callId, error }, 'the month cannot be told'),
  )
  return { ...operation, monthStart }
}
