import type {
  AbandonOperation,
  DoneOutcome,
  SettleOperation,
  SettleOutcome,
} from '../core/calls/operations.ts'
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
  { storage, pending, telemetry }: Gateway,
  operation: SettleOperation | AbandonOperation,
  onTried: () => void = () => undefined,
): Promise<SettleOutcome | DoneOutcome | undefined> {
  try {
    return await (operation.kind === 'settle'
      ? storage.calls.settle(operation)
      : storage.calls.abandon(operation))
  } catch (error) {
    const { callId, log } = operation
    telemetry.log.error(
      { requestId: log.requestId, callId, error },
      'the end of a call could not be written; it is tried again',
    )
    pending.add(operation)
    return undefined
  } finally {
    onTried()
  }
}
