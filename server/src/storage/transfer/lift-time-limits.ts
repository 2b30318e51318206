import { type Kysely, sql } from 'kysely'
import type { EngineName } from '../sql/migrations.ts'
import type { Schema } from '../sql/schema.ts'

/** A transfer may take long, and waits for the reader or writer of the archive. For this transaction only. */
export async function liftTimeLimits(transaction: Kysely<Schema>, engine: EngineName): Promise<void> {
  if (engine === 'sqlite') return
  await sql`
    select set_config('statement_timeout', '0', true), set_config('idle_in_transaction_session_timeout', '0', true)`.execute(
    transaction,
  )
}
