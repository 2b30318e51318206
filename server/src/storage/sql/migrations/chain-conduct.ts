import { DIALECTS, type EngineName, type Migration } from './dialect.ts'

/**
 * A chain's behaviour when its client leaves or it stalls, the cost of fields with extra cost, and observations of a
 * chain.
 */
export const chainConduct: Migration = { version: 20, name: 'conduct of chains, surcharges', statements }

function statements(engine: EngineName): readonly string[] {
  const { integer, clustered } = DIALECTS[engine]
  return [
    `alter table chains add column client_gone_grace_ms ${integer} not null default 3000`,
    `alter table chains add column min_bytes_per_second ${integer} not null default 10`,
    `alter table chains add column capabilities text not null default '{}'`,
    `alter table models add column surcharges text not null default '{}'`,
    `alter table models add column refuse text not null default '[]'`,
    `create table chain_observations (
       chain_id ${integer} not null primary key, tokens ${integer} not null, ms ${integer} not null,
       cap_broken_at ${integer}, updated_at ${integer} not null) ${clustered}`,
  ]
}
