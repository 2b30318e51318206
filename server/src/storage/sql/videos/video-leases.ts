/** Which instance works on which video task, and when. */
import { type RawBuilder, sql, type Transaction } from 'kysely'
import type { InstanceId } from '../../../core/ids.ts'
import type { VideoTask } from '../../../core/video/task.ts'
import type { VideoStore } from '../../stores/videos.ts'
import type { AnnouncedWrite } from '../announced-write.ts'
import type { SqlEngine } from '../engine.ts'
import { pageLimit } from '../page.ts'
import type { Schema } from '../schema.ts'
import type { StoredRow } from '../table.ts'
import { OPEN } from './video-reads.ts'
import { decodeVideoTask } from './video-task-row.ts'

export interface VideoStoreOptions {
  readonly engine: SqlEngine
  readonly write: AnnouncedWrite
  readonly instance: InstanceId
}

export type VideoLeases = Pick<VideoStore, 'lease' | 'release' | 'repoll' | 'nextDue'>

export function createVideoLeases({ engine, write, instance }: VideoStoreOptions): VideoLeases {
  const { reader, writer } = engine
  return {
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
  }
}

async function isOpen(transaction: Transaction<Schema>, id: string): Promise<boolean> {
  const { rows } = await sql<StoredRow>`
    select id from video_tasks where id = ${id} and ${OPEN}`.execute(transaction)
  return rows.length > 0
}

type LeaseOptions = Parameters<VideoStore['lease']>[0]

/** Tasks whose call is locked are being settled, or leased by another instance: they are skipped. */
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

/** Due, and not leased by another instance: a lease ends at its time, or when its process is known to have ended. */
function isFree({ instance, at }: LeaseOptions): RawBuilder<boolean> {
  return sql<boolean>`${OPEN} and due_at <= ${at}
    and (lease_instance is null or lease_instance = ${instance} or lease_until <= ${at}
      or lease_instance in (select id from instances where heartbeat_at = 0))`
}
