import { GatewayError } from '../../../core/errors/gateway-error.ts'
import type { Pipeline } from '../../context.ts'
import type { ClientReply } from '../../reply.ts'
import { sendBlob } from './send-blob.ts'
import { answering } from './serve-task.ts'
import type { IncomingVideo, VideoAction } from '../video-call.ts'

type ServeFileParts = Pick<Pipeline, 'blobs' | 'telemetry' | 'videos'>

/**
 * The gateway's signed link, followed without an API key: 403 if it was not made here or has expired, 404 if its bytes
 * were removed.
 */
export function serveFile(
  pipeline: ServeFileParts,
  call: IncomingVideo,
  reply: ClientReply,
  action: Extract<VideoAction, { kind: 'file' }>,
): Promise<void> {
  return answering(pipeline, call, reply, async () => {
    if (!pipeline.videos.links.holds(action.key, action.query, call.at)) throw new GatewayError(40306)
    const wanted = { key: action.key, range: call.headers['range'], body: action.body }
    if (!(await sendBlob(pipeline, reply, wanted))) throw new GatewayError(40403)
  })
}
