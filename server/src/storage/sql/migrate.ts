/**
 * Migrates a database to this build's schema. If several processes try at once, one does it, and the others find it
 * done.
 */
import { type Kysely, sql, type Transaction } from 'kysely'
import { NewerSchema } from '../failures/newer-schema.ts'
import type { StorageLog } from './engine.ts'
import { type EngineName, type Migration, MIGRATIONS } from './migrations.ts'
import type { Schema } from './schema.ts'

/** Key of the advisory lock around migrations on PostgreSQL: any number that is not used otherwise. */
const MIGRATION_LOCK = 7_318_202_411

export async function migrate(
  database: Kysely<Schema>,
  options: {
    readonly engine: EngineName
    readonly now: () => number
    readonly log?: StorageLog
    /** The newest migration to apply; undefined: all. */
    readonly schemaMost?: number | undefined
  },
): Promise<void> {
  const applied: Migration[] = []
  // On SQLite the transaction itself begins with the write lock.
  await database.transaction().execute(async (transaction) => {
    if (options.engine === 'postgres') {
      await sql`select pg_advisory_xact_lock(${sql.lit(MIGRATION_LOCK)})`.execute(transaction)
    }
    await createHistory(transaction)
    const known = await readVersion(transaction)
    const newest = newestSchema()
    if (known > newest) throw new NewerSchema(known, newest)
    for (const migration of MIGRATIONS) {
      if (migration.version <= known || migration.version > (options.schemaMost ?? newest)) continue
      for (const statement of migration.statements(options.engine)) {
        await sql.raw(statement).execute(transaction)
      }
      await transaction
        .insertInto('schema_migrations')
        .values({ version: migration.version, name: migration.name, applied_at: options.now() })
        .execute()
      applied.push(migration)
    }
  })
  for (const { version, name } of applied) options.log?.migrated?.({ version, name })
}

async function createHistory(transaction: Transaction<Schema>): Promise<void> {
  await sql`create table if not exists schema_migrations (
    version bigint not null primary key, name text not null, applied_at bigint not null)`.execute(transaction)
}

/** The schema version of this build. */
export function newestSchema(): number {
  return MIGRATIONS.at(-1)?.version ?? 0
}

/** The schema version of the database, whose history table exists. */
export async function readVersion(transaction: Kysely<Schema>): Promise<number> {
  const row = await transaction
    .selectFrom('schema_migrations')
    .select((select) => select.fn.max('version').as('version'))
    .executeTakeFirst()
  return Number(row?.version ?? 0)
}
