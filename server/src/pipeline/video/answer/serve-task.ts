/**
 * Reading, listing and removing tasks. They are stored records: no vendor is contacted
 * (docs/reference/contract.md#4.4).
 */
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import type { VideoTask } from '../../../core/video/task.ts'
import { InvalidCursor } from '../../../storage/failures/invalid-cursor.ts'
import { hashKey } from '../../../storage/key-hash.ts'
import { StorageUnavailable } from '../../../storage/failures/unavailable.ts'
import { checkAddress, findHolderNow, presentedKey } from '../../stages/authenticate.ts'
import type { KeyHolder } from '../../instance/directory.ts'
import type { Pipeline } from '../../context.ts'
import { asGatewayError } from '../../exchange/leave.ts'
import type { ClientReply } from '../../reply.ts'
import { objectOf, sendJson, sendTask } from './task-answer.ts'
import type { IncomingVideo, VideoAction } from '../video-call.ts'

type ServeTaskParts = Pick<Pipeline, 'blobs' | 'directory' | 'storage' | 'telemetry' | 'videos'>

type Action<Kind extends VideoAction['kind']> = Extract<VideoAction, { kind: Kind }>

export function serveRead(
  pipeline: ServeTaskParts,
  call: IncomingVideo,
  reply: ClientReply,
  { id }: Action<'read'>,
): Promise<void> {
  return answering(pipeline, call, reply, async () => {
    sendTask(pipeline, reply, { task: await ownTask(pipeline, call, id), status: 200 })
  })
}

/**
 * Only the platform's record is removed: nothing is refunded, and nothing is removed upstream
 * (docs/reference/contract.md#3).
 */
export function serveRemove(
  pipeline: ServeTaskParts,
  call: IncomingVideo,
  reply: ClientReply,
  { id }: Action<'remove'>,
): Promise<void> {
  return answering(pipeline, call, reply, async () => {
    const task = await ownTask(pipeline, call, id)
    reply.setModel(task.modelId)
    if (task.phase !== 'ended') {
      throw new GatewayError(40000, { status: 409, message: 'this video is not finished yet' })
    }
    // The bytes are removed first: without the record nothing would refer to them.
    if (task.blob !== undefined) await pipeline.blobs.remove(task.blob)
    if (!(await pipeline.storage.videos.remove(id, task.keyId))) throw new GatewayError(40402)
    sendJson(reply, 200, { id, object: 'video.deleted', deleted: true })
  })
}

const PAGE_DEFAULT = 20
const PAGE_MAX = 100

export function serveList(
  pipeline: ServeTaskParts,
  call: IncomingVideo,
  reply: ClientReply,
  { query }: Action<'list'>,
): Promise<void> {
  return answering(pipeline, call, reply, async () => {
    const { key } = await holderOf(pipeline, call)
    const limit = pageLimit(query.get('limit'))
    const tasks = await pipeline.storage.videos.list({
      kind: 'video',
      keyId: key.id,
      // One more shows whether there are further tasks.
      limit: limit + 1,
      after: query.get('after') ?? undefined,
      order: orderOf(query.get('order')),
      notExpiredAt: call.at,
    })
    const page = tasks.slice(0, limit)
    sendJson(reply, 200, {
      object: 'list',
      data: page.map((task) => objectOf(pipeline, task)),
      has_more: tasks.length > limit,
      first_id: page[0]?.id ?? null,
      last_id: page.at(-1)?.id ?? null,
    })
  })
}

function pageLimit(text: string | null): number {
  if (text === null) return PAGE_DEFAULT
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (limit < 1) throw new GatewayError(40000, { message: `limit must be a number from 1 to ${PAGE_MAX}` })
  return Math.min(limit, PAGE_MAX)
}

function orderOf(text: string | null): 'asc' | 'desc' {
  if (text === null || text === 'desc') return 'desc'
  if (text === 'asc') return 'asc'
  throw new GatewayError(40000, { message: 'order must be asc or desc' })
}

/** The caller's own task while it is stored; any other is answered as not found (docs/reference/contract.md#2.5). */
export async function ownTask(
  pipeline: Pick<Pipeline, 'directory' | 'storage'>,
  call: IncomingVideo,
  id: string,
): Promise<VideoTask> {
  const { key } = await holderOf(pipeline, call)
  const task = await pipeline.storage.videos.find(id, key.id)
  if (task === undefined || task.expiresAt <= call.at) throw new GatewayError(40402)
  return task
}

async function holderOf(
  pipeline: Pick<Pipeline, 'directory' | 'storage'>,
  call: IncomingVideo,
): Promise<KeyHolder> {
  const holder = await findHolderNow(pipeline, hashKey(presentedKey(call)), call.at)
  checkAddress({ key: holder.key, ip: call.ip })
  if (holder.account.status === 'suspended') throw new GatewayError(40303)
  return holder
}

/** Every failure is answered, once. */
export async function answering(
  pipeline: Pick<Pipeline, 'telemetry'>,
  call: IncomingVideo,
  reply: ClientReply,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work()
  } catch (error) {
    const refusal = refusalOf(error)
    if (refusal.code === 50000) {
      pipeline.telemetry.log.error({ requestId: call.requestId, error }, 'a video request failed')
    }
    if (reply.started) reply.destroy()
    else if (!reply.gone) reply.fail(refusal, call)
  }
}

function refusalOf(error: unknown): GatewayError {
  if (error instanceof StorageUnavailable)
    return new GatewayError(50301, { cause: error, retryAfterMs: 1_000 })
  if (error instanceof InvalidCursor) {
    return new GatewayError(40000, { message: 'after is not the id of a video of this key' })
  }
  return asGatewayError(error)
}
