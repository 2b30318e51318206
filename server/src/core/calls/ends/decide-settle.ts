import { chargeableNow, spentIn } from '../../admission/cap.ts'
import { chargeOwed } from '../../admission/owed.ts'
import { giveBackLimits, settleLimits } from '../../limits/limit-state.ts'
import { settleQuota } from '../../limits/quota.ts'
import { type MicroCredits, microCredits, ZERO } from '../../money.ts'
import { deductible } from '../../pricing/price.ts'
import { withFunds } from '../account-funds.ts'
import {
  accountOf,
  endOf,
  exchangeAfter,
  holdsCredits,
  memberOf,
  monthOfCall,
  moveCharge,
  payerOf,
  type Settled,
  settledLog,
  withExchange,
} from './call-end.ts'
import { decideLateSettle } from './decide-late.ts'
import type { Draft } from '../../ledger/draft.ts'
import type { OpenCall } from '../../ledger/hot-rows.ts'
import { leave } from './leave.ts'
import type { SettleOperation, SettleOutcome } from '../../ledger/operations.ts'

/**
 * One of the two ends of a call. For every payer, all holds are released and every window, slot and claim is settled. A call
 * without an open row was settled or abandoned before, and nothing changes; one that recovery has ended is corrected.
 */
export function decideSettle(draft: Draft, operation: SettleOperation): SettleOutcome {
  const open = draft.openCall(operation.callId)
  if (open === undefined) return decideLateSettle(draft, operation)
  const payer = payerOf(open, operation)
  const due = payer === 'nobody' ? ZERO : deductible(operation.amount)
  const month = monthOfCall(accountOf(draft, open), operation)
  const owed = payCredits(draft, open, { operation, month, due: payer === 'credits' ? due : ZERO })
  const quotaCharged = payer === 'subscription' ? due : ZERO
  payQuota(draft, open, { operation, charged: quotaCharged })
  settleSubjects(draft, open, { operation, deducted: due })
  leave(draft, open, {
    operation,
    recovered: {
      charged: payer === 'credits' ? due : ZERO,
      owed,
      quotaCharged,
      monthStart: month.startAt,
      endOf: (taken) => endOf(open, taken, { operation, deducted: due }),
    },
  })
  draft.log(settledLog(operation, { payer, deducted: due, owed }))
  if (operation.task !== undefined) draft.endVideo({ ...operation.task, at: operation.at })
  return { kind: 'settled', first: true, late: false, deducted: due }
}

/**
 * Releases the hold and charges; Credits may fall below zero by this call's overrun
 * (docs/reference/contract.md#D-money-11). What exceeds the account's cap is owed; a member's cap gates admission only.
 * Returns what is owed of this call.
 */
function payCredits(
  draft: Draft,
  open: OpenCall,
  pay: {
    readonly operation: SettleOperation
    readonly month: { readonly startAt: number }
    readonly due: MicroCredits
  },
): MicroCredits {
  const { operation, month, due } = pay
  if (due === 0n && !holdsCredits(open)) return ZERO
  const account = accountOf(draft, open)
  const member = memberOf(draft, open)
  const charged = chargeableNow(account, due, { held: open.monthHeld, month })
  const owed = microCredits(due - charged)
  const paid = chargeOwed(
    withFunds(account, {
      credits: microCredits(account.credits - charged),
      balance: account.balance,
      held: microCredits(account.held - open.held),
      owed: microCredits(account.owed + owed),
      monthHeld: microCredits(account.monthHeld - open.monthHeld),
      monthStart: month.startAt,
      monthSpent: microCredits(spentIn(account, month) + charged),
    }),
    month,
  )
  const exchanged = exchangeAfter(paid.account, microCredits(charged + paid.charged))
  draft.putAccount(withExchange(paid.account, exchanged))
  if (member !== undefined) {
    draft.putMember({
      ...member,
      monthStart: month.startAt,
      monthSpent: microCredits(spentIn(member, month) + due),
      monthHeld: microCredits(member.monthHeld - open.memberHeld),
    })
  }
  const { callId, accountId } = open
  const { at } = operation
  moveCharge(draft, open, { charged, at })
  draft.move({ step: 'owe', callId, accountId, at, amount: owed })
  draft.move({ step: 'chargeOwedAtEnd', callId, accountId, at, amount: paid.charged })
  draft.move({ step: 'exchangeAtSettle', callId, accountId, at, amount: exchanged })
  return owed
}

function payQuota(
  draft: Draft,
  open: OpenCall,
  pay: { readonly operation: SettleOperation; readonly charged: MicroCredits },
): void {
  const { operation, charged } = pay
  if (open.quotaTiers.length === 0) return
  const state = draft.limits(`quota:${open.accountId}`)
  const quota = accountOf(draft, open).subscription?.quota ?? []
  const settled = { held: open.quotaHeld, charged, at: operation.at, quota }
  draft.putLimits(settleQuota(state, open.quotaTiers, settled))
  const { callId, accountId } = open
  draft.move({ step: 'quotaCharge', callId, accountId, at: operation.at, amount: charged })
}

function settleSubjects(draft: Draft, open: OpenCall, settled: Settled): void {
  for (const taken of open.taken) {
    const state = draft.limits(taken.subject)
    const end = endOf(open, taken, settled)
    draft.putLimits(
      end.kind === 'abandoned'
        ? giveBackLimits(state, taken, end)
        : settleLimits(state, taken, { consumed: end.consumed, at: settled.operation.at }),
    )
  }
}
