import type { DimensionRule } from '../dimension-rule.ts'

/** Videos by number, counted when the task is admitted. */
export const videos: DimensionRule = {
  code: 42902,
  admission: 'count',
  unit: { one: 'video', many: 'videos' },
  unitsPerLimit: 1n,
  asks: (counts) => counts.videos,
  uses: () => undefined,
}
