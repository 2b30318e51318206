/**
 * `GET …/content`: the bytes, from the gateway's own store or directly from the provider's link, all or a range of
 * them.
 */
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { isJsonObject } from '../../../core/json.ts'
import type { VideoTask } from '../../../core/video/task.ts'
import { type StreamedAnswer, TransportError } from '../../../upstream/remote/read-answer.ts'
import type { Pipeline } from '../../context.ts'
import type { ClientReply } from '../../reply.ts'
import { linkTimeouts } from './fetch-video.ts'
import { renewLink } from './renew-link.ts'
import { sendStream } from './send-stream.ts'
import { sendBlob } from './send-blob.ts'
import { answering, ownTask } from './serve-task.ts'
import type { IncomingVideo, VideoAction } from '../video-call.ts'
import { videoVendorOfTask } from '../task/vendor-of-task.ts'
import type { FoundVendor } from '../task/video-vendor.ts'
import { trustedHostOf } from '../../attempt/dialect.ts'

type ServeContentParts = Pick<
  Pipeline,
  'blobs' | 'catalogue' | 'directory' | 'now' | 'storage' | 'streamRemote' | 'telemetry' | 'upstream'
>

type ContentAction = Extract<VideoAction, { kind: 'content' }>

export function serveContent(
  pipeline: ServeContentParts,
  call: IncomingVideo,
  reply: ClientReply,
  action: ContentAction,
): Promise<void> {
  return answering(pipeline, call, reply, async () => {
    const task = await ownTask(pipeline, call, action.id)
    reply.setModel(task.modelId)
    refuseUnfinished(task)
    const variant = action.query.get('variant') ?? 'video'
    if (variant !== 'video') {
      throw new GatewayError(40000, {
        message: `the variant ${variant.slice(0, 40)} is not available, only video`,
      })
    }
    const wanted = { range: call.headers['range'], body: action.body }
    if (task.blob !== undefined) {
      if (await sendBlob(pipeline, reply, { key: task.blob, ...wanted })) return
      throw new GatewayError(50210)
    }
    await sendFromProvider(pipeline, reply, task, wanted)
  })
}

function refuseUnfinished(task: VideoTask): void {
  if (task.status === 'completed') return
  if (task.status !== 'failed') {
    throw new GatewayError(40000, { status: 409, message: 'this video is not finished yet' })
  }
  const { code = 'unknown', message = 'no reason is known' } = task.error ?? {}
  throw new GatewayError(40000, {
    status: 409,
    message: `this video failed: ${message}`,
    details: { code, message },
    ...(isJsonObject(task.error?.body) ? { upstreamBody: task.error.body } : {}),
  })
}

export interface WantedBytes {
  /** The `Range` header. */
  readonly range: string | undefined
  readonly body: 'wanted' | 'head-only'
}

/** The provider's link may have expired early: it is renewed if the provider supports that, else the answer is 410. */
async function sendFromProvider(
  pipeline: ServeContentParts,
  reply: ClientReply,
  task: VideoTask,
  wanted: WantedBytes,
): Promise<void> {
  const vendor = await videoVendorOfTask(pipeline, task)
  const answer =
    (await openAt(pipeline, vendor, task.url, wanted)) ??
    (await openAt(pipeline, vendor, await renewLink(pipeline, task, vendor), wanted))
  if (answer === undefined) throw new GatewayError(50210)
  const { headers } = answer
  const length = Number(headers['content-length'] ?? Number.NaN)
  const range = headers['content-range']
  reply.start({
    status: answer.status,
    headers: {
      'content-type': 'video/mp4',
      'accept-ranges': 'bytes',
      ...(typeof range === 'string' ? { 'content-range': range } : {}),
    },
    contentLength: Number.isFinite(length) ? length : undefined,
  })
  if (wanted.body === 'head-only') {
    answer.abort()
    reply.end()
    return
  }
  try {
    await sendStream(reply, answer.body)
  } catch (error) {
    if (!(error instanceof TransportError)) throw error
    reply.destroy()
  }
}

/** undefined: there is no video at this link. */
async function openAt(
  pipeline: Pick<Pipeline, 'streamRemote'>,
  vendor: FoundVendor,
  url: string | undefined,
  wanted: WantedBytes,
): Promise<StreamedAnswer | undefined> {
  if (url === undefined) return undefined
  const found = vendor.kind === 'found' ? vendor : undefined
  const opened = await pipeline.streamRemote(url, {
    trustedHost: found === undefined ? undefined : trustedHostOf(found),
    headers: wanted.range === undefined ? {} : { range: wanted.range },
    timeouts: linkTimeouts(found?.vendor.timeouts ?? LINK_TIMEOUTS),
  })
  if (opened.kind === 'refused') return undefined
  const { answer } = opened
  if (answer.status === 200 || answer.status === 206 || answer.status === 416) return answer
  answer.abort()
  return undefined
}

const LINK_TIMEOUTS = { connectMs: 10_000, firstByteMs: 30_000, idleMs: 60_000 }
