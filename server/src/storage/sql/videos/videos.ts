/**
 * Video tasks. Locks keep the order of `hot-batch.ts` with the tasks last: open calls, then tasks. A task is written
 * together with its open call, or while that is locked, so that an open task always has one.
 */
import { sql, type Transaction } from 'kysely'
import type { InstanceId } from '../../../core/ids.ts'
import type { VideoTask } from '../../../core/video/task.ts'
import { StorageConflict } from '../../failures/conflict.ts'
import { StorageUnavailable } from '../../failures/unavailable.ts'
import type { VideoCreation, VideoStore } from '../../stores/videos.ts'
import type { SqlEngine } from '../engine.ts'
import { pageLimit } from '../page.ts'
import type { Schema } from '../schema.ts'
import type { StoredRow } from '../table.ts'
import { createVideoLeases, type VideoStoreOptions } from './video-leases.ts'
import { VideoPatches } from './video-patches.ts'
import { createVideoReads, ENDED, findStanding, type Idempotency, sha256 } from './video-reads.ts'
import { type ColumnCell, videoCells } from './video-task-row.ts'

export function createVideoStore(options: VideoStoreOptions): VideoStore {
  const { engine, write } = options
  const { writer } = engine
  const patches = new VideoPatches(engine.name, write)
  return {
    ...createVideoReads(engine.reader),
    ...createVideoLeases(options),

    create: (task, idempotency, lease) =>
      write(async (transaction) => {
        await lockOpenCall(engine, transaction, { task, instance: lease.instance })
        const inserted = await insertTask(transaction, task, { idempotency, lease })
        return { value: inserted ?? (await conflicting(transaction, task, idempotency)), changes: [] }
      }),

    async patch(id, patch, holder) {
      if (patch.phase === 'ended') throw new Error('a video task ends by settle or abandon')
      return patches.submit({ id, patch, holder })
    },

    async remove(id, keyId) {
      const { rows } = await sql<StoredRow>`
        delete from video_tasks where id = ${id} and key_id = ${keyId} and ${ENDED} returning id`.execute(
        writer,
      )
      return rows.length > 0
    },

    async expired(at, limit) {
      const { rows } = await sql<{ id: string; blob: string | null }>`
        select id, blob from video_tasks where ${ENDED} and expires_at < ${at} order by expires_at
        limit ${pageLimit(limit)}`.execute(engine.reader)
      return rows.map(({ id, blob }) => ({ id, blob: blob ?? undefined }))
    },

    async forget(ids, at) {
      if (ids.length === 0) return
      await sql`
        delete from video_tasks where id in (${sql.join(ids)}) and ${ENDED} and expires_at < ${at}`.execute(
        writer,
      )
    },
  }
}

/**
 * If recovery considered this instance dead, it has moved the call to itself, and a task written now would have no call.
 * While the row is locked here, recovery skips it.
 */
async function lockOpenCall(
  engine: SqlEngine,
  transaction: Transaction<Schema>,
  { task, instance }: { readonly task: VideoTask; readonly instance: InstanceId },
): Promise<void> {
  const { rows } = await sql<StoredRow>`
    select call_id from open_calls where call_id = ${task.callId} and instance_id = ${instance}
    ${engine.name === 'postgres' ? sql`for no key update` : sql``}`.execute(transaction)
  if (rows.length === 0) throw new StorageUnavailable(`call ${task.callId} of the task is not open here`)
}

async function insertTask(
  transaction: Transaction<Schema>,
  task: VideoTask,
  {
    idempotency,
    lease,
  }: {
    readonly idempotency: Idempotency | undefined
    readonly lease: { readonly instance: InstanceId; readonly until: number }
  },
): Promise<VideoCreation | undefined> {
  const cells: readonly ColumnCell[] = [
    ...videoCells(task),
    ['lease_instance', lease.instance],
    ['lease_until', lease.until],
    ['idempotency_sha256', idempotency === undefined ? null : sha256(idempotency.key)],
    ['body_sha256', idempotency?.bodySha256 ?? null],
  ]
  const { rows } = await sql<StoredRow>`
    insert into video_tasks (${sql.join(cells.map(([column]) => sql.ref(column)))})
    values (${sql.join(cells.map(([, cell]) => sql`${cell}`))}) on conflict do nothing returning id`.execute(
    transaction,
  )
  return rows.length > 0 ? { kind: 'created' } : undefined
}

/** Why the task could not be inserted. The same task again means a repetition after a lost answer. */
async function conflicting(
  transaction: Transaction<Schema>,
  task: VideoTask,
  idempotency: Idempotency | undefined,
): Promise<VideoCreation> {
  const own = await transaction
    .selectFrom('video_tasks')
    .select('id')
    .where('id', '=', task.id)
    .where('call_id', '=', task.callId)
    .executeTakeFirst()
  if (own !== undefined) return { kind: 'created' }
  const standing =
    idempotency === undefined ? undefined : await findStanding(transaction, task.keyId, idempotency)
  if (standing === undefined)
    throw new StorageConflict(`a video task ${task.id} or of its call is there already`)
  return standing
}
