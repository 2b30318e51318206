import type { AccountRow } from '../calls/hot-rows.ts'
import type { Demand, Refusal } from '../calls/operations.ts'
import { ERRORS } from '../errors/catalogue.ts'
import { quotaTiers } from '../limits/quota.ts'
import { decideLevels } from './levels.ts'
import { ownVendors } from './own-vendors.ts'

const VERIFY_HINT = 'your account is not verified yet: complete identity verification first'

/** Nothing can pay for the call (contract §5.8); an unverified account is told to verify as well. */
export function refuseRightToCall(account: Pick<AccountRow, 'verification'>): Refusal {
  const message = account.verification > 0 ? undefined : `${ERRORS[40202].message}; ${VERIFY_HINT}`
  return { code: 40202, message, retryAfterMs: undefined }
}

/**
 * Whether an account may ask something of a model that costs nothing, such as to count a request's tokens: only where it
 * could call the model. Nothing is held, and what its limits and its quota have left is not looked at.
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
  return own || covered || pays ? undefined : refuseRightToCall(account)
}
