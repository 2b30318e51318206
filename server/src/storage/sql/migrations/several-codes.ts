import { DIALECTS, type EngineName, type Migration } from './dialect.ts'

/**
 * Several codes for one address at a time, each with the network that requested it; the used part of a message budget;
 * whether a session used a second factor.
 */
export const severalCodes: Migration = {
  version: 22,
  name: 'several codes of one address, budgets of messages, sessions behind a second factor',
  statements,
}

function statements(engine: EngineName): readonly string[] {
  const { integer, table, clustered } = DIALECTS[engine]
  return [
    `create table sent_codes (
       purpose text not null, target text not null, place text not null, code_hash text not null, account_id text,
       tries_left ${integer} not null, elsewhere_left ${integer} not null, created_at ${integer} not null,
       ends_at ${integer} not null, primary key (purpose, target, place, code_hash)) ${table}`,
    `create index sent_codes_by_end on sent_codes (ends_at)`,
    `insert into sent_codes (purpose, target, place, code_hash, account_id, tries_left, elsewhere_left, created_at, ends_at)
       select purpose, target, '', code_hash, account_id, tries_left, tries_left, created_at, ends_at
       from verification_codes`,
    `drop table verification_codes`,
    `create table message_budgets (
       subject text not null primary key, used ${integer} not null, ends_at ${integer} not null) ${clustered}`,
    `create index message_budgets_by_end on message_budgets (ends_at)`,
    `create index invitations_by_email on invitations (email) where status = 'pending'`,
    `alter table sessions add column second_factor ${integer} not null default 0`,
    `update sessions set second_factor = 1 where method = 'passkey'`,
  ]
}
