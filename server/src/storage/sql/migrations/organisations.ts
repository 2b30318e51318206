import { DIALECTS, type EngineName, type Migration } from './dialect.ts'

/** An organisation is an account; members are people's accounts in it, and keys may be a member's. */
export const organisations: Migration = { version: 11, name: 'organisations', statements }

function statements(engine: EngineName): readonly string[] {
  const { integer, table, clustered, hot } = DIALECTS[engine]
  return [
    `alter table accounts add column kind text not null default 'person'`,
    `create table organisations (
       id text not null primary key references accounts (id), name text not null, created_at ${integer} not null,
       closed_at ${integer}) ${clustered}`,
    `create table members (
       id text not null primary key, organisation_id text not null references organisations (id),
       account_id text not null references accounts (id), role text not null, status text not null,
       monthly_cap ${integer} not null, month_start ${integer} not null, month_spent ${integer} not null,
       month_held ${integer} not null, policy text not null, joined_at ${integer} not null) ${hot}`,
    `create unique index members_present on members (organisation_id, account_id) where status <> 'removed'`,
    `create index members_by_organisation on members (organisation_id, id)`,
    `create index members_by_account on members (account_id)`,
    `create table invitations (
       id text not null primary key, organisation_id text not null references organisations (id),
       email text not null, role text not null, monthly_cap ${integer} not null, policy text not null,
       invited_by text not null references accounts (id), created_at ${integer} not null,
       expires_at ${integer} not null, status text not null, token_hash text not null unique,
       member_id text references members (id)) ${table}`,
    `create index invitations_by_organisation on invitations (organisation_id, id)`,
    `create unique index invitations_pending on invitations (organisation_id, email) where status = 'pending'`,
    `alter table api_keys add column member_id text references members (id)`,
    `create index api_keys_by_member on api_keys (member_id) where member_id is not null`,
  ]
}
