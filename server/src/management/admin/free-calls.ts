import type { CallLogRow } from '../../core/ledger/log-row.ts'
import { MICRO_CREDITS_PER_CREDIT } from '../../core/money.ts'

export const FREE_REASONS = [
  'own-credential',
  'nothing-produced',
  'no-price',
  'no-charge-rate',
  'below-one-credit',
  'at-the-cap',
] as const
export type FreeReason = (typeof FREE_REASONS)[number]

/** Why an answered call cost its customer nothing; undefined: it cost something, or was not answered. */
export function whyFree(row: CallLogRow): FreeReason | undefined {
  if (row.deducted > 0n || row.httpStatus >= 400) return undefined
  if (row.byok) return 'own-credential'
  if (row.recipe === undefined || row.recipe.lines.length === 0) return 'nothing-produced'
  if (row.amount === 0n) return isFreeByRate(row) ? 'no-charge-rate' : 'no-price'
  if (row.amount < MICRO_CREDITS_PER_CREDIT) return 'below-one-credit'
  return row.capped ? 'at-the-cap' : undefined
}

/** A rate or multiplier of 0 makes every price 0. */
function isFreeByRate({ recipe }: CallLogRow): boolean {
  return recipe !== undefined && (Number(recipe.userRate) === 0 || Number(recipe.rateMultiplier) === 0)
}
