import type { DimensionRule } from '../dimension-rule.ts'
import { hundredthsOf } from '../units.ts'

/** Seconds of sound to transcribe, in hundredths: measured when the call is admitted; the vendor may measure more. */
export const audioSeconds: DimensionRule = {
  code: 42902,
  admission: 'hold',
  unit: { one: 'second of sound', many: 'seconds of sound' },
  unitsPerLimit: 100n,
  asks: (counts) => Number(hundredthsOf(counts.audioSeconds ?? 0)),
  uses: ({ used }) => hundredthsOf(used.audioSeconds),
}
