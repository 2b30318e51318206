import { admit } from './admit.ts'
import { authenticate } from './authenticate.ts'
import { checkBackground } from './background/check-background.ts'
import { serveBackground } from './background/serve-background.ts'
import type { IncomingCall, StagedCall } from './call.ts'
import type { Gateway } from './gateway.ts'
import { runReserved } from './leave.ts'
import { recall } from './recall.ts'
import { receive, restrict } from './receive.ts'
import { refuse } from './refuse.ts'
import type { ClientReply } from './reply.ts'
import { reserve } from './reserve.ts'
import { asksForVideo, serveChatOrder } from './video/serve-chat-order.ts'

/**
 * The path of a call, one line per stage. Resolves when the answer has gone and the call is settled or abandoned;
 * never rejects: whatever goes wrong is answered, logged and paid back on the way.
 */
export async function serveCall(gateway: Gateway, incoming: IncomingCall, reply: ClientReply): Promise<void> {
  let call: StagedCall = incoming
  try {
    gateway.refuseWhenUnable()
    call = await authenticate(gateway, call)
    call = await receive(gateway, call)
    restrict(gateway, call)
    if (asksForVideo(gateway, call)) return await serveChatOrder(gateway, call, reply)
    call = await recall(gateway, call)
    call = admit(gateway, call)
    reply.tellModel(call.model.modelId)
    checkBackground(call)
    if (call.scan.background) return await serveBackground(gateway, call, reply)
    call = await reserve(gateway, call)
  } catch (error) {
    await refuse(gateway, call, error, reply)
    return
  }
  await runReserved(gateway, call, reply)
}
