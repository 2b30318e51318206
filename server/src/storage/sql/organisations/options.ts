/** What every organisation store needs. */
import type { SqlEngine } from '../engine.ts'
import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'
import type { AnnouncedWrite } from '../announced-write.ts'

export interface OrganisationStoreOptions {
  readonly engine: SqlEngine
  readonly reader: Kysely<Schema>
  readonly write: AnnouncedWrite
  readonly newId: () => string
}
