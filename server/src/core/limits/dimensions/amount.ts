import { MICRO_CREDITS_PER_CREDIT } from '../../money.ts'
import type { DimensionRule } from '../dimension-rule.ts'

/** Money: limits are in Credits, windows count µCr, charged at settlement. */
export const amount: DimensionRule = {
  code: 42902,
  admission: 'room',
  unit: { one: 'Credit', many: 'Credits' },
  unitsPerLimit: MICRO_CREDITS_PER_CREDIT,
  asks: () => 1,
  uses: (consumed) => consumed.amount,
}
