/** Which processes are alive, and which of their calls are running. */
import { type Kysely, sql } from 'kysely'
import { type InstanceId, instanceId } from '../../core/ids.ts'
import type { SeenInstance } from '../../core/instances/watch.ts'
import type { SqlEngine } from './engine.ts'
import type { Schema } from './schema.ts'
import { numberOf, optionalTextOf, type StoredRow, textOf } from './table.ts'
import type { BeatOutcome } from '../stores/calls.ts'

/**
 * A call's slot lasts 600 s (docs/reference/contract.md#8-06); a running call's is renewed well before, a short call's
 * never.
 */
const RENEW_AFTER_MS = 60_000

/** Writes the instance's heartbeat, unless its epoch was raised. */
export async function beatHeart(
  { writer, processes }: Pick<SqlEngine, 'writer' | 'processes'>,
  instance: InstanceId,
  { at, epoch }: { readonly at: number; readonly epoch: number },
): Promise<BeatOutcome> {
  const { rows } = await sql<StoredRow>`
    insert into instances (id, started_at, heartbeat_at, place, epoch, beats)
    values (${instance}, ${at}, ${at}, ${processes?.own ?? null}, ${epoch}, 1)
    on conflict (id) do update set heartbeat_at = ${at}, beats = instances.beats + 1
    where instances.epoch = ${epoch} returning beats`.execute(writer)
  const [row] = rows
  if (row !== undefined) return { kind: 'beaten', first: numberOf(row, 'beats') === 1 }
  const found = await sql<StoredRow>`select epoch from instances where id = ${instance}`.execute(writer)
  const [other] = found.rows
  // The row was removed between the two statements, so its epoch is unknown and any later one is valid.
  return { kind: 'taken-over', epoch: other === undefined ? epoch + 1 : numberOf(other, 'epoch') }
}

/**
 * Condition on an open call `c`: only its process may end it. Excludes the call of a running video task, which the task's
 * next lease holder continues, and a call that recovery has ended.
 */
export const ENDS_WITH_ITS_PROCESS = sql`c.recovered_at is null and
  not exists (select 1 from video_tasks v where v.call_id = c.call_id and v.phase <> 'ended')`

/** Every instance, and names that own calls without having a row. */
export async function readInstances({ reader, processes }: SqlEngine): Promise<readonly SeenInstance[]> {
  const present = await sql<StoredRow>`
    select i.id, i.epoch, i.beats, i.heartbeat_at, i.place, case when exists (
      select 1 from open_calls c where c.instance_id = i.id and ${ENDS_WITH_ITS_PROCESS}) then 1 else 0 end as has_calls
    from instances i`.execute(reader)
  const absent = await sql<StoredRow>`
    select distinct c.instance_id from open_calls c
    where not exists (select 1 from instances i where i.id = c.instance_id) and ${ENDS_WITH_ITS_PROCESS}`.execute(
    reader,
  )
  const isGone = (place: string | undefined): boolean =>
    place !== undefined && processes?.isGone(place) === true
  return [
    ...present.rows.map((row) => ({
      id: instanceId(textOf(row, 'id')),
      epoch: numberOf(row, 'epoch'),
      beats: numberOf(row, 'beats'),
      beatAt: numberOf(row, 'heartbeat_at'),
      gone: isGone(optionalTextOf(row, 'place')),
      hasCalls: Number(row['has_calls']) === 1,
    })),
    ...absent.rows.map((row) => ({
      id: instanceId(textOf(row, 'instance_id')),
      epoch: undefined,
      beats: 0,
      beatAt: 0,
      gone: false,
      hasCalls: true,
    })),
  ]
}

/** For an instance that has no row: older than any beat, and not the 0 of a process that is known to have ended. */
const NEVER_BEAT = 1

/**
 * Raises the epoch of an instance that has not changed since it was seen: it notices that, and its observers begin a
 * new period. False: it has beaten meanwhile, or another process was first.
 */
export async function raiseEpoch(writer: Kysely<Schema>, seen: SeenInstance): Promise<boolean> {
  const { id, epoch, beats, beatAt, gone } = seen
  const { rows } =
    epoch === undefined
      ? await sql<StoredRow>`
          insert into instances (id, started_at, heartbeat_at, epoch, beats)
          values (${id}, ${NEVER_BEAT}, ${NEVER_BEAT}, 2, 0) on conflict (id) do nothing returning id`.execute(
          writer,
        )
      : await sql<StoredRow>`
          update instances set epoch = epoch + 1, heartbeat_at = ${gone ? 0 : beatAt}
          where id = ${id} and epoch = ${epoch} and beats = ${beats} and heartbeat_at = ${beatAt}
          returning id`.execute(writer)
  return rows.length > 0
}

/** Renews the slots of its calls. A locked one is left for the next time, to avoid waiting. */
export async function renewCalls(engine: SqlEngine, instance: InstanceId, at: number): Promise<void> {
  await sql`
    update open_calls set touched_at = ${at} where call_id in (
      select call_id from open_calls where instance_id = ${instance} and touched_at < ${at - RENEW_AFTER_MS}
      ${engine.name === 'postgres' ? sql`for no key update skip locked` : sql``})`.execute(engine.writer)
}

/**
 * Removes an instance that stopped cleanly, or one that has not changed since it was seen; an instance with open calls is
 * kept until they are ended.
 */
export async function forgetInstance(
  writer: Kysely<Schema>,
  which: Pick<SeenInstance, 'id'> & Partial<Pick<SeenInstance, 'epoch' | 'beats'>>,
): Promise<void> {
  const { id, epoch, beats } = which
  const asSeen =
    epoch === undefined || beats === undefined ? sql`` : sql`and epoch = ${epoch} and beats = ${beats}`
  await sql`
    delete from instances where id = ${id} ${asSeen}
      and not exists (select 1 from open_calls c where c.instance_id = instances.id and c.recovered_at is null)`.execute(
    writer,
  )
}
