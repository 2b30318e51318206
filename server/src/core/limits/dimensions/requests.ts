import type { DimensionRule } from '../dimension-rule.ts'

/** Calls, counted when they are admitted. */
export const requests: DimensionRule = {
  code: 42902,
  admission: 'count',
  bySending: true,
  unit: { one: 'request', many: 'requests' },
  unitsPerLimit: 1n,
  asks: (counts) => counts.requests,
  uses: () => undefined,
}
