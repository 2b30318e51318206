/** Removes expired rows from the log, in batches small enough not to delay calls. */
import { sql } from 'kysely'
import type { SqlEngine } from '../engine.ts'
import { noteKeptSince } from '../usage/kept-since.ts'
import type { LogUpkeep } from '../../stores/logs.ts'

const BATCH_ROWS = 1_000
/** The remaining rows are removed the next time. */
const BATCHES_MAX = 200

/** Returns how many rows were removed. */
export async function keepLog(engine: SqlEngine, upkeep: LogUpkeep): Promise<number> {
  const { keepSince } = upkeep
  if (keepSince !== undefined) await noteKeptSince(engine.writer, keepSince)
  let removed = (await engine.keepLog?.(upkeep)) ?? 0
  if (keepSince === undefined) return removed
  for (let batch = 0; batch < BATCHES_MAX; batch++) {
    const { rows } = await sql`
      delete from call_logs where call_id in (
        select call_id from call_logs where created_at < ${keepSince} order by created_at limit ${BATCH_ROWS})
      and created_at < ${keepSince} returning 1 as gone`.execute(engine.writer)
    removed += rows.length
    if (rows.length < BATCH_ROWS) break
  }
  return removed
}
