import type { AccountRow } from '../calls/hot-rows.ts'
import type { Refusal } from '../calls/operations.ts'
import { ERRORS } from '../errors/catalogue.ts'

const VERIFY_HINT = 'your account is not verified yet: complete identity verification first'

/** Nothing can pay for the call (contract §5.8); an unverified account is told to verify as well. */
export function refuseRightToCall(account: Pick<AccountRow, 'verification'>): Refusal {
  const message = account.verification > 0 ? undefined : `${ERRORS[40202].message}; ${VERIFY_HINT}`
  return { code: 40202, message, retryAfterMs: undefined }
}
