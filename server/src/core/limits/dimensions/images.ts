import type { DimensionRule } from '../dimension-rule.ts'
import { toUnits } from '../units.ts'

/** Generated images: one is taken at admission by a call billed by image, the true count is settled. */
export const images: DimensionRule = {
  code: 42902,
  admission: 'count',
  unit: { one: 'image', many: 'images' },
  unitsPerLimit: 1n,
  asks: (counts) => counts.images,
  uses: ({ used }) => toUnits(used.images),
}
