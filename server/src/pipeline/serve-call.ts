import { isProtocolId } from '../core/catalogue.ts'
import { type AttemptParts, attempt } from './attempt/attempt.ts'
import { admit, checkBackground } from './stages/admit.ts'
import { authenticate, restrict } from './stages/authenticate.ts'
import { serveBackground } from './background/serve-background.ts'
import type { Arrival, ArrivingCall, IncomingCall, ReceivedCall, StagedCall } from './call.ts'
import type { Pipeline } from './context.ts'
import { makesOnlyVideos } from './instance/model-facts.ts'
import { type LeaveParts, runReserved } from './exchange/leave.ts'
import { recall } from './stages/recall.ts'
import { type MeasureSoundParts, measureSound } from './stages/measure-sound.ts'
import { receive } from './stages/receive.ts'
import { refuse } from './stages/refuse.ts'
import type { ClientReply } from './reply.ts'
import { reserve } from './stages/reserve.ts'
import { type ServeChatOrderParts, serveChatOrder } from './video/order/serve-chat-order.ts'
import { type ServeCountParts, serveCount } from './serve-count.ts'
import { serveStored } from './serve-stored.ts'
import { serveVideos } from './video/serve-videos.ts'

export type ServeParts = ServeCallParts & ServeCountParts

/** Serves a call of any kind. Resolves when the answer was sent and the call has ended; never rejects. */
export async function serve(pipeline: ServeParts, arrival: Arrival, reply: ClientReply): Promise<void> {
  const { call } = arrival
  if (!hasWire(call)) return serveVideos(pipeline, arrival, reply)
  const { kind, protocol } = call.endpoint
  switch (kind.flow) {
    case 'exchange':
      return serveCall(pipeline, call, reply)
    case 'count':
      return serveCount(pipeline, call, reply)
    case 'stored':
      return serveStored(pipeline, call, reply, arrival.asked)
    case 'task':
      throw new Error(`the kind ${kind.id} has no orders over ${protocol}`)
  }
}

/** Only video orders have a protocol that is neither converted nor passed on. */
function hasWire(call: ArrivingCall): call is IncomingCall {
  return call.endpoint.protocol !== 'video'
}

type ServeCallParts = AttemptParts &
  LeaveParts &
  MeasureSoundParts &
  ServeChatOrderParts &
  Pick<Pipeline, 'bodyBlocks' | 'bodyFiles' | 'models' | 'refuseWhenUnable'>

/**
 * The path of a call, one line per stage. Resolves when the answer has been sent and the call is settled or abandoned;
 * never rejects: every failure is answered, logged and refunded on the way.
 */
async function serveCall(
  pipeline: ServeCallParts,
  incoming: IncomingCall,
  reply: ClientReply,
): Promise<void> {
  let call: StagedCall = incoming
  try {
    pipeline.refuseWhenUnable()
    const known = authenticate(pipeline, call)
    call = known instanceof Promise ? await known : known
    const arrived = receive(pipeline, call)
    call = arrived instanceof Promise ? await arrived : arrived
    restrict(call)
    if (asksForVideo(call)) return await serveChatOrder(pipeline, call, reply)
    const recalled = recall(pipeline, call)
    call = recalled instanceof Promise ? await recalled : recalled
    if (call.endpoint.kind.form?.listens === true) call = await measureSound(pipeline, call)
    call = admit(pipeline, call)
    reply.setModel(call.model.modelId)
    checkBackground(call)
    if (call.scan.background) return await serveBackground(pipeline, call, reply)
    call = await reserve(pipeline, call, call.endpoint.kind)
  } catch (error) {
    await refuse(pipeline, call, error, reply)
    return
  }
  const reserved = call
  await runReserved(pipeline, reserved, reply, () => attempt(pipeline, reserved, reply))
}

/** The model of a chat-type call can only make videos. */
function asksForVideo({ endpoint, modelId, catalogue }: ReceivedCall): boolean {
  if (!isProtocolId(endpoint.protocol)) return false
  const model = catalogue.models.get(modelId)
  return model?.status === 'enabled' && makesOnlyVideos(model)
}
