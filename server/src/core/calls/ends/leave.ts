import { type CallEnd, readCounted } from '../../limits/limit-state.ts'
import { readQuotaCounted } from '../../limits/quota.ts'
import { ZERO } from '../../money.ts'
import type { Draft } from '../../ledger/draft.ts'
import type { OpenCall, RecoveredCall, Taken } from '../../ledger/hot-rows.ts'
import type { AbandonOperation, SettleOperation } from '../../ledger/operations.ts'

/** What is kept of a call that recovery ends. Its window counts are read after the windows were written. */
export interface Leaving extends Pick<RecoveredCall, 'charged' | 'owed' | 'quotaCharged' | 'monthStart'> {
  readonly endOf: (taken: Taken) => CallEnd
}

/** Removes the open row. If recovery ends the call, the row stays without holds, for a late report of its own instance. */
export function leave(
  draft: Draft,
  open: OpenCall,
  {
    operation,
    recovered,
  }: { readonly operation: SettleOperation | AbandonOperation; readonly recovered: Leaving },
): void {
  if (operation.recovery !== true) {
    draft.closeCall(open.callId)
    return
  }
  const { endOf, ...charged } = recovered
  const quota = draft.limits(`quota:${open.accountId}`)
  draft.putOpenCall({
    ...open,
    held: ZERO,
    monthHeld: ZERO,
    memberHeld: ZERO,
    quotaHeld: ZERO,
    recovered: {
      ...charged,
      at: operation.at,
      counted: open.taken.map((taken) => readCounted(draft.limits(taken.subject), taken, endOf(taken))),
      quotaCounted: readQuotaCounted(quota, open.quotaTiers, charged.quotaCharged),
    },
  })
}
