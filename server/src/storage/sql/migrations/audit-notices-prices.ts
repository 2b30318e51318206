import { DIALECTS, type Dialect, type EngineName, type Migration } from './dialect.ts'

/** Tables that only the operator's pages need. */
export const auditNoticesPrices: Migration = {
  version: 5,
  name: 'audit, announcements, future prices',
  statements,
}

function statements(engine: EngineName): readonly string[] {
  const dialect = DIALECTS[engine]
  return [
    ...auditTable(dialect),
    ...noticeTable(dialect),
    ...priceTables(dialect),
    ...(engine === 'sqlite' ? appendOnlySqlite() : appendOnlyPostgres()),
  ]
}

function auditTable({ integer, table }: Dialect): readonly string[] {
  return [
    `create table audit_entries (
       sequence ${integer} not null primary key, at ${integer} not null, actor_id text, actor_name text not null,
       session_id text, address text not null, request_id text, action text not null, subject text not null,
       changes text not null, previous_hash text not null, hash text not null) ${table}`,
    `create index audit_entries_by_actor on audit_entries (actor_id, sequence)`,
    `create index audit_entries_by_subject on audit_entries (subject, sequence)`,
    `create index audit_entries_by_action on audit_entries (action, sequence)`,
  ]
}

function noticeTable({ integer, table }: Dialect): readonly string[] {
  return [
    `create table notices (
       id text not null primary key, title text not null, body text not null, level text not null,
       starts_at ${integer} not null, ends_at ${integer}, created_at ${integer} not null) ${table}`,
    `create index notices_by_start on notices (starts_at)`,
  ]
}

function priceTables({ integer, table, clustered }: Dialect): readonly string[] {
  return [
    `create table price_changes (
       id text not null primary key, model_id text not null references models (model_id),
       effective_at ${integer} not null, pricing text not null, status text not null,
       created_at ${integer} not null, created_by text not null) ${table}`,
    `create index price_changes_by_model on price_changes (model_id, effective_at)`,
    `create index price_changes_due on price_changes (effective_at) where status = 'pending'`,
    `create table chain_costs (
       chain_id ${integer} not null primary key references chains (id), pricing text not null) ${clustered}`,
  ]
}

const REFUSAL = 'audit entries are never changed or deleted'

function appendOnlySqlite(): readonly string[] {
  return ['update', 'delete'].map(
    (verb) => `create trigger audit_entries_refuse_${verb} before ${verb} on audit_entries
      begin select raise(abort, '${REFUSAL}'); end`,
  )
}

function appendOnlyPostgres(): readonly string[] {
  return [
    `create function refuse_audit_change() returns trigger language plpgsql as
      $$ begin raise exception '${REFUSAL}'; end $$`,
    `create trigger audit_entries_refuse_change before update or delete on audit_entries
      for each row execute function refuse_audit_change()`,
    `create trigger audit_entries_refuse_truncate before truncate on audit_entries
      for each statement execute function refuse_audit_change()`,
  ]
}
