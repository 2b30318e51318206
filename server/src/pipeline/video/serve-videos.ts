import type { Arrival } from '../call.ts'
import type { Asked } from '../kinds/kind.ts'
import type { ClientReply } from '../reply.ts'
import { serveContent } from './answer/serve-content.ts'
import { serveFile } from './answer/serve-file.ts'
import { serveOrder, type ServeOrderParts } from './order/serve-order.ts'
import { serveList, serveRead, serveRemove } from './answer/serve-task.ts'
import type { IncomingVideo, VideoAction, VideoEndpoint } from './video-call.ts'

/**
 * The path of a request to the video endpoints (docs/reference/contract.md#4.4). Resolves when the answer has gone;
 * never rejects.
 */
export async function serveVideos(
  pipeline: ServeOrderParts,
  arrival: Arrival & { readonly endpoint: VideoEndpoint },
  reply: ClientReply,
): Promise<void> {
  const action = actionOf(arrival.asked)
  const incoming = incomingVideo(arrival, action)
  switch (action.kind) {
    case 'create':
      return serveOrder(pipeline, incoming, reply)
    case 'list':
      return serveList(pipeline, incoming, reply, action)
    case 'read':
      return serveRead(pipeline, incoming, reply, action)
    case 'remove':
      return serveRemove(pipeline, incoming, reply, action)
    case 'content':
      return serveContent(pipeline, incoming, reply, action)
    case 'file':
      return serveFile(pipeline, incoming, reply, action)
  }
}

function incomingVideo(
  { call, endpoint, readForm }: Arrival & { readonly endpoint: VideoEndpoint },
  action: VideoAction,
): IncomingVideo {
  const { readBody: _readBody, ...rest } = call
  return { ...rest, endpoint, action, readForm }
}

function actionOf({ action, values, query, method }: Asked): VideoAction {
  const { video_id: id = '', file: key = '' } = values
  const body = method === 'HEAD' ? 'head-only' : 'wanted'
  switch (action) {
    case 'create':
      return { kind: 'create' }
    case 'list':
      return { kind: 'list', query: new URLSearchParams(query) }
    case 'read':
    case 'remove':
      return { kind: action, id }
    case 'content':
      return { kind: 'content', id, query: new URLSearchParams(query), body }
    case 'file':
      return { kind: 'file', key, query: new URLSearchParams(query), body }
    case undefined:
    default:
      throw new Error(`the path of a video asks for ${action ?? 'nothing'}`)
  }
}
