import { DIALECTS, type EngineName, type Migration } from './dialect.ts'
import { SOUND_SUMS } from './usage-half-hours.ts'

/** Characters of speech and seconds of transcribed sound in the sums by half-hours; there were none before. */
export const usageOfSound: Migration = { version: 30, name: 'usage of sound', statements }

function statements(engine: EngineName): readonly string[] {
  const { integer } = DIALECTS[engine]
  return SOUND_SUMS.map(
    (name) => `alter table usage_half_hours add column ${name} ${integer} not null default 0`,
  )
}
