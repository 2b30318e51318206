/** Finishes what dead instances left open. */
import { type Kysely, sql, type Transaction } from 'kysely'
import { decideRecovery } from '../../core/calls/recover.ts'
import { instanceId } from '../../core/ids.ts'
import type { CallStore } from '../storage.ts'
import type { SqlEngine, StorageLog } from './engine.ts'
import type { GroupCommit } from './group-commit.ts'
import { beatHeart, declareGone, forgetInstances } from './instances.ts'
import { decodeOpenCall } from './open-call-row.ts'
import type { Schema } from './schema.ts'
import { type StoredRow, textOf } from './table.ts'

/** Calls taken over at once: one batch of the group commit. */
const TAKEN_AT_ONCE = 500
/** Key of the advisory lock around taking over on PostgreSQL. */
const RECOVERY_LOCK = 7_318_202_412

export interface RecoveryOptions {
  readonly engine: SqlEngine
  readonly group: GroupCommit
  readonly log: StorageLog
  readonly newId: () => string
}

type Bounds = Parameters<CallStore['recover']>[0]

/**
 * The recovery owns the calls it takes over under a name of its own with a heartbeat, so that no other instance takes
 * them too; should it die or lose the database in between, that heartbeat grows old and they are found again.
 */
export async function recoverCalls(options: RecoveryOptions, bounds: Bounds): Promise<number> {
  const { writer, reader } = options.engine
  await declareGone(options.engine)
  if (await nothingIsLost(reader, bounds)) return 0
  const owner = instanceId(`recovery:${options.newId()}`)
  await beatHeart(options.engine, owner, bounds.at)
  let recovered = 0
  for (;;) {
    const rows = await takeOver(options.engine, owner, bounds)
    const done = await Promise.all(rows.map((row) => finish(options, row, bounds.at)))
    recovered += done.filter((finished) => finished).length
    // Fewer than asked for: no more are lost, up to those left out for the next round.
    if (rows.length < TAKEN_AT_ONCE) break
  }
  await forgetInstances(writer, { id: owner })
  await forgetInstances(writer, { deadBefore: bounds.deadBefore })
  return recovered
}

/** What a round mostly finds; then it writes nothing. */
async function nothingIsLost(reader: Kysely<Schema>, { deadBefore, leakedBefore }: Bounds): Promise<boolean> {
  const { rows } = await sql<StoredRow>`
    select 1 as lost where exists (select 1 from instances where heartbeat_at < ${deadBefore})
      or exists (select 1 from open_calls c where ${isLost({ deadBefore, leakedBefore })})`.execute(reader)
  return rows.length === 0
}

/**
 * Of an open call `c`: untouched for too long, or its instance is not heard of any more. The call of a video task that has
 * not ended is none: whoever leases the task next goes on with it.
 */
function isLost({ deadBefore, leakedBefore }: Pick<Bounds, 'deadBefore' | 'leakedBefore'>) {
  return sql`(c.touched_at < ${leakedBefore} or not exists (
    select 1 from instances i where i.id = c.instance_id and i.heartbeat_at >= ${deadBefore}))
    and not exists (select 1 from video_tasks v where v.call_id = c.call_id and v.phase <> 'ended')`
}

/** One instance at a time, so that each sees whom the one before made owner; calls in use just now are left for later. */
function takeOver(engine: SqlEngine, owner: string, bounds: Bounds): Promise<readonly StoredRow[]> {
  const onPostgres = engine.name === 'postgres'
  return engine.writer.transaction().execute(async (transaction) => {
    if (onPostgres) await sql`select pg_advisory_xact_lock(${sql.lit(RECOVERY_LOCK)})`.execute(transaction)
    const { rows } = await sql<StoredRow>`
      update open_calls set touched_at = ${bounds.at}, instance_id = ${owner}
      where call_id in (
        select c.call_id from open_calls c
        where ${isLost(bounds)}
        limit ${TAKEN_AT_ONCE} ${onPostgres ? sql`for update skip locked` : sql``})
      returning *`.execute(transaction)
    return withoutTasks(transaction, rows)
  })
}

/**
 * A task that was written while the rows above were looked for was not seen by that statement. This one sees it, and with
 * the call owned by the recovery no other is written.
 */
async function withoutTasks(
  transaction: Transaction<Schema>,
  rows: readonly StoredRow[],
): Promise<readonly StoredRow[]> {
  if (rows.length === 0) return rows
  const calls = rows.map((row) => textOf(row, 'call_id'))
  const tasks = await sql<{ call_id: string }>`
    select call_id from video_tasks where phase <> 'ended' and call_id in (${sql.join(calls)})`.execute(
    transaction,
  )
  const kept = new Set(tasks.rows.map((row) => row.call_id))
  return rows.filter((row) => !kept.has(textOf(row, 'call_id')))
}

/** One call that cannot be finished must not keep the others open. */
async function finish({ group, log }: RecoveryOptions, row: StoredRow, at: number): Promise<boolean> {
  try {
    const result = await group.submit(decideRecovery(decodeOpenCall(row), at))
    return result.kind === 'outcome'
  } catch (error) {
    log.warn({ callId: row['call_id'], error }, 'an open call of a dead instance could not be finished')
    return false
  }
}
