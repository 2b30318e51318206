import type { Arrival, IncomingCall } from './call.ts'
import type { ClientReply } from './reply.ts'
import { serveCall, type ServeCallParts } from './serve-call.ts'
import { serveCount, type ServeCountParts } from './serve-count.ts'
import { serveStored } from './serve-stored.ts'
import { serveVideos } from './video/serve-videos.ts'

export type ServeParts = ServeCallParts & ServeCountParts

/** Serves a call of any kind. Resolves when the answer has gone and the call has come to its end; never rejects. */
export async function serve(pipeline: ServeParts, arrival: Arrival, reply: ClientReply): Promise<void> {
  const { endpoint } = arrival.call
  const { protocol } = endpoint
  // Only orders of videos speak no language that could be converted or passed on.
  if (protocol === 'video')
    return serveVideos(pipeline, { ...arrival, endpoint: { ...endpoint, protocol } }, reply)
  const call: IncomingCall = { ...arrival.call, endpoint: { ...endpoint, protocol } }
  switch (endpoint.kind.flow) {
    case 'exchange':
      return serveCall(pipeline, call, reply)
    case 'count':
      return serveCount(pipeline, call, reply)
    case 'stored':
      return serveStored(pipeline, call, reply, arrival.asked)
    case 'task':
      throw new Error(`the kind ${endpoint.kind.id} has no orders over ${protocol}`)
  }
}
