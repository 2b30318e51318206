import type { Migration } from './dialect.ts'

/** Which process of this machine an instance is, so that its end is detected at once. */
export const instancePlace: Migration = {
  version: 8,
  name: 'where an instance runs',
  statements: () => ['alter table instances add column place text'],
}
