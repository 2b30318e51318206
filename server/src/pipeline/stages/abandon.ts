import type { CallLogRow } from '../../core/ledger/log-row.ts'
import type { ReservedCall } from '../call.ts'
import type { Pipeline } from '../context.ts'
import { baseLogRow } from './log-row.ts'
import { persist, type PersistParts } from './persist.ts'
import { quietly } from '../quietly.ts'

type AbandonParts = PersistParts & Pick<Pipeline, 'now' | 'observeEnd'>

/**
 * Gives back what was taken and writes the log row.
 *
 * @param sent a request may have reached a vendor: it stays counted in request windows
 */
export async function abandon(
  pipeline: AbandonParts,
  call: ReservedCall,
  { sent, row }: { readonly sent: boolean; readonly row: Partial<CallLogRow> },
): Promise<void> {
  call.body.release()
  const at = pipeline.now()
  const log: CallLogRow = { ...baseLogRow(call, at), ...row }
  await persist(pipeline, {
    kind: 'abandon',
    callId: call.callId,
    keyId: call.key.id,
    accountId: call.account.id,
    at,
    sent,
    log,
  })
  quietly(pipeline, call, 'count an ended call', () => pipeline.observeEnd(log))
}
