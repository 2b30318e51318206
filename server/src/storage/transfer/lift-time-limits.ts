import { type Kysely, sql } from 'kysely'
import type { EngineName } from '../sql/migrations.ts'
import type { Schema } from '../sql/schema.ts'

/** A move takes as long as it takes, and waits for whoever reads or writes the archive. For this transaction only. */
export async function liftTimeLimits(transaction: Kysely<Schema>, engine: EngineName): Promise<void> {
  if (engine === 'sqlite') return
  await sql`
    select set_config('statement_timeout', '0', true), set_config('idle_in_transaction_session_timeout', '0', true)`.execute(
    transaction,
  )
}
