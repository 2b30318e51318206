/** Finishes what dead or silent instances left open. */
import { sql, type Transaction } from 'kysely'
import { decideRecovery } from '../../../core/calls/ends/recover.ts'
import { type CallId, callId, type InstanceId, instanceId } from '../../../core/ids.ts'
import type { SeenInstance } from '../../../core/instances/watch.ts'
import { StorageUnavailable } from '../../failures/unavailable.ts'
import type { SqlEngine, StorageLog } from '../engine.ts'
import type { HotQueue } from './group-commit.ts'
import { beatHeart, ENDS_WITH_ITS_PROCESS, forgetInstance, raiseEpoch } from '../instances.ts'
import { decodeOpenCall } from './open-call-row.ts'
import { readMonthStart } from '../ledger/platform-month.ts'
import type { Schema } from '../schema.ts'
import { type StoredRow, textOf } from '../table.ts'
import type { CallStore } from '../../stores/calls.ts'

/** Calls finished at once: one batch of the group commit. */
const FINISHED_AT_ONCE = 500
/** How many possibly forgotten calls of an instance are checked in one round. */
const LEAKED_AT_ONCE = 500

export interface RecoveryOptions {
  readonly engine: SqlEngine
  readonly group: HotQueue
  readonly log: StorageLog
  readonly newId: () => string
}

/**
 * A recovery owns the calls it takes over under its own name with a heartbeat, so that no other instance takes them
 * too. If it dies or loses the database meanwhile, that name stops beating and the calls are found again.
 */
export async function takeOver(
  options: RecoveryOptions,
  instances: readonly SeenInstance[],
  at: number,
): Promise<number> {
  const { engine } = options
  let ended = 0
  for (const seen of instances) {
    if (seen.hasCalls) ended += (await takeOverOne(options, seen, at)).length
    // The instance has not changed since it was seen; a row with a raised epoch is removed after another silent period.
    else await forgetSilent(engine, seen)
  }
  return ended
}

async function takeOverOne(
  options: RecoveryOptions,
  seen: SeenInstance,
  at: number,
): Promise<readonly CallId[]> {
  const { engine } = options
  return underOwnName(options, at, async (owner, transaction) => {
    if (!(await raiseEpoch(transaction, seen))) return
    await sql`
      update open_calls set touched_at = ${at}, instance_id = ${owner} where call_id in (
        select c.call_id from open_calls c where c.instance_id = ${seen.id} and ${ENDS_WITH_ITS_PROCESS}
        ${skipLocked(engine)})`.execute(transaction)
  })
}

/** A process that is known to have ended is marked so, because others wait for its leases. */
async function forgetSilent({ writer }: SqlEngine, seen: SeenInstance): Promise<void> {
  if (seen.gone && seen.beatAt > 0) await raiseEpoch(writer, seen)
  else await forgetInstance(writer, seen)
}

/** Only the instance itself ends calls that it has forgotten: others cannot know what it runs. */
export async function recoverLeaked(
  options: RecoveryOptions,
  { instance, at, startedBefore, isRunning }: Parameters<CallStore['recoverLeaked']>[0],
): Promise<readonly CallId[]> {
  const { engine } = options
  const { rows } = await sql<StoredRow>`
    select c.call_id from open_calls c
    where c.instance_id = ${instance} and c.started_at < ${startedBefore} and ${ENDS_WITH_ITS_PROCESS}`.execute(
    engine.reader,
  )
  const leaked = rows.map((row) => callId(textOf(row, 'call_id'))).filter((id) => !isRunning(id))
  if (leaked.length === 0) return []
  return underOwnName(options, at, async (owner, transaction) => {
    await sql`
      update open_calls set touched_at = ${at}, instance_id = ${owner} where call_id in (
        select c.call_id from open_calls c
        where c.call_id in (${sql.join(leaked.slice(0, LEAKED_AT_ONCE))}) and c.instance_id = ${instance}
          and ${ENDS_WITH_ITS_PROCESS} ${skipLocked(engine)})`.execute(transaction)
  })
}

/** Calls that are locked at the moment are left for later. */
const skipLocked = ({ name }: SqlEngine) => (name === 'postgres' ? sql`for update of c skip locked` : sql``)

/** Moves calls to a recovery with a new name, and ends them. */
async function underOwnName(
  options: RecoveryOptions,
  at: number,
  take: (owner: InstanceId, transaction: Transaction<Schema>) => Promise<void>,
): Promise<readonly CallId[]> {
  const { engine } = options
  const owner = instanceId(`recovery:${options.newId()}`)
  await beatHeart(engine, owner, { at, epoch: 1 })
  await engine.writer.transaction().execute((transaction) => take(owner, transaction))
  const monthStart = await readMonthStart(engine.writer, at)
  const ended: CallId[] = []
  for (let after = ''; ; ) {
    const rows = await takenAfter(engine, owner, after)
    const done = await Promise.all(rows.map((row) => finish(options, row, { at, monthStart })))
    ended.push(...done.filter((id) => id !== undefined))
    const last = rows.at(-1)
    if (last === undefined || rows.length < FINISHED_AT_ONCE) break
    after = textOf(last, 'call_id')
    // Others take over from a recovery that is silent for too long.
    await beatHeart(engine, owner, { at, epoch: 1 })
  }
  await forgetInstance(engine.writer, { id: owner })
  return ended
}

/**
 * The taking statement does not see a task that was written meanwhile. This one does, and while the recovery owns the
 * call no further task is written.
 */
async function takenAfter(
  { writer }: SqlEngine,
  owner: InstanceId,
  after: string,
): Promise<readonly StoredRow[]> {
  const { rows } = await sql<StoredRow>`
    select c.* from open_calls c
    where c.instance_id = ${owner} and c.call_id > ${after} and ${ENDS_WITH_ITS_PROCESS}
    order by c.call_id limit ${FINISHED_AT_ONCE}`.execute(writer)
  return rows
}

/** One call that cannot be finished must not block the others. */
async function finish(
  { group, log }: RecoveryOptions,
  row: StoredRow,
  { at, monthStart }: { readonly at: number; readonly monthStart: number },
): Promise<CallId | undefined> {
  try {
    const result = await group.submit(decideRecovery(decodeOpenCall(row), at, monthStart))
    return result.kind === 'outcome' ? callId(textOf(row, 'call_id')) : undefined
  } catch (error) {
    if (error instanceof StorageUnavailable) throw error
    log.warn({ callId: row['call_id'], error }, 'an open call of a dead instance could not be finished')
    return undefined
  }
}

/** Recovered calls whose instance has not reported until now stay as recovery left them. */
export async function forgetRecovered({ writer }: SqlEngine, before: number): Promise<void> {
  await writer.deleteFrom('open_calls').where('recovered_at', '<', BigInt(before)).execute()
}
