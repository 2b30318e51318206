import type { Gateway } from '../gateway.ts'
import type { ClientReply } from '../reply.ts'
import { serveContent } from './serve-content.ts'
import { serveFile } from './serve-file.ts'
import { serveOrder } from './serve-order.ts'
import { serveList, serveRead, serveRemove } from './serve-task.ts'
import type { IncomingVideo } from './video-call.ts'

/** The path of a request to the video endpoints (contract §4.4). Resolves when the answer has gone; never rejects. */
export function serveVideos(gateway: Gateway, incoming: IncomingVideo, reply: ClientReply): Promise<void> {
  const { action } = incoming
  switch (action.kind) {
    case 'create':
      return serveOrder(gateway, incoming, reply)
    case 'list':
      return serveList(gateway, incoming, reply, action)
    case 'read':
      return serveRead(gateway, incoming, reply, action)
    case 'remove':
      return serveRemove(gateway, incoming, reply, action)
    case 'content':
      return serveContent(gateway, incoming, reply, action)
    case 'file':
      return serveFile(gateway, incoming, reply, action)
  }
}
