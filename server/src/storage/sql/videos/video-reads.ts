/** Reads of video tasks: for their keys, for lists, and for repeated orders. */
import { createHash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import type { VideoTask } from '../../../core/video/task.ts'
import { InvalidCursor } from '../../failures/invalid-cursor.ts'
import type { VideoCreation, VideoStore } from '../../stores/videos.ts'
import { pageLimit } from '../page.ts'
import type { Schema } from '../schema.ts'
import { decodeVideoTask } from './video-task-row.ts'

export type VideoReads = Pick<VideoStore, 'find' | 'read' | 'list' | 'findByIdempotency' | 'findByBody'>

export type Idempotency = Parameters<VideoStore['findByIdempotency']>[1]

export function createVideoReads(reader: Kysely<Schema>): VideoReads {
  return {
    async find(id, keyId) {
      const row = await reader
        .selectFrom('video_tasks')
        .selectAll()
        .where('id', '=', id)
        .where('key_id', '=', keyId)
        .where('kind', '=', 'video')
        .executeTakeFirst()
      return row === undefined ? undefined : decodeVideoTask({ ...row })
    },

    async read(id) {
      const row = await reader.selectFrom('video_tasks').selectAll().where('id', '=', id).executeTakeFirst()
      return row === undefined ? undefined : decodeVideoTask({ ...row })
    },

    list: (filter) => listTasks(reader, filter),

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
  }
}

/** Written exactly as in the partial indexes, so that they are used. */
export const OPEN = sql`phase <> 'ended'`
export const ENDED = sql`phase = 'ended'`

export async function findStanding(
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

export function sha256(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex')
}

async function listTasks(
  reader: Kysely<Schema>,
  filter: Parameters<VideoStore['list']>[0],
): Promise<readonly VideoTask[]> {
  const { kind, keyId, accountId, modelId, chainId, status, open, after, order, notExpiredAt } = filter
  let tasks = reader.selectFrom('video_tasks').selectAll()
  if (kind !== undefined) tasks = tasks.where('kind', '=', kind)
  if (keyId !== undefined) tasks = tasks.where('key_id', '=', keyId)
  if (accountId !== undefined) tasks = tasks.where('account_id', '=', accountId)
  if (modelId !== undefined) tasks = tasks.where('model_id', '=', modelId)
  if (chainId !== undefined) tasks = tasks.where('chain_id', '=', BigInt(chainId))
  if (status !== undefined) tasks = tasks.where('status', '=', status)
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
