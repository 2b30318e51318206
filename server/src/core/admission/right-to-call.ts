import type { AccountRow } from '../ledger/hot-rows.ts'
import type { Demand, Refusal } from '../ledger/operations.ts'
import { quotaTiers } from '../limits/quota.ts'
import type { MicroCredits } from '../money.ts'
import { printDecimal } from '../pricing/decimal.ts'
import { decideLevels } from './levels.ts'
import { ownVendors } from './own-vendors.ts'

/** Why a call cannot be paid. */
export type NothingPays =
  /** No subscription covers it and Credits may not be used. */
  | { readonly kind: 'not-set-up' }
  /** Credits may be used. `needed`: at least; undefined: any. `free`: not held by running calls. */
  | { readonly kind: 'too-few'; readonly needed: MicroCredits | undefined; readonly free: bigint }

/** Whatever kind of call it is: answers, pictures, or what is spoken and listened to. */
export const ASK_FOR_LESS = 'ask for less (a smaller max_tokens or n, a shorter input)'

const VERIFY_HINT = 'your account is not verified yet: complete identity verification first'
const VERIFY_TOO =
  'your account is not verified yet either: complete identity verification for models that ask for it'

/**
 * Nothing can pay for the call (docs/reference/contract.md#5-25, #5-29); the message tells an unverified account to verify as
 * well.
 */
export function refuseRightToCall(account: Pick<AccountRow, 'verification'>, cause: NothingPays): Refusal {
  const hint = cause.kind === 'too-few' ? VERIFY_TOO : VERIFY_HINT
  const message = account.verification > 0 ? causeOf(cause) : `${causeOf(cause)}; ${hint}`
  return { code: 40202, message, retryAfterMs: undefined }
}

function causeOf(cause: NothingPays): string {
  if (cause.kind === 'not-set-up')
    return 'nothing pays for this call: no active subscription covers the model and API deduction access is off; subscribe, or set api_deduction to true (PATCH /api/v1/user/user/account)'
  const { needed, free } = cause
  const topUp = 'top up (GET /api/v1/user/user/top-up-offers says how)'
  if (needed === undefined || needed === 0n)
    return `Credits are not enough: the account has ${credits(free)}; ${topUp}`
  return `Credits are not enough: this call needs at least ${credits(needed)} and ${credits(free)} are free; ${topUp}, or ${ASK_FOR_LESS}`
}

function credits(amount: bigint): string {
  return printDecimal({ units: amount, scale: 6 })
}

/**
 * Whether an account may make a free request about a model, such as a token count: only if it could call the model.
 * Nothing is held, and its limits and quota are not checked.
 */
export function decideRightToAsk(
  account: AccountRow,
  demand: Pick<
    Demand,
    'vendors' | 'keylessVendors' | 'subscriptionCovered' | 'requiredVerification' | 'requiredPlan'
  >,
  at: number,
): Refusal | undefined {
  const levels = decideLevels(account, demand, at)
  if (levels !== undefined) return levels
  const { subscription, autoExchange } = account
  const own = ownVendors(account, demand).length > 0
  const covered =
    demand.subscriptionCovered &&
    subscription !== undefined &&
    at < subscription.expiresAt &&
    quotaTiers(subscription.quota).length > 0
  const exchanges = autoExchange.enabled && autoExchange.step > 0n && account.balance >= autoExchange.step
  const pays = account.apiDeduction && (account.credits > 0n || exchanges)
  if (own || covered || pays) return undefined
  const free = account.credits - account.held
  return refuseRightToCall(
    account,
    account.apiDeduction ? { kind: 'too-few', needed: undefined, free } : { kind: 'not-set-up' },
  )
}
