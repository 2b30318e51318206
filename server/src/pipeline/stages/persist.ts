/** Writes the end of a call to the store, settled or abandoned, and handles an end that the store does not accept. */
import type {
  AbandonOperation,
  DoneOutcome,
  SettleOperation,
  SettleOutcome,
} from '../../core/ledger/operations.ts'
import { asError } from '../../core/errors/as-error.ts'
import type { CallId } from '../../core/ids.ts'
import { StorageUnavailable } from '../../storage/failures/unavailable.ts'
import type { Pipeline } from '../context.ts'

export type PersistParts = Pick<Pipeline, 'monthOf' | 'pending' | 'storage' | 'telemetry'>

/**
 * Ends a call in the store. An end that it does not accept now is kept and retried for as long as the process lives
 * (`pending-operations.ts`), so no call waits for an unreachable store; it then resolves to undefined.
 * @param onTried called when it is written, or cannot be now
 */
export function persist(
  pipeline: PersistParts,
  operation: SettleOperation,
  onTried?: () => void,
): Promise<SettleOutcome | undefined>
export function persist(
  pipeline: PersistParts,
  operation: AbandonOperation,
  onTried?: () => void,
): Promise<DoneOutcome | undefined>
export function persist(
  pipeline: PersistParts,
  operation: SettleOperation | AbandonOperation,
  onTried: () => void = () => undefined,
): Promise<SettleOutcome | DoneOutcome | undefined> {
  const { calls } = pipeline.storage
  const write = (): Promise<SettleOutcome | DoneOutcome> => {
    try {
      return operation.kind === 'settle' ? calls.settle(operation) : calls.abandon(operation)
    } catch (error) {
      // Kept and tried again like any other failure: none makes an answer free.
      return Promise.reject(asError(error))
    }
  }
  const written = <Outcome>(outcome: Outcome): Outcome => {
    onTried()
    return outcome
  }
  const failed = (error: unknown): undefined => {
    try {
      const { callId, log } = operation
      pipeline.telemetry.log.error(
        { requestId: log.requestId, callId, error },
        'the end of a call could not be written; it is tried again',
      )
      pipeline.pending.add(operation)
    } finally {
      onTried()
    }
  }
  return write().then(written, (error: unknown) =>
    mayBeLost(error) ? write().then(written, failed) : failed(error),
  )
}

/**
 * A lost connection does not mean that the store is unreachable: after a pause of the process its connections are dead
 * but a new one works, and the client still has to get the end of the answer. Ends are idempotent, so one more try is
 * safe.
 */
function mayBeLost(error: unknown): boolean {
  return error instanceof StorageUnavailable && !error.untouched
}

/**
 * The month of a call that charges nothing, as `monthStartAt`: its account's debt may be charged within the cap of the
 * month in which the call ends.
 */
export function freeMonthAt(
  pipeline: Pick<Pipeline, 'monthOf' | 'telemetry'>,
  callId: CallId,
  when: { readonly at: number; readonly timezone: string },
): number {
  return monthStartAt(pipeline, when, (error) =>
    pipeline.telemetry.log.error({ callId, error }, 'the calendar month cannot be determined'),
  )
}

/**
 * First instant of the month a charge counts in, epoch ms. If it cannot be determined, 0: the charge counts in the
 * account's current month.
 */
export function monthStartAt(
  { monthOf }: Pick<Pipeline, 'monthOf'>,
  { at, timezone }: { readonly at: number; readonly timezone: string },
  onFault: (error: unknown) => void,
): number {
  try {
    return monthOf(at, timezone).from
  } catch (error) {
    onFault(error)
    return 0
  }
}
