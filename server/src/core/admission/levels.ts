import type { AccountRow } from '../ledger/hot-rows.ts'
import type { Refusal } from '../ledger/operations.ts'

/** What a model requires of an account (docs/reference/contract.md#5-38). */
export interface RequiredLevels {
  readonly requiredVerification: number
  readonly requiredPlan: number
}

/**
 * Model admission: the account's level must reach the required one, in both rankings; 0 or below always passes. The
 * verification message comes first when both fail (docs/reference/contract.md#D-admission-33). BYOK exempts nobody
 * (docs/reference/contract.md#5-32).
 */
export function decideLevels(
  account: Pick<AccountRow, 'verification' | 'subscription'>,
  required: RequiredLevels,
  at: number,
): Refusal | undefined {
  if (required.requiredVerification > 0 && account.verification < required.requiredVerification) {
    return refusal(verificationMessage(required.requiredVerification))
  }
  if (required.requiredPlan > 0 && planLevelOf(account, at) < required.requiredPlan) {
    return refusal(planMessage(required.requiredPlan))
  }
  return undefined
}

/** Level of the subscription active at `at`: 0 none, 1 PLUS, 2 PRO, 3 PROMAX. An expired one counts as none. */
export function planLevelOf(account: Pick<AccountRow, 'subscription'>, at: number): number {
  const { subscription } = account
  return subscription !== undefined && at < subscription.expiresAt ? subscription.level : 0
}

const refusal = (message: string): Refusal => ({ code: 40203, message, retryAfterMs: undefined })

function verificationMessage(level: number): string {
  return level > 1
    ? 'this model needs enterprise verification of your account'
    : 'this model needs real-name verification of your account'
}

function planMessage(level: number): string {
  const plan = level > 2 ? 'PROMAX' : level > 1 ? 'PRO' : 'PLUS'
  return `this model needs a subscription to Sluice ${plan}`
}
