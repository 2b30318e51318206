import type { Migration } from './dialect.ts'

/** Keys that end with a sign-in session: one for each account, and in organisations for each member. */
export const sessionKeys: Migration = { version: 29, name: 'keys of sessions', statements }

function statements(): readonly string[] {
  return [
    `alter table api_keys add column session_id text`,
    `create index api_keys_by_session on api_keys (session_id) where session_id is not null`,
    `create unique index api_keys_of_sessions on api_keys (account_id, coalesce(member_id, ''))
       where session_id is not null`,
  ]
}
