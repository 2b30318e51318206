/**
 * A background response whose POST is repeated with the same `Idempotency-Key`: its present state is returned, and no
 * second response is created.
 */
import type { JsonObject } from '../../core/json.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { VideoTask } from '../../core/video/task.ts'
import { hashBody } from '../../upstream/hash-body.ts'
import { findHolderNow } from '../stages/authenticate.ts'
import type { AdmittedCall } from '../call.ts'
import type { Pipeline } from '../context.ts'
import { standing } from '../video/order/take-order.ts'
import { idempotencyKeyOf } from '../video/order/read-order.ts'
import { shownBackground } from './stored-background.ts'

export type RepeatedResponseParts = Pick<Pipeline, 'directory' | 'now' | 'storage' | 'turns'>

export interface OrderName {
  /** A name space separate from the keys of videos. */
  readonly key: string
  /** SHA-256 of the request's bytes, lower-case hex. */
  readonly bodySha256: string
}

/** undefined: the client sent no key. Throws 40000 for an invalid key. */
export async function nameOfOrder({
  headers,
  body,
}: Pick<AdmittedCall, 'headers' | 'body'>): Promise<OrderName | undefined> {
  const key = idempotencyKeyOf(headers)
  if (key === undefined) return undefined
  return { key: `response ${key}`, bodySha256: await hashBody(body.chunks, body.length) }
}

/** The task that an order repeats; undefined: it is a new one. Throws 40004 for a key that was used with another request. */
export async function findRepeatedOrder(
  pipeline: Pick<Pipeline, 'blobs' | 'storage'>,
  call: Pick<AdmittedCall, 'key' | 'at'>,
  name: OrderName,
): Promise<VideoTask | undefined> {
  const found = await pipeline.storage.videos.findByIdempotency(call.key.id, name)
  if (found?.kind === 'other-body') throw new GatewayError(40004)
  return found === undefined ? undefined : standing(pipeline, found.task, call.at)
}

export type Repeated =
  | { readonly kind: 'told'; readonly response: JsonObject | Uint8Array }
  /** It failed, and it is not known whether an upstream had it. */
  | { readonly kind: 'failed'; readonly error: NonNullable<VideoTask['error']> }

/**
 * A repeated request makes no reservation, so the key is checked again here. Throws 50301 while the first is still
 * being sent.
 */
export async function answerRepeated(
  pipeline: RepeatedResponseParts,
  { key, at }: Pick<AdmittedCall, 'key' | 'at'>,
  task: VideoTask,
): Promise<Repeated> {
  await findHolderNow(pipeline, key.hash, at)
  const id = task.state['id']
  const turn = typeof id === 'string' ? await pipeline.turns.find(key.id, id, at) : undefined
  const content = turn?.content
  if (content?.kind === 'upstream' && content.background !== undefined)
    return { kind: 'told', response: await shownBackground(pipeline, task, content.background.shown) }
  if (task.error !== undefined) return { kind: 'failed', error: task.error }
  throw new GatewayError(50301, {
    message: 'the response is being ordered, send it again in a moment',
    retryAfterMs: AGAIN_MS,
  })
}

const AGAIN_MS = 2_000
