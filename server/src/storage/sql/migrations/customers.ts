import { DIALECTS, type EngineName, type Migration } from './dialect.ts'

export const customers: Migration = { version: 4, name: 'office', statements }

function statements(engine: EngineName): readonly string[] {
  const { integer, table, clustered } = DIALECTS[engine]
  return [
    `create table idempotent_acts (
       account_id text not null references accounts (id), operation text not null, key text not null,
       fingerprint text not null, at ${integer} not null, answer text not null,
       primary key (account_id, operation, key)) ${clustered}`,
    `create table subscriptions (
       account_id text not null primary key references accounts (id), plan text not null,
       expires_at ${integer} not null, periods text not null, renewal text, due_at ${integer}) ${clustered}`,
    `create index subscriptions_by_due on subscriptions (due_at) where due_at is not null`,
    `create table profiles (
       account_id text not null primary key references accounts (id), name text, language text, timezone text,
       alerts text not null) ${clustered}`,
    `create table verification_requests (
       id text not null primary key, account_id text not null references accounts (id), kind text not null,
       status text not null, submitted_at ${integer} not null, decided_at ${integer}, decided_by text, reason text,
       sealed text not null, documents text not null) ${table}`,
    `create index verification_requests_by_account on verification_requests (account_id, id)`,
    `create index verification_requests_by_status on verification_requests (status, id)`,
    `create unique index verification_requests_pending on verification_requests (account_id)
       where status = 'pending'`,
    `create table former_secrets (
       hash text not null primary key, key_id text not null references api_keys (id),
       valid_until ${integer} not null) ${clustered}`,
    `create index former_secrets_by_key on former_secrets (key_id)`,
    `create table watched_accounts (account_id text not null primary key references accounts (id)) ${clustered}`,
    `create table alerts (
       id text not null primary key, account_id text not null references accounts (id), kind text not null,
       raised_at ${integer} not null, cleared_at ${integer}, body text not null) ${table}`,
    `create index alerts_by_account on alerts (account_id, id)`,
    `create unique index alerts_standing on alerts (account_id, kind) where cleared_at is null`,
    `create table alert_deliveries (
       id text not null primary key, alert_id text not null references alerts (id), channel text not null,
       target text not null, attempts ${integer} not null, due_at ${integer}, outcome text not null) ${table}`,
    `create index alert_deliveries_by_due on alert_deliveries (due_at) where due_at is not null`,
    `create index alert_deliveries_by_alert on alert_deliveries (alert_id)`,
  ]
}
