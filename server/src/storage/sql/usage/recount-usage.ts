/**
 * Recomputes half-hours from the log, if the sums were changed by other software, or the calls logged by an older
 * build.
 */
import { sql } from 'kysely'
import type { Period } from '../../stores/customers.ts'
import type { SqlEngine } from '../engine.ts'
import { fillUsage, USAGE_HALF_HOUR_MS } from '../migrations/usage-half-hours.ts'
import { readKeptSince } from './kept-since.ts'
import { halfHoursIn } from './usage-parts.ts'

/** Returns how many were recomputed: those entirely in the period whose calls are all in the log. */
export async function recountUsage(engine: SqlEngine, period: Period): Promise<number> {
  const keptSince = await readKeptSince(engine.reader)
  const times = halfHoursIn(period).filter((at) => at >= keptSince && at + USAGE_HALF_HOUR_MS <= period.until)
  for (const at of times) await recountOne(engine, at)
  return times.length
}

/** Calls that end meanwhile wait for it: those already summed are in the log, the others are added to the new sums. */
async function recountOne(engine: SqlEngine, at: number): Promise<void> {
  await engine.writer.transaction().execute(async (transaction) => {
    if (engine.name === 'postgres') {
      await sql`lock table usage_half_hours in share row exclusive mode`.execute(transaction)
    }
    await sql`delete from usage_half_hours where at = ${at}`.execute(transaction)
    const until = at + USAGE_HALF_HOUR_MS
    await sql
      .raw(fillUsage(engine.name, `and created_at >= ${at} and created_at < ${until}`))
      .execute(transaction)
  })
}
