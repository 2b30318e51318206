/**
 * A late report of an instance about a call that recovery has ended: the instance was paused, or cut off from its
 * database. Its report is the true one, so the difference to what recovery charged and counted is booked, once: then the
 * row that recovery left is removed, and a repetition changes nothing.
 */
import { chargeableNow, spentIn } from '../../admission/cap.ts'
import { chargeOwed } from '../../admission/owed.ts'
import { type CallEnd, correctLimits } from '../../limits/limit-state.ts'
import { correctQuota } from '../../limits/quota.ts'
import { type MicroCredits, microCredits, ZERO } from '../../money.ts'
import { deductible } from '../../pricing/price.ts'
import { withFunds } from '../account-funds.ts'
import {
  abandonedLog,
  accountOf,
  endOf,
  exchangeAfter,
  memberOf,
  monthOfCall,
  payerOf,
  settledLog,
  withExchange,
} from './call-end.ts'
import type { Draft } from '../../ledger/draft.ts'
import type { AccountRow, OpenCall, RecoveredCall, Taken } from '../../ledger/hot-rows.ts'
import type { CallLogRow } from '../../ledger/log-row.ts'
import type {
  AbandonOperation,
  DoneOutcome,
  SettleOperation,
  SettleOutcome,
} from '../../ledger/operations.ts'

export function decideLateSettle(draft: Draft, operation: SettleOperation): SettleOutcome {
  const late = lateCall(draft, operation)
  if (late === undefined) return { kind: 'settled', first: false, late: false, deducted: ZERO }
  const { open } = late
  const payer = payerOf(open, operation)
  const deducted = payer === 'nobody' ? ZERO : deductible(operation.amount)
  correct(draft, late, {
    operation,
    charged: payer === 'credits' ? deducted : ZERO,
    quotaCharged: payer === 'subscription' ? deducted : ZERO,
    endOf: (taken) => endOf(open, taken, { operation, deducted }),
    log: (owed) => settledLog(operation, { payer, deducted, owed }),
  })
  return { kind: 'settled', first: true, late: true, deducted }
}

/** Nothing was generated after all: what recovery charged is given back. */
export function decideLateAbandon(draft: Draft, operation: AbandonOperation): DoneOutcome {
  const late = lateCall(draft, operation)
  if (late === undefined) return { kind: 'done' }
  const { sent } = operation
  correct(draft, late, {
    operation,
    charged: ZERO,
    quotaCharged: ZERO,
    endOf: () => ({ kind: 'abandoned', sent }),
    log: () => abandonedLog(operation),
  })
  return { kind: 'done' }
}

interface LateCall {
  readonly open: OpenCall
  readonly recovered: RecoveredCall
}

/** A second recovery changes nothing. */
function lateCall(draft: Draft, operation: SettleOperation | AbandonOperation): LateCall | undefined {
  const open = draft.recoveredCall(operation.callId)
  if (open?.recovered === undefined || operation.recovery === true) return undefined
  return { open, recovered: open.recovered }
}

/** The call's true usage. */
interface Truth {
  readonly operation: SettleOperation | AbandonOperation
  /** µCr due from Credits. */
  readonly charged: MicroCredits
  readonly quotaCharged: MicroCredits
  readonly endOf: (taken: Taken) => CallEnd
  readonly log: (owed: MicroCredits) => CallLogRow
}

function correct(draft: Draft, late: LateCall, truth: Truth): void {
  const { open, recovered } = late
  const { operation } = truth
  const owed = correctCredits(draft, late, truth)
  correctQuotaCharge(draft, late, truth)
  open.taken.forEach((taken, index) => {
    const counted = recovered.counted[index] ?? {}
    const correction = { counted, end: truth.endOf(taken), at: operation.at }
    draft.putLimits(correctLimits(draft.limits(taken.subject), taken, correction))
  })
  draft.closeCall(open.callId)
  draft.correctLog({ ...truth.log(owed), recovered: true })
  if (operation.task !== undefined) draft.endVideo({ ...operation.task, at: operation.at })
}

/** Returns the part of the call over the cap, at recovery and now. */
function correctCredits(draft: Draft, late: LateCall, truth: Truth): MicroCredits {
  const more = truth.charged - late.recovered.charged
  if (more > 0n) return chargeMore(draft, late, { truth, more: microCredits(more) })
  if (more < 0n) return giveBack(draft, late, { truth, back: microCredits(-more) })
  return late.recovered.owed
}

function chargeMore(
  draft: Draft,
  { open, recovered }: LateCall,
  { truth, more }: { readonly truth: Truth; readonly more: MicroCredits },
): MicroCredits {
  const account = accountOf(draft, open)
  const month = monthOfCall(account, truth.operation)
  const charged = chargeableNow(account, more, { held: ZERO, month })
  const owed = microCredits(more - charged)
  const paid = payOwed(
    draft,
    { open, truth, month },
    withFunds(account, {
      credits: microCredits(account.credits - charged),
      held: account.held,
      balance: account.balance,
      owed: microCredits(account.owed + owed),
      monthStart: month.startAt,
      monthSpent: microCredits(spentIn(account, month) + charged),
      monthHeld: account.monthHeld,
    }),
    charged,
  )
  draft.putAccount(paid)
  const member = memberOf(draft, open)
  if (member !== undefined) {
    const monthSpent = microCredits(spentIn(member, month) + more)
    draft.putMember({ ...member, monthStart: month.startAt, monthSpent })
  }
  const { callId, accountId } = open
  const { at } = truth.operation
  draft.move({ step: 'lateCharge', callId, accountId, at, amount: charged })
  draft.move({ step: 'lateOwe', callId, accountId, at, amount: owed })
  return microCredits(recovered.owed + owed)
}

/** Reduces the debt for the call first. A past month's spending is not corrected. */
function giveBack(
  draft: Draft,
  { open, recovered }: LateCall,
  { truth, back }: { readonly truth: Truth; readonly back: MicroCredits },
): MicroCredits {
  const account = accountOf(draft, open)
  const forgiven = least(back, recovered.owed, account.owed)
  const returned = microCredits(back - forgiven)
  const month = monthOfCall(account, truth.operation)
  const isSameMonth = account.monthStart === recovered.monthStart
  const paid = payOwed(
    draft,
    { open, truth, month },
    withFunds(account, {
      credits: microCredits(account.credits + returned),
      held: account.held,
      balance: account.balance,
      owed: microCredits(account.owed - forgiven),
      monthStart: account.monthStart,
      monthSpent: isSameMonth
        ? microCredits(account.monthSpent - least(returned, account.monthSpent))
        : account.monthSpent,
      monthHeld: account.monthHeld,
    }),
    ZERO,
  )
  draft.putAccount(paid)
  const member = memberOf(draft, open)
  if (member !== undefined && member.monthStart === recovered.monthStart) {
    const monthSpent = microCredits(member.monthSpent - least(back, member.monthSpent))
    draft.putMember({ ...member, monthSpent })
  }
  const { callId, accountId } = open
  const { at } = truth.operation
  draft.move({ step: 'lateGiveBack', callId, accountId, at, amount: returned })
  draft.move({ step: 'lateForgive', callId, accountId, at, amount: forgiven })
  return least(microCredits(recovered.owed - forgiven), truth.charged)
}

/** Charges what is owed as far as the cap allows, then makes the exchange that is due after all charges. */
function payOwed(
  draft: Draft,
  call: { readonly open: OpenCall; readonly truth: Truth; readonly month: { readonly startAt: number } },
  account: AccountRow,
  charged: MicroCredits,
): AccountRow {
  const { callId, accountId } = call.open
  const { at } = call.truth.operation
  const paid = chargeOwed(account, call.month)
  const exchanged = exchangeAfter(paid.account, microCredits(charged + paid.charged))
  draft.move({ step: 'chargeOwedLate', callId, accountId, at, amount: paid.charged })
  draft.move({ step: 'exchangeLate', callId, accountId, at, amount: exchanged })
  return withExchange(paid.account, exchanged)
}

function correctQuotaCharge(draft: Draft, { open, recovered }: LateCall, truth: Truth): void {
  const { quotaCharged, operation } = truth
  if (open.quotaTiers.length === 0 || quotaCharged === recovered.quotaCharged) return
  const { callId, accountId } = open
  const { at } = operation
  const quota = accountOf(draft, open).subscription?.quota ?? []
  const correction = { counted: recovered.quotaCounted, charged: quotaCharged, at, quota }
  draft.putLimits(correctQuota(draft.limits(`quota:${accountId}`), open.quotaTiers, correction))
  const more = quotaCharged - recovered.quotaCharged
  const step = more > 0n ? 'lateQuotaCharge' : 'lateQuotaGiveBack'
  draft.move({ step, callId, accountId, at, amount: microCredits(more > 0n ? more : -more) })
}

function least(...amounts: readonly MicroCredits[]): MicroCredits {
  return amounts.reduce((one, other) => (other < one ? other : one))
}
