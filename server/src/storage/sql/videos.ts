/**
 * Video tasks. Locks keep the order of `hot-batch.ts` with the tasks last: open calls, then tasks. A task is written
 * together with its open call, or while that is locked, so that an open task always has one.
 */
import { createHash } from 'node:crypto'
import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely'
import type { InstanceId } from '../../core/ids.ts'
import type { VideoTask } from '../../core/video/task.ts'
import { StorageConflict } from '../conflict.ts'
import { InvalidCursor } from '../invalid-cursor.ts'
import { StorageUnavailable } from '../unavailable.ts'
import type { VideoCreation, VideoStore } from '../videos.ts'
import type { AnnouncedWrite } from './announced-write.ts'
import type { SqlEngine } from './engine.ts'
import { pageLimit } from './page.ts'
import type { Schema } from './schema.ts'
import type { StoredRow } from './table.ts'
import { VideoPatches } from './video-patches.ts'
import { type ColumnCell, decodeVideoTask, videoCells } from './video-task-row.ts'

export interface VideoStoreOptions {
  readonly engine: SqlEngine
  readonly write: AnnouncedWrite
  readonly instance: InstanceId
}

type Idempotency = Parameters<VideoStore['findByIdempotency']>[1]

export function createVideoStore({ engine, write, instance }: VideoStoreOptions): VideoStore {
  const { reader, writer } = engine
  const patches = new VideoPatches(engine.name, write)
  return {
    create: (task, idempotency, lease) =>
      write(async (transaction) => {
        await lockOpenCall(engine, transaction, { task, instance: lease.instance })
        const inserted = await insertTask(transaction, task, { idempotency, lease })
        return { value: inserted ?? (await conflicting(transaction, task, idempotency)), changes: [] }
      }),

    findByIdempotency: (keyId, idempotency) => findStanding(reader, keyId, idempotency),

    async findByBody(keyId, { bodySha256, since }) {
      const row = await reader
        .selectFrom('video_tasks')
        .selectAll()
        .where('key_id', '=', keyId)
        .where('created_at', '>=', BigInt(since))
        .where('body_sha256', '=', bodySha256)
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .limit(1)
        .executeTakeFirst()
      return row === undefined ? undefined : decodeVideoTask({ ...row })
    },

    async patch(id, patch, holder) {
      if (patch.phase === 'ended') throw new Error('a video task ends by settle or abandon')
      return patches.submit({ id, patch, holder })
    },

    async find(id, keyId) {
      const row = await reader
        .selectFrom('video_tasks')
        .selectAll()
        .where('id', '=', id)
        .where('key_id', '=', keyId)
        .executeTakeFirst()
      return row === undefined ? undefined : decodeVideoTask({ ...row })
    },

    async read(id) {
      const row = await reader.selectFrom('video_tasks').selectAll().where('id', '=', id).executeTakeFirst()
      return row === undefined ? undefined : decodeVideoTask({ ...row })
    },

    list: (filter) => listTasks(reader, filter),

    lease: (options) => leaseTasks(engine, options),

    async release(holder) {
      await sql`update video_tasks set lease_until = 0 where lease_instance = ${holder} and ${OPEN}`.execute(
        writer,
      )
    },

    repoll: (id, at) =>
      write(async (transaction) => {
        const { rows } = await sql<StoredRow>`
          update video_tasks set due_at = ${at} where id = ${id} and ${OPEN} and due_at > ${at} returning id`.execute(
          transaction,
        )
        const value = rows.length > 0 || (await isOpen(transaction, id))
        return { value, changes: value ? [{ kind: 'video', id }] : [] }
      }),

    async nextDue() {
      const { rows } = await sql<{ due_at: bigint | null }>`
        select min(case when lease_instance <> ${instance} and lease_until > due_at then lease_until else due_at end)
          as due_at from video_tasks where ${OPEN}`.execute(reader)
      const due = rows[0]?.due_at ?? null
      return due === null ? undefined : Number(due)
    },

    async remove(id, keyId) {
      const { rows } = await sql<StoredRow>`
        delete from video_tasks where id = ${id} and key_id = ${keyId} and ${ENDED} returning id`.execute(
        writer,
      )
      return rows.length > 0
    },

    async expire(at, limit) {
      const { rows } = await sql<{ id: string; blob: string | null }>`
        delete from video_tasks where id in (
          select id from video_tasks where ${ENDED} and expires_at < ${at} order by expires_at
          limit ${pageLimit(limit)} ${engine.name === 'postgres' ? sql`for update skip locked` : sql``})
        returning id, blob`.execute(writer)
      return rows.map(({ id, blob }) => ({ id, blob: blob ?? undefined }))
    },
  }
}

/** Spelled as the partial indexes spell it, so that they are used. */
const OPEN = sql`phase <> 'ended'`
const ENDED = sql`phase = 'ended'`

/**
 * Recovery that thought this instance dead has moved the call to itself: a task that is written now would have none. While
 * the row is locked here, recovery leaves it alone.
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

/** Why the task could not be inserted. The same task again is a repetition whose first answer was lost. */
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

async function findStanding(
  reader: Kysely<Schema>,
  keyId: VideoTask['keyId'],
  idempotency: Idempotency,
): Promise<Exclude<VideoCreation, { kind: 'created' }> | undefined> {
  const row = await reader
    .selectFrom('video_tasks')
    .selectAll()
    .where('key_id', '=', keyId)
    .where('idempotency_sha256', '=', sha256(idempotency.key))
    .executeTakeFirst()
  if (row === undefined) return undefined
  if (row.body_sha256 !== idempotency.bodySha256) return { kind: 'other-body' }
  return { kind: 'joined', task: decodeVideoTask({ ...row }) }
}

function sha256(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex')
}

async function isOpen(transaction: Transaction<Schema>, id: string): Promise<boolean> {
  const { rows } = await sql<StoredRow>`
    select id from video_tasks where id = ${id} and ${OPEN}`.execute(transaction)
  return rows.length > 0
}

async function listTasks(
  reader: Kysely<Schema>,
  filter: Parameters<VideoStore['list']>[0],
): Promise<readonly VideoTask[]> {
  const { keyId, open, after, order, notExpiredAt } = filter
  let tasks = reader.selectFrom('video_tasks').selectAll()
  if (keyId !== undefined) tasks = tasks.where('key_id', '=', keyId)
  if (open === true) tasks = tasks.where(sql<boolean>`${OPEN}`)
  if (notExpiredAt !== undefined) tasks = tasks.where('expires_at', '>', BigInt(notExpiredAt))
  if (after !== undefined) {
    const { created_at: at, id } = await placeOf(reader, after, keyId)
    const beyond = order === 'asc' ? '>' : '<'
    tasks = tasks
      .where('created_at', order === 'asc' ? '>=' : '<=', at)
      .where((where) => where.or([where('created_at', beyond, at), where('id', beyond, id)]))
  }
  const rows = await tasks
    .orderBy('created_at', order)
    .orderBy('id', order)
    .limit(pageLimit(filter.limit))
    .execute()
  return rows.map((row) => decodeVideoTask({ ...row }))
}

async function placeOf(
  reader: Kysely<Schema>,
  id: string,
  keyId: VideoTask['keyId'] | undefined,
): Promise<{ readonly created_at: bigint; readonly id: string }> {
  let place = reader.selectFrom('video_tasks').select(['created_at', 'id']).where('id', '=', id)
  if (keyId !== undefined) place = place.where('key_id', '=', keyId)
  const row = await place.executeTakeFirst()
  if (row === undefined) throw new InvalidCursor()
  return row
}

type LeaseOptions = Parameters<VideoStore['lease']>[0]

/** Tasks whose call is in use just now are being settled, or leased by another instance: they are left out. */
async function leaseTasks(engine: SqlEngine, options: LeaseOptions): Promise<readonly VideoTask[]> {
  const limit = pageLimit(options.limit)
  const candidates = await sql<{ call_id: string }>`
    select call_id from video_tasks where ${isFree(options)} order by due_at limit ${limit}`.execute(
    engine.reader,
  )
  if (candidates.rows.length === 0) return []
  const calls = candidates.rows.map((row) => row.call_id)
  const rows = await engine.writer
    .transaction()
    .execute((transaction) => leaseCalls(engine, transaction, { calls, options }))
  return rows.map(decodeVideoTask).sort((first, second) => first.dueAt - second.dueAt)
}

async function leaseCalls(
  engine: SqlEngine,
  transaction: Transaction<Schema>,
  { calls, options }: { readonly calls: readonly string[]; readonly options: LeaseOptions },
): Promise<readonly StoredRow[]> {
  const { instance, until } = options
  const locked = await sql<{ call_id: string }>`
    select call_id from open_calls where call_id in (${sql.join(calls)}) order by call_id
    ${engine.name === 'postgres' ? sql`for no key update skip locked` : sql``}`.execute(transaction)
  const open = locked.rows.map((row) => row.call_id)
  if (open.length === 0) return []
  const { rows } = await sql<StoredRow>`
    update video_tasks set lease_instance = ${instance}, lease_until = ${until}
    where call_id in (${sql.join(open)}) and ${isFree(options)} returning *`.execute(transaction)
  if (rows.length > 0) {
    await sql`
      update open_calls set instance_id = ${instance}
      where call_id in (${sql.join(rows.map((row) => row['call_id']))}) and instance_id <> ${instance}`.execute(
      transaction,
    )
  }
  return rows
}

/** Due, and held by nobody else: a lease ends by its time, and with a process that is known to be gone. */
function isFree({ instance, at }: LeaseOptions): RawBuilder<boolean> {
  return sql<boolean>`${OPEN} and due_at <= ${at}
    and (lease_instance is null or lease_instance = ${instance} or lease_until <= ${at}
      or lease_instance in (select id from instances where heartbeat_at = 0))`
}
