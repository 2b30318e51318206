import { DIALECTS, type Dialect, type EngineName, type Migration } from './dialect.ts'

export const firstSchema: Migration = { version: 1, name: 'first schema', statements }

function statements(engine: EngineName): readonly string[] {
  const dialect = DIALECTS[engine]
  return [
    ...catalogueTables(dialect),
    ...accountTables(dialect),
    ...callTables(dialect),
    ...ledgerTables(dialect),
    ...logTables(dialect),
    ...(engine === 'sqlite' ? [changesTable(dialect), ...appendOnlySqlite()] : appendOnlyPostgres()),
  ]
}

function catalogueTables({ integer, identity, table }: Dialect): readonly string[] {
  return [
    `create table meta (name text not null primary key, value text not null) ${table}`,
    `create table settings (id ${integer} not null primary key, body text not null) ${table}`,
    `create table vendors (
       code text not null primary key, name text not null, kind text not null, base_url text,
       timeouts text not null, status text not null) ${table}`,
    `create table credentials (
       id text not null primary key, vendor_code text not null references vendors (code), name text not null,
       sealed text, limits text not null, status text not null, unique (vendor_code, name)) ${table}`,
    `create table models (
       model_id text not null primary key, position ${integer} not null, name text not null, status text not null,
       client_visible ${integer} not null, support_features text not null,
       required_verification ${integer} not null, required_plan ${integer} not null,
       context_tokens ${integer}, max_output_tokens ${integer}, subscription_covered ${integer} not null,
       pricing text not null) ${table}`,
    `create table chains (
       id ${identity}, model_id text not null references models (model_id),
       vendor_code text not null references vendors (code),
       credential_id text not null references credentials (id),
       protocol text not null, forward_model_id text not null, priority ${integer} not null,
       weight ${integer} not null, rate_multiplier text not null, stream_usage text not null, status text not null,
       unique (model_id, vendor_code, credential_id, protocol, forward_model_id)) ${table}`,
    `create table protocol_groups (
       name text not null primary key, protocol text not null, models text not null) ${table}`,
    `create table plans (
       code text not null primary key, level ${integer} not null, price text not null,
       period_days ${integer} not null, quota text not null) ${table}`,
  ]
}

function accountTables({ integer, table, clustered, hot }: Dialect): readonly string[] {
  return [
    `create table accounts (
       id text not null primary key, email text unique, phone text unique, password_hash text,
       role text not null, status text not null, verification ${integer} not null, user_rate text not null,
       credits ${integer} not null, held ${integer} not null, balance ${integer} not null,
       api_deduction ${integer} not null, monthly_cap ${integer} not null, month_start ${integer} not null,
       month_spent ${integer} not null, month_held ${integer} not null, auto_exchange text not null,
       subscription text, policy text not null, byok_vendors text not null, fallback_model text,
       created_at ${integer} not null) ${hot}`,
    `create table byok (
       account_id text not null references accounts (id), vendor_code text not null, sealed text not null,
       enabled ${integer} not null, primary key (account_id, vendor_code)) ${clustered}`,
    `create table api_keys (
       id text not null primary key, account_id text not null references accounts (id), name text not null,
       hash text not null, hint text not null, status text not null, created_at ${integer} not null,
       expires_at ${integer}, group_name text, models text not null, ip_allow text not null, policy text) ${table}`,
    // A deleted key's hash may be used again: a fixed key of the gateway file may be re-added.
    `create unique index api_keys_by_hash on api_keys (hash) where status <> 'deleted'`,
    `create index api_keys_by_account on api_keys (account_id, created_at)`,
  ]
}

function callTables({ integer, clustered, hot, hotClustered }: Dialect): readonly string[] {
  return [
    `create table limit_states (
       subject text not null primary key, slots ${integer} not null, windows text not null) ${hotClustered}`,
    `create table open_calls (
       call_id text not null primary key, instance_id text not null, key_id text not null,
       account_id text not null, started_at ${integer} not null, touched_at ${integer} not null,
       held ${integer} not null, quota_held ${integer} not null, month_held ${integer} not null, body text not null, terms text not null,
       fallback_terms text, description text not null, state text not null) ${hot}`,
    `create table instances (
       id text not null primary key, started_at ${integer} not null, heartbeat_at ${integer} not null) ${clustered}`,
  ]
}

function ledgerTables({ integer, clustered }: Dialect): readonly string[] {
  return [
    `create table transfers (
       transaction_id text not null, sequence ${integer} not null, at ${integer} not null, debit text not null,
       credit text not null, amount ${integer} not null check (amount >= 0), kind text not null, reference text,
       account_id text, primary key (transaction_id, sequence)) ${clustered}`,
    `create index transfers_by_account on transfers (account_id, at)`,
  ]
}

/**
 * Text that not every call has, and statuses of failures, are indexed only where present: a plain call updates six
 * indexes whose right edge stays in memory. `request-index.ts` replaces the index of requests.
 */
export const CALL_LOG_INDEXES: readonly string[] = [
  `create index call_logs_by_time on call_logs (created_at)`,
  `create index call_logs_by_account on call_logs (account_id, created_at)`,
  `create index call_logs_by_key on call_logs (key_id, created_at)`,
  `create index call_logs_by_model on call_logs (model, created_at)`,
  `create index call_logs_by_request on call_logs (request_id)`,
  `create index call_logs_by_app on call_logs (app_id, created_at) where app_id is not null`,
  `create index call_logs_by_custom on call_logs (custom_id, created_at) where custom_id is not null`,
  `create index call_logs_by_user on call_logs (end_user, created_at) where end_user is not null`,
  `create index call_logs_by_failure on call_logs (http_status, created_at) where http_status >= 400`,
  `create index call_logs_by_account_failure on call_logs (account_id, http_status, created_at)
     where http_status >= 400`,
]

function logTables({ integer, table }: Dialect): readonly string[] {
  return [
    `create table call_logs (
       call_id text not null primary key, request_id text not null, created_at ${integer} not null,
       ended_at ${integer} not null, account_id text, key_id text, model text, http_status ${integer} not null,
       app_id text, custom_id text, end_user text, amount ${integer} not null, deducted ${integer} not null,
       detail text not null) ${table}`,
    ...CALL_LOG_INDEXES,
  ]
}

function changesTable({ integer, identity, table }: Dialect): string {
  return `create table changes (
    id ${identity}, at ${integer} not null, origin text not null, body text not null) ${table}`
}

const REFUSAL = 'ledger entries are never changed or deleted'

function appendOnlySqlite(): readonly string[] {
  return ['update', 'delete'].map(
    (verb) => `create trigger transfers_refuse_${verb} before ${verb} on transfers
      begin select raise(abort, '${REFUSAL}'); end`,
  )
}

function appendOnlyPostgres(): readonly string[] {
  return [
    `create function refuse_ledger_change() returns trigger language plpgsql as
      $$ begin raise exception '${REFUSAL}'; end $$`,
    `create trigger transfers_refuse_change before update or delete on transfers
      for each row execute function refuse_ledger_change()`,
    `create trigger transfers_refuse_truncate before truncate on transfers
      for each statement execute function refuse_ledger_change()`,
  ]
}
