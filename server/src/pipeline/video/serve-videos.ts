import type { Pipeline } from '../context.ts'
import type { ClientReply } from '../reply.ts'
import { serveContent } from './answer/serve-content.ts'
import { serveFile } from './answer/serve-file.ts'
import { serveOrder } from './order/serve-order.ts'
import { serveList, serveRead, serveRemove } from './answer/serve-task.ts'
import type { IncomingVideo } from './video-call.ts'

/** The path of a request to the video endpoints (contract §4.4). Resolves when the answer has gone; never rejects. */
export function serveVideos(pipeline: Pipeline, incoming: IncomingVideo, reply: ClientReply): Promise<void> {
  const { action } = incoming
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
