import { DIALECTS, type Dialect, type EngineName, type Migration } from './dialect.ts'

export const identity: Migration = { version: 3, name: 'identity', statements }

function statements(engine: EngineName): readonly string[] {
  const dialect = DIALECTS[engine]
  return [...sessionTables(dialect), ...proofTables(dialect), ...factorTables(dialect)]
}

function sessionTables({ integer, table, clustered }: Dialect): readonly string[] {
  return [
    `create table sessions (
       id text not null primary key, token_hash text not null unique,
       account_id text not null references accounts (id), method text not null, created_at ${integer} not null,
       seen_at ${integer} not null, idle_ends_at ${integer} not null, ends_at ${integer} not null,
       user_agent text not null, address text not null, impersonator text) ${table}`,
    `create index sessions_by_account on sessions (account_id, created_at)`,
    `create index sessions_by_end on sessions (idle_ends_at)`,
    `create table sign_in_places (
       account_id text not null references accounts (id), address text not null, seen_at ${integer} not null,
       primary key (account_id, address)) ${clustered}`,
    `create index sign_in_places_by_time on sign_in_places (seen_at)`,
  ]
}

function proofTables({ integer, table, clustered }: Dialect): readonly string[] {
  return [
    `create table verification_codes (
       purpose text not null, target text not null, code_hash text not null, account_id text,
       tries_left ${integer} not null, created_at ${integer} not null, ends_at ${integer} not null,
       primary key (purpose, target)) ${table}`,
    `create index verification_codes_by_end on verification_codes (ends_at)`,
    `create table attempts (subject text not null primary key, empty_at ${integer} not null) ${clustered}`,
    `create index attempts_by_end on attempts (empty_at)`,
    `create table identity_challenges (
       id_hash text not null primary key, kind text not null, account_id text, detail text not null,
       tries_left ${integer} not null, created_at ${integer} not null, ends_at ${integer} not null) ${table}`,
    `create index identity_challenges_by_end on identity_challenges (ends_at)`,
  ]
}

function factorTables({ integer, table, clustered }: Dialect): readonly string[] {
  return [
    `create table authenticators (
       account_id text not null primary key references accounts (id), sealed text not null,
       confirmed_at ${integer}, last_step ${integer} not null) ${table}`,
    `create table recovery_codes (
       account_id text not null references accounts (id), code_hash text not null,
       primary key (account_id, code_hash)) ${clustered}`,
    `create table passkeys (
       id text not null primary key, account_id text not null references accounts (id), name text not null,
       public_key text not null, counter ${integer} not null, transports text not null,
       backed_up ${integer} not null, created_at ${integer} not null, used_at ${integer}) ${table}`,
    `create index passkeys_by_account on passkeys (account_id, created_at)`,
    `create table linked_identities (
       service text not null, subject text not null, account_id text not null references accounts (id),
       label text not null, created_at ${integer} not null, primary key (service, subject)) ${table}`,
    `create index linked_identities_by_account on linked_identities (account_id)`,
  ]
}
