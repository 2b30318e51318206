/** Writes the end of a call to the store, settled or abandoned, and handles an end that the store does not accept. */
import type {
  AbandonOperation,
  DoneOutcome,
  SettleOperation,
  SettleOutcome,
} from '../../core/ledger/operations.ts'
import { StorageUnavailable } from '../../storage/failures/unavailable.ts'
import type { Pipeline } from '../context.ts'

export type PersistParts = Pick<Pipeline, 'catalogue' | 'monthOf' | 'pending' | 'storage' | 'telemetry'>

/**
 * Ends a call in the store. An end that it does not accept now is kept and retried for as long as the process lives
 * (`pending-operations.ts`), so nobody waits for an unreachable store; it then resolves to undefined.
 * @param onTried when it is written, or cannot be now
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
export async function persist(
  pipeline: PersistParts,
  operation: SettleOperation | AbandonOperation,
  onTried: () => void = () => undefined,
): Promise<SettleOutcome | DoneOutcome | undefined> {
  const { storage, pending, telemetry } = pipeline
  const ended = operation.kind === 'settle' ? operation : inItsMonth(pipeline, operation)
  try {
    return await (ended.kind === 'settle'
      ? tryAgainIfLost(() => storage.calls.settle(ended))
      : tryAgainIfLost(() => storage.calls.abandon(ended)))
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

/**
 * A lost connection does not mean that the store is unreachable: a process that was paused finds its connections dead and
 * the next one working, and its client still has to get the end of the answer. Ends are idempotent, so one more try is
 * safe.
 */
async function tryAgainIfLost<Outcome>(write: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await write()
  } catch (error) {
    if (!(error instanceof StorageUnavailable) || error.untouched) throw error
    return write()
  }
}

/** A call that charges nothing leaves room under the cap for what is owed, in the month in which it ends. */
function inItsMonth(pipeline: PersistParts, operation: AbandonOperation): AbandonOperation {
  const { timezone } = pipeline.catalogue().settings
  const monthStart = monthStartAt(pipeline, { at: operation.at, timezone }, (error) =>
    pipeline.telemetry.log.error(
      { callId: operation.callId, error },
      'the calendar month cannot be determined',
    ),
  )
  return { ...operation, monthStart }
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
