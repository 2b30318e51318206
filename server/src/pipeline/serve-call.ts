import { admit } from './stages/admit.ts'
import { authenticate } from './stages/authenticate.ts'
import { checkBackground } from './background/check-background.ts'
import { serveBackground } from './background/serve-background.ts'
import type { IncomingCall, StagedCall } from './call.ts'
import type { Pipeline } from './context.ts'
import { runReserved, type LeaveParts } from './exchange/leave.ts'
import { recall } from './stages/recall.ts'
import { receive } from './stages/receive.ts'
import { restrict } from './stages/restrictions.ts'
import { refuse } from './stages/refuse.ts'
import type { ClientReply } from './reply.ts'
import { reserve } from './stages/reserve.ts'
import { asksForVideo, serveChatOrder, type ServeChatOrderParts } from './video/order/serve-chat-order.ts'

export type ServeCallParts = LeaveParts & ServeChatOrderParts & Pick<Pipeline, 'models' | 'refuseWhenUnable'>

/**
 * The path of a call, one line per stage. Resolves when the answer has gone and the call is settled or abandoned;
 * never rejects: whatever goes wrong is answered, logged and paid back on the way.
 */
export async function serveCall(
  pipeline: ServeCallParts,
  incoming: IncomingCall,
  reply: ClientReply,
): Promise<void> {
  let call: StagedCall = incoming
  try {
    pipeline.refuseWhenUnable()
    call = await authenticate(pipeline, call)
    call = await receive(pipeline, call)
    restrict(pipeline, call)
    if (asksForVideo(pipeline, call)) return await serveChatOrder(pipeline, call, reply)
    call = await recall(pipeline, call)
    call = admit(pipeline, call)
    reply.tellModel(call.model.modelId)
    checkBackground(call)
    if (call.scan.background) return await serveBackground(pipeline, call, reply)
    call = await reserve(pipeline, call, call.endpoint.kind)
  } catch (error) {
    await refuse(pipeline, call, error, reply)
    return
  }
  await runReserved(pipeline, call, reply)
}
