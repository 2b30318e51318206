import { DIALECTS, type EngineName, type Migration } from './dialect.ts'

/** What accounts owe beyond their monthly cap, and open calls that recovery has ended. */
export const owedAmounts: Migration = { version: 25, name: 'owed amounts', statements }

/** The indexes contain the few rows that periodic jobs look for. */
function statements(engine: EngineName): readonly string[] {
  const { integer } = DIALECTS[engine]
  return [
    `alter table accounts add column owed ${integer} not null default 0`,
    `create index accounts_owing on accounts (id) where owed > 0`,
    `alter table open_calls add column recovered_at ${integer}`,
    `create index open_calls_recovered on open_calls (recovered_at) where recovered_at is not null`,
  ]
}
