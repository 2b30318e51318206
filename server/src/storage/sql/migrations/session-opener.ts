import type { Migration } from './dialect.ts'

/** An impersonation ends with the admin's session from which it was opened. Earlier impersonations have ended. */
export const sessionOpener: Migration = {
  version: 28,
  name: 'where a look through an account was opened from',
  statements: () => [`alter table sessions add column opened_from text`],
}
