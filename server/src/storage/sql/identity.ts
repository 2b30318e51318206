/** Who is at the other end: the parts of the identity port over SQL. */
import type { Kysely } from 'kysely'
import type { IdentityStore } from '../identity.ts'
import type { AnnouncedWrite } from './announced-write.ts'
import { createSessionStore } from './identity/sessions.ts'
import type { Schema } from './schema.ts'

export interface IdentityStoreOptions {
  readonly reader: Kysely<Schema>
  readonly write: AnnouncedWrite
}

export function createIdentityStore(options: IdentityStoreOptions): IdentityStore {
  return { sessions: createSessionStore(options) }
}
