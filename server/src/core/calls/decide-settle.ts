import { clipAtCap, spentIn } from '../admission/cap.ts'
import { exchangeWhenLow } from '../admission/credits.ts'
import type { CredentialId } from '../ids.ts'
import type { Consumed } from '../limits/dimension-rule.ts'
import { giveBackLimits, settleLimits } from '../limits/limit-state.ts'
import { settleQuota } from '../limits/quota.ts'
import { toUnits } from '../limits/units.ts'
import { type MicroCredits, microCredits, ZERO } from '../money.ts'
import { deductible } from '../pricing/price.ts'
import { withFunds } from './account-funds.ts'
import type { Draft } from './draft.ts'
import type { AccountRow, MemberRow, OpenCall } from './hot-rows.ts'
import type { SettleOperation, SettleOutcome } from './operations.ts'

/**
 * The first door out. Whoever pays, all that was held is released and every window, slot and claim is settled; a call
 * that has no open row was settled or abandoned before, and nothing changes.
 */
export function decideSettle(draft: Draft, operation: SettleOperation): SettleOutcome {
  const open = draft.openCall(operation.callId)
  if (open === undefined) return { kind: 'settled', first: false, deducted: ZERO }
  const payer = payerOf(open, operation)
  const due = payer === 'nobody' ? ZERO : deductible(operation.amount)
  const credits = payCredits(draft, open, { operation, due: payer === 'credits' ? due : ZERO })
  const quotaCharge = payer === 'subscription' ? due : ZERO
  payQuota(draft, open, { operation, charged: quotaCharge })
  const deducted = payer === 'subscription' ? quotaCharge : credits.charged
  settleSubjects(draft, open, { operation, deducted })
  draft.closeCall(open.callId)
  draft.log({
    ...operation.log,
    amount: operation.amount,
    deducted,
    recipe: operation.recipe,
    byok: operation.byok,
    subscriptionCovered: payer === 'subscription',
    capped: credits.capped,
  })
  if (operation.task !== undefined) draft.endVideo({ ...operation.task, at: operation.at })
  return { kind: 'settled', first: true, deducted }
}

/**
 * A call over an own credential costs nothing. `none` without one cannot come from the corridor; the platform's
 * credential was used all the same, so Credits pay.
 */
function payerOf(open: OpenCall, operation: SettleOperation): 'nobody' | 'subscription' | 'credits' {
  if (operation.byok) return 'nobody'
  const isFallback = operation.modelId === open.fallbackModelId && operation.modelId !== open.modelId
  const funding = (isFallback ? open.funding.fallback : undefined) ?? open.funding.model
  return funding.otherwise === 'subscription' ? 'subscription' : 'credits'
}

interface CreditsPaid {
  readonly charged: MicroCredits
  /** A cap was lower than the charge. */
  readonly capped: boolean
}

/** Releases the hold and charges; Credits may fall below zero by this call's overrun (decisions, Money). */
function payCredits(
  draft: Draft,
  open: OpenCall,
  pay: { readonly operation: SettleOperation; readonly due: MicroCredits },
): CreditsPaid {
  const { operation, due } = pay
  if (due === 0n && !holdsCredits(open)) return { charged: ZERO, capped: false }
  const account = accountOf(draft, open)
  const member = memberOf(draft, open)
  const month = { startAt: Math.max(account.monthStart, operation.monthStart) }
  const clipped = clipAtCap(account, due, { held: open.monthHeld, month })
  const charged =
    member === undefined ? clipped : clipAtCap(member, clipped, { held: open.memberHeld, month })
  const fromHold = charged < open.held ? charged : open.held
  const left = microCredits(account.credits - charged)
  const exchanged = charged > 0n && account.apiDeduction ? exchangeWhenLow(account, left) : ZERO
  draft.putAccount(
    withFunds(account, {
      credits: microCredits(left + exchanged),
      balance: microCredits(account.balance - exchanged),
      held: microCredits(account.held - open.held),
      monthHeld: microCredits(account.monthHeld - open.monthHeld),
      monthStart: month.startAt,
      monthSpent: microCredits(spentIn(account, month) + charged),
    }),
  )
  if (member !== undefined) {
    draft.putMember({
      ...member,
      monthStart: month.startAt,
      monthSpent: microCredits(spentIn(member, month) + charged),
      monthHeld: microCredits(member.monthHeld - open.memberHeld),
    })
  }
  const { callId, accountId } = open
  const { at } = operation
  draft.move({ step: 'charge', callId, accountId, at, amount: fromHold })
  draft.move({ step: 'overrun', callId, accountId, at, amount: microCredits(charged - fromHold) })
  draft.move({ step: 'release', callId, accountId, at, amount: microCredits(open.held - fromHold) })
  draft.move({ step: 'exchangeAtSettle', callId, accountId, at, amount: exchanged })
  return { charged, capped: charged < due }
}

export function accountOf(draft: Draft, open: OpenCall): AccountRow {
  const account = draft.account(open.accountId)
  if (account === undefined) throw new Error(`the account of call ${open.callId} was not loaded`)
  return account
}

export function memberOf(draft: Draft, open: OpenCall): MemberRow | undefined {
  if (open.memberId === undefined) return undefined
  const member = draft.member(open.memberId)
  if (member === undefined) throw new Error(`the member of call ${open.callId} was not loaded`)
  return member
}

export const holdsCredits = ({ held, monthHeld, memberHeld }: OpenCall): boolean =>
  held > 0n || monthHeld > 0n || memberHeld > 0n

function payQuota(
  draft: Draft,
  open: OpenCall,
  pay: { readonly operation: SettleOperation; readonly charged: MicroCredits },
): void {
  const { operation, charged } = pay
  if (open.quotaTiers.length === 0) return
  const state = draft.limits(`quota:${open.accountId}`)
  draft.putLimits(settleQuota(state, open.quotaTiers, { held: open.quotaHeld, charged, at: operation.at }))
  const { callId, accountId } = open
  draft.move({ step: 'quotaCharge', callId, accountId, at: operation.at, amount: charged })
}

/**
 * Keys, members and accounts count what was deducted; a credential counts the exact amount, since its own bill comes below one
 * Credit too. Only the credential that answered is charged; others were tried in vain and get everything back.
 */
function settleSubjects(
  draft: Draft,
  open: OpenCall,
  settled: { readonly operation: SettleOperation; readonly deducted: MicroCredits },
): void {
  const { operation, deducted } = settled
  const consumed: Consumed = {
    tokens: toUnits(operation.tokens),
    images: toUnits(operation.images),
    videoSeconds: toUnits(operation.videoSeconds),
    amount: deducted,
  }
  const answered = credentialSubject(operation.credentialId ?? open.claims.at(-1))
  for (const taken of open.taken) {
    const state = draft.limits(taken.subject)
    const ofCredential = taken.subject.startsWith('credential:')
    if (ofCredential && (operation.byok || taken.subject !== answered)) {
      draft.putLimits(giveBackLimits(state, taken))
      continue
    }
    const counted = ofCredential ? { ...consumed, amount: operation.amount } : consumed
    draft.putLimits(settleLimits(state, taken, { consumed: counted, at: operation.at }))
  }
}

const credentialSubject = (id: CredentialId | undefined): string | undefined =>
  id === undefined ? undefined : `credential:${id}`
