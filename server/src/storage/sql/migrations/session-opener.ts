import type { Migration } from './dialect.ts'

/** A look through an account's eyes ends with the admin's session that it was opened from. Looks of before have ended. */
export const sessionOpener: Migration = {
  version: 28,
  name: 'where a look through an account was opened from',
  statements: () => [`alter table sessions add column opened_from text`],
}
