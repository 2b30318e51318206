import type { DimensionRule } from '../dimension-rule.ts'
import { toUnits } from '../units.ts'

/** Declared seconds of video: known when the task is admitted, so they are held then and charged at settlement. */
export const videoSeconds: DimensionRule = {
  code: 42910,
  admission: 'hold',
  unit: { one: 'second of video', many: 'seconds of video' },
  unitsPerLimit: 1n,
  asks: (counts) => counts.videoSeconds,
  uses: ({ used }) => toUnits(used.videoSeconds),
}
