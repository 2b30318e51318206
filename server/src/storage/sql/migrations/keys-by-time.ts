import type { Migration } from './dialect.ts'

/** The keys of all accounts, the newest first: operators page through them. */
export const keysByTime: Migration = {
  version: 32,
  name: 'index of keys by time',
  statements: () => ['create index api_keys_by_time on api_keys (created_at, id)'],
}
