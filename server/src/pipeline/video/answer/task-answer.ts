/** A task as an answer: its object, or the error it ended with. */
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { retryAfterHeader } from '../../../core/errors/retry-after.ts'
import type { JsonValue } from '../../../core/json.ts'
import type { VideoTask, VideoTaskError } from '../../../core/video/task.ts'
import { videoObject } from '../../../core/video/video-object.ts'
import type { LoggedCall } from '../../call.ts'
import type { Pipeline } from '../../context.ts'
import type { ClientReply } from '../../reply.ts'

/** SDKs poll at this interval; nothing changes faster. */
const POLL_AFTER_MS = 5_000

/**
 * Where the finished video is: the provider's public link, else a signed one of the gateway's; undefined: not finished.
 */
export function urlOf(pipeline: Pick<Pipeline, 'videos'>, task: VideoTask): string | undefined {
  if (task.status !== 'completed') return undefined
  if (task.blob !== undefined) return pipeline.videos.links.sign(task.blob, task.expiresAt)
  return task.url
}

export function objectOf(
  pipeline: Pick<Pipeline, 'videos'>,
  task: VideoTask,
): ReturnType<typeof videoObject> {
  return videoObject(task, urlOf(pipeline, task))
}

export function sendTask(
  pipeline: Pick<Pipeline, 'videos'>,
  reply: ClientReply,
  answer: {
    readonly task: VideoTask
    readonly status: number
    readonly headers?: Readonly<Record<string, string>>
  },
): void {
  const { task, status, headers = {} } = answer
  reply.setModel(task.modelId)
  const waits = task.status === 'queued' || task.status === 'in_progress'
  sendJson(reply, status, objectOf(pipeline, task), {
    ...(waits ? { 'openai-poll-after-ms': String(POLL_AFTER_MS) } : {}),
    ...headers,
  })
}

export function sendJson(
  reply: ClientReply,
  status: number,
  body: JsonValue | Uint8Array,
  headers: Readonly<Record<string, string>> = {},
): void {
  const bytes = body instanceof Uint8Array ? body : Buffer.from(JSON.stringify(body))
  reply.start({
    status,
    headers: { 'content-type': 'application/json', ...headers },
    contentLength: bytes.byteLength,
  })
  reply.write(bytes)
  reply.end()
}

/**
 * The error of a task that failed: the upstream's own, or the gateway's envelope. If a vendor had the task, SDKs are
 * told not to retry automatically, because that would be another paid order.
 */
export function sendTaskError(reply: ClientReply, call: LoggedCall, error: VideoTaskError): void {
  const headers: Readonly<Record<string, string>> =
    error.accepted === true ? { 'x-should-retry': 'false' } : {}
  if (error.gatewayCode !== undefined) {
    reply.fail(
      new GatewayError(error.gatewayCode, {
        message: error.message,
        status: error.status,
        headers,
        ...(error.body === undefined ? {} : { upstreamBody: error.body }),
        ...(error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs }),
      }),
      call,
    )
    return
  }
  sendJson(reply, error.status, error.body ?? { error: { message: error.message, code: error.code } }, {
    ...retryAfterHeader(error.status, error.retryAfterMs),
    ...headers,
  })
}
