import type { DimensionRule } from '../dimension-rule.ts'
import { toUnits } from '../units.ts'

/** Unicode code points to turn into speech: known from the request, so they are held, and charged if something was made. */
export const characters: DimensionRule = {
  code: 42902,
  admission: 'hold',
  unit: { one: 'character of speech', many: 'characters of speech' },
  unitsPerLimit: 1n,
  asks: (counts) => counts.characters ?? 0,
  uses: ({ used }) => toUnits(used.characters),
}
