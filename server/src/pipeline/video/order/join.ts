/**
 * Orders that are repetitions: the same `Idempotency-Key` of the same API key, or the SDK's own retry of a POST it got no
 * answer to. They join the task that is there and never make a second one (docs/reference/contract.md#D-video-11).
 */
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import type { VideoTask } from '../../../core/video/task.ts'
import type { Pipeline } from '../../context.ts'
import type { Repeat, VideoOrder } from '../video-call.ts'

/** SDKs wait ten minutes by default and half an hour when told to; after this long a same order is meant anew. */
const RETRY_WITHIN_MS = 2 * 3_600_000

/** The task this order repeats; undefined: it is a new order. Throws 40004 for a key that stands for another body. */
export async function findRepeated(
  pipeline: Pick<Pipeline, 'blobs' | 'storage'>,
  order: VideoOrder,
): Promise<VideoTask | undefined> {
  const { videos } = pipeline.storage
  const { key, bodySha256, retried } = order.repeat
  if (key !== undefined) {
    const found = await videos.findByIdempotency(order.key.id, { key, bodySha256 })
    if (found?.kind === 'other-body') throw new GatewayError(40004)
    return found === undefined ? undefined : standing(pipeline, found.task, order.at)
  }
  if (!retried) return undefined
  const since = order.at - RETRY_WITHIN_MS
  const found = await videos.findByBody(order.key.id, { bodySha256, since })
  return found === undefined ? undefined : standing(pipeline, found, order.at)
}

/**
 * An order that no vendor ever had is no task to join: its record makes way for a new try. So does one that has expired and
 * was not swept away yet.
 */
export async function standing(
  pipeline: Pick<Pipeline, 'blobs' | 'storage'>,
  task: VideoTask,
  at: number,
): Promise<VideoTask | undefined> {
  const neverTaken = task.status === 'failed' && task.error?.accepted !== true
  if (!neverTaken && task.expiresAt > at) return task
  if (task.phase === 'ended' && task.blob !== undefined) await pipeline.blobs.remove(task.blob)
  if (await pipeline.storage.videos.remove(task.id, task.keyId)) return undefined
  return task.phase === 'ended' ? undefined : task
}

/**
 * Orders with one key go one after the other until the first is written: the others find its task instead of taking a slot
 * of the account's for nothing.
 */
export async function inTurn<Result>(
  pipeline: Pick<Pipeline, 'videos'>,
  order: { readonly key: Pick<VideoOrder['key'], 'id'>; readonly repeat: Pick<Repeat, 'key'> },
  work: () => Promise<Result>,
): Promise<Result> {
  const { key } = order.repeat
  if (key === undefined) return work()
  const { writing } = pipeline.videos
  const name = `${order.key.id} ${key}`
  while (writing.has(name)) await writing.get(name)
  let done: () => void = () => undefined
  writing.set(
    name,
    new Promise((resolve) => {
      done = resolve
    }),
  )
  try {
    return await work()
  } finally {
    writing.delete(name)
    done()
  }
}
