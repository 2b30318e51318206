/** What settling, abandoning and correcting a call have in common. */
import { exchangeWhenLow } from '../../admission/credits.ts'
import type { CredentialId } from '../../ids.ts'
import type { CallEnd } from '../../limits/limit-state.ts'
import { type MicroCredits, microCredits, ZERO } from '../../money.ts'
import { fundsOf, withFunds } from '../account-funds.ts'
import type { Draft } from '../../ledger/draft.ts'
import type { AccountRow, MemberRow, OpenCall, Taken } from '../../ledger/hot-rows.ts'
import type { CallLogRow } from '../../ledger/log-row.ts'
import type { AbandonOperation, SettleOperation } from '../../ledger/operations.ts'

export type Payer = 'nobody' | 'subscription' | 'credits'

/**
 * A call over an own credential costs nothing. The request pipeline cannot produce `none` without one; if it appears, the
 * platform's credential was used, so Credits pay.
 */
export function payerOf(open: OpenCall, operation: SettleOperation): Payer {
  if (operation.byok) return 'nobody'
  const isFallback = operation.modelId === open.fallbackModelId && operation.modelId !== open.modelId
  const funding = (isFallback ? open.funding.fallback : undefined) ?? open.funding.model
  return funding.otherwise === 'subscription' ? 'subscription' : 'credits'
}

/** The month a charge counts in: an account's goes only forward. */
export function monthOfCall(
  account: AccountRow,
  { monthStart = 0 }: { readonly monthStart?: number | undefined },
): { readonly startAt: number } {
  return { startAt: Math.max(account.monthStart, monthStart) }
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

/** The part of a call paid by Credits, as one movement; for a booked hold, also its remainder. */
export function moveCharge(
  draft: Draft,
  { callId, accountId, held, holdIsBooked }: OpenCall,
  { charged, at }: { readonly charged: MicroCredits; readonly at: number },
): void {
  if (holdIsBooked !== true) {
    draft.move({ step: 'charge', callId, accountId, at, amount: charged })
    return
  }
  const fromHold = charged < held ? charged : held
  draft.move({ step: 'chargeBookedHold', callId, accountId, at, amount: fromHold })
  draft.move({ step: 'overrun', callId, accountId, at, amount: microCredits(charged - fromHold) })
  draft.move({ step: 'release', callId, accountId, at, amount: microCredits(held - fromHold) })
}

/** The log row with what was decided under the lock. */
export function settledLog(
  operation: SettleOperation,
  {
    payer,
    deducted,
    owed,
  }: { readonly payer: Payer; readonly deducted: MicroCredits; readonly owed: MicroCredits },
): CallLogRow {
  return {
    ...operation.log,
    amount: operation.amount,
    deducted,
    owed,
    recipe: operation.recipe,
    byok: operation.byok,
    subscriptionCovered: payer === 'subscription',
    capped: owed > 0n,
  }
}

export function abandonedLog({ log }: AbandonOperation): CallLogRow {
  return { ...log, amount: ZERO, deducted: ZERO, owed: ZERO, subscriptionCovered: false, capped: false }
}

/** Automatic exchange is checked whenever something was charged. */
export function exchangeAfter(account: AccountRow, charged: MicroCredits): MicroCredits {
  return charged > 0n && account.apiDeduction ? exchangeWhenLow(account) : ZERO
}

export function withExchange(account: AccountRow, exchanged: MicroCredits): AccountRow {
  if (exchanged === ZERO) return account
  return withFunds(account, {
    ...fundsOf(account),
    credits: microCredits(account.credits + exchanged),
    balance: microCredits(account.balance - exchanged),
  })
}

export interface Settled {
  readonly operation: SettleOperation
  readonly deducted: MicroCredits
}

/**
 * Keys, members and accounts count what was deducted; a credential counts the exact amount, because its own bill has
 * amounts below one Credit too. Only the credential that answered is charged; others that were tried get everything back.
 */
export function endOf(
  open: OpenCall,
  taken: Pick<Taken, 'subject'>,
  { operation, deducted }: Settled,
): CallEnd {
  const ofCredential = taken.subject.startsWith('credential:')
  const answered = credentialSubject(operation.credentialId ?? open.claims.at(-1))
  if (ofCredential && (operation.byok || taken.subject !== answered)) return GIVEN_BACK
  return {
    kind: 'settled',
    consumed: { used: operation.used, amount: ofCredential ? operation.amount : deducted },
  }
}

const GIVEN_BACK: CallEnd = { kind: 'abandoned', sent: false }

const credentialSubject = (id: CredentialId | undefined): string | undefined =>
  id === undefined ? undefined : `credential:${id}`
