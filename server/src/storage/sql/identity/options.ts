/** What every identity store needs. */
import type { SqlEngine } from '../engine.ts'
import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'
import type { AnnouncedWrite } from '../announced-write.ts'
import type { SecretBox } from '../../secret-box.ts'

export interface IdentityStoreOptions {
  readonly engine: SqlEngine
  readonly reader: Kysely<Schema>
  readonly write: AnnouncedWrite
  readonly secrets: SecretBox
}
