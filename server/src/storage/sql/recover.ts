/** Finishes what dead instances left open. */
import { sql } from 'kysely'
import type { OpenCall } from '../../core/calls/hot-rows.ts'
import { decideRecovery } from '../../core/calls/recover.ts'
import { instanceId } from '../../core/ids.ts'
import type { CallStore } from '../storage.ts'
import type { SqlEngine, StorageLog } from './engine.ts'
import type { GroupCommit } from './group-commit.ts'
import { beatHeart, endInstance } from './instances.ts'
import { decodeOpenCall } from './open-call-row.ts'
import type { StoredRow } from './table.ts'

/** Calls taken over at once: one batch of the group commit. */
const TAKEN_AT_ONCE = 500

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
  const { writer } = options.engine
  const owner = instanceId(`recovery:${options.newId()}`)
  await beatHeart(writer, owner, bounds.at)
  let recovered = 0
  for (;;) {
    const calls = await takeOver(options.engine, owner, bounds)
    const done = await Promise.all(calls.map((call) => finish(options, call, bounds.at)))
    recovered += done.filter((finished) => finished).length
    if (calls.length < TAKEN_AT_ONCE) break
  }
  await endInstance(writer, owner)
  return recovered
}

async function takeOver(engine: SqlEngine, owner: string, bounds: Bounds): Promise<readonly OpenCall[]> {
  const { at, deadBefore, leakedBefore } = bounds
  const skipLocked = engine.name === 'postgres' ? sql`for update of c skip locked` : sql``
  const { rows } = await sql<StoredRow>`
    update open_calls set touched_at = ${at}, instance_id = ${owner}
    where call_id in (
      select c.call_id from open_calls c left join instances i on i.id = c.instance_id
      where coalesce(i.heartbeat_at, 0) < ${deadBefore} or c.touched_at < ${leakedBefore}
      limit ${TAKEN_AT_ONCE} ${skipLocked})
    returning *`.execute(engine.writer)
  return rows.map(decodeOpenCall)
}

/** One call that cannot be finished must not keep the others open. */
async function finish({ group, log }: RecoveryOptions, call: OpenCall, at: number): Promise<boolean> {
  try {
    const result = await group.submit(decideRecovery(call, at))
    return result.kind === 'outcome'
  } catch (error) {
    log.warn({ callId: call.callId, error }, 'an open call of a dead instance could not be finished')
    return false
  }
}
