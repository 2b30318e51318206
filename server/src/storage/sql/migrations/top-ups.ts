import { DIALECTS, type Dialect, type EngineName, type Migration } from './dialect.ts'

/** Incoming money: redemption codes, and payments through a provider. */
export const topUps: Migration = { version: 10, name: 'redemption codes, top-ups', statements }

function statements(engine: EngineName): readonly string[] {
  const dialect = DIALECTS[engine]
  return [...codeTables(dialect), ...paymentTables(dialect)]
}

function codeTables({ integer, table, clustered }: Dialect): readonly string[] {
  return [
    `create table redemption_batches (
       id text not null primary key, pool text not null, amount ${integer} not null, codes ${integer} not null,
       redeemed ${integer} not null, voided ${integer} not null, expires_at ${integer}, note text,
       created_at ${integer} not null, created_by text not null, voided_at ${integer}) ${table}`,
    `create table redemption_codes (
       hash text not null primary key, id text not null,
       batch_id text not null references redemption_batches (id), hint text not null, status text not null,
       redeemed_by text references accounts (id), redeemed_at ${integer}) ${clustered}`,
    `create unique index redemption_codes_by_id on redemption_codes (id)`,
    `create index redemption_codes_by_batch on redemption_codes (batch_id, id)`,
  ]
}

function paymentTables({ integer, table, clustered }: Dialect): readonly string[] {
  return [
    `create table top_up_packages (
       code text not null primary key, name text not null, price text not null, pool text not null,
       amount ${integer} not null, status text not null) ${clustered}`,
    `create table top_ups (
       id text not null primary key, account_id text not null references accounts (id), driver text not null,
       status text not null, currency text not null, price_minor ${integer} not null, pool text not null,
       amount ${integer} not null, package text, idempotency_key text, fingerprint text not null, checkout text,
       checkout_url text, ends_at ${integer}, created_at ${integer} not null, paid_at ${integer},
       booked ${integer} not null, bookings ${integer} not null) ${table}`,
    `create index top_ups_by_account on top_ups (account_id, id)`,
    `create index top_ups_by_status on top_ups (status, id)`,
    `create unique index top_ups_by_key on top_ups (account_id, idempotency_key)
       where idempotency_key is not null`,
    `create table payments (
       driver text not null, reference text not null, top_up_id text references top_ups (id), facts text not null,
       changed_at ${integer} not null, primary key (driver, reference)) ${clustered}`,
    `create index payments_by_top_up on payments (top_up_id) where top_up_id is not null`,
  ]
}
