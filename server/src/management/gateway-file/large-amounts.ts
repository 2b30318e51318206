/** Finds opening amounts above the limit of a booking, which depends on the platform's rate. */
import { say } from '../../core/sentences/say.ts'
import type { Mistake } from '../../config/gateway-file/file-node.ts'
import type { AccountFileRow } from '../../config/gateway-file/gateway-file.ts'
import { AMOUNT_MAX, MICRO_CREDITS_PER_CREDIT } from '../../core/money.ts'
import type { AccountPlan } from './plan-accounts.ts'

export function findLargeAmounts(
  { place }: Pick<AccountFileRow, 'place'>,
  { opening }: Pick<AccountPlan, 'opening'>,
): readonly Mistake[] {
  return (['credits', 'balance'] as const)
    .filter((pool) => (opening?.[pool] ?? 0n) > AMOUNT_MAX)
    .map((pool) => ({
      place: { ...place, path: `${place.path}.${pool}` },
      message: say('worth-at-most', { most: String(AMOUNT_MAX / MICRO_CREDITS_PER_CREDIT) }),
    }))
}
