import { chargeOwed } from '../../admission/owed.ts'
import { giveBackLimits } from '../../limits/limit-state.ts'
import { settleQuota } from '../../limits/quota.ts'
import { microCredits, ZERO } from '../../money.ts'
import { withFunds } from '../account-funds.ts'
import {
  abandonedLog,
  accountOf,
  exchangeAfter,
  holdsCredits,
  memberOf,
  monthOfCall,
  moveCharge,
  withExchange,
} from './call-end.ts'
import { decideLateAbandon } from './decide-late.ts'
import type { Draft } from '../../ledger/draft.ts'
import type { OpenCall } from '../../ledger/hot-rows.ts'
import { leave } from './leave.ts'
import type { AbandonOperation, DoneOutcome } from '../../ledger/operations.ts'

/** One of the two ends of a call: nothing is charged, and everything is given back except what is counted for sending it. */
export function decideAbandon(draft: Draft, operation: AbandonOperation): DoneOutcome {
  const open = draft.openCall(operation.callId)
  if (open === undefined) return decideLateAbandon(draft, operation)
  const { accountId } = open
  const month = monthOfCall(accountOf(draft, open), operation)
  if (holdsCredits(open)) releaseHolds(draft, open, { operation, month })
  if (open.quotaTiers.length > 0) {
    const state = draft.limits(`quota:${accountId}`)
    draft.putLimits(
      settleQuota(state, open.quotaTiers, { held: open.quotaHeld, charged: 0n, at: operation.at, quota: [] }),
    )
  }
  for (const taken of open.taken) {
    draft.putLimits(giveBackLimits(draft.limits(taken.subject), taken, operation))
  }
  const { sent } = operation
  leave(draft, open, {
    operation,
    recovered: {
      charged: ZERO,
      owed: ZERO,
      quotaCharged: ZERO,
      monthStart: month.startAt,
      endOf: () => ({ kind: 'abandoned', sent }),
    },
  })
  draft.log(abandonedLog(operation))
  if (operation.task !== undefined) draft.endVideo({ ...operation.task, at: operation.at })
  return { kind: 'done' }
}

/** What this call held of the month is free again, so debts of earlier calls may be charged. */
function releaseHolds(
  draft: Draft,
  open: OpenCall,
  given: { readonly operation: AbandonOperation; readonly month: { readonly startAt: number } },
): void {
  const { at } = given.operation
  const { callId, accountId, held, monthHeld, memberHeld } = open
  const account = accountOf(draft, open)
  const { credits, balance, owed, monthStart, monthSpent } = account
  const paid = chargeOwed(
    withFunds(account, {
      credits,
      balance,
      owed,
      held: microCredits(account.held - held),
      monthHeld: microCredits(account.monthHeld - monthHeld),
      monthStart,
      monthSpent,
    }),
    given.month,
  )
  const exchanged = exchangeAfter(paid.account, paid.charged)
  draft.putAccount(withExchange(paid.account, exchanged))
  const member = memberOf(draft, open)
  if (member !== undefined) {
    draft.putMember({ ...member, monthHeld: microCredits(member.monthHeld - memberHeld) })
  }
  moveCharge(draft, open, { charged: ZERO, at })
  draft.move({ step: 'chargeOwedAtEnd', callId, accountId, at, amount: paid.charged })
  draft.move({ step: 'exchangeAtSettle', callId, accountId, at, amount: exchanged })
}
