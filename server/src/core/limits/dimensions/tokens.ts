import { tokensOf } from '../../canonical/usage.ts'
import type { DimensionRule } from '../dimension-rule.ts'
import { toUnits } from '../units.ts'

/** Tokens of every class, charged at settlement. A video call has none, so a full token window does not stop it. */
export const tokens: DimensionRule = {
  code: 42903,
  admission: 'room',
  unit: { one: 'token', many: 'tokens' },
  unitsPerLimit: 1n,
  asks: (counts) => (counts.videos > 0 ? 0 : 1),
  uses: ({ used }) => toUnits(tokensOf(used.usage)),
}
