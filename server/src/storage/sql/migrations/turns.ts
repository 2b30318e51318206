import { DIALECTS, type EngineName, type Migration } from './dialect.ts'

export const turns: Migration = { version: 6, name: 'turns of responses', statements }

/**
 * Rows are added and removed by the thousand: one index finds what expires, one, of the stored turns only, their total
 * size.
 */
function statements(engine: EngineName): readonly string[] {
  const { integer, table } = DIALECTS[engine]
  return [
    `create table turns (
       key_id text not null, response_id text not null, previous_id text, model_id text not null,
       created_at ${integer} not null, expires_at ${integer} not null, sealed text, bytes ${integer} not null,
       place text, chain_id ${integer}, primary key (key_id, response_id)) ${table}`,
    `create index turns_to_expire on turns (expires_at)`,
    `create index turns_by_room on turns (expires_at, bytes) where bytes > 0`,
  ]
}
