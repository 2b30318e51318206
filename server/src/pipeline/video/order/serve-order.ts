/**
 * `POST /v1/videos`: synchronous as the contract requires, or accepted at once if the client prefers that
 * (docs/reference/contract.md#D-video-05, #D-video-07).
 */
import { authenticate, restrict } from '../../stages/authenticate.ts'
import { refuse, type RefuseParts } from '../../stages/refuse.ts'
import type { RefusedCall } from '../../call.ts'
import type { Pipeline } from '../../context.ts'
import { answerHeaders } from '../../headers.ts'
import type { ClientReply } from '../../reply.ts'
import { awaitEnd, type AwaitEndParts } from '../answer/await-end.ts'
import { decodeDetail } from '../../../core/video/task-detail.ts'
import type { VideoTask } from '../../../core/video/task.ts'
import { type ReceiveVideoParts, receiveVideo } from './read-order.ts'
import { type TakenOrder, takeOrder, type TakeOrderParts } from './take-order.ts'
import { sendTask, sendTaskError } from '../answer/task-answer.ts'
import type { IncomingVideo, VideoOrder } from '../video-call.ts'

export type ServeOrderParts = TakeOrderParts &
  RefuseParts &
  AwaitEndParts &
  ReceiveVideoParts &
  Pick<Pipeline, 'refuseWhenUnable'>

export async function serveOrder(
  pipeline: ServeOrderParts,
  incoming: IncomingVideo,
  reply: ClientReply,
): Promise<void> {
  let call: RefusedCall = incoming
  let order: VideoOrder
  let taken: TakenOrder
  try {
    pipeline.refuseWhenUnable()
    const authenticated = await authenticate(pipeline, incoming)
    call = authenticated
    order = await receiveVideo(pipeline, authenticated)
    call = order
    restrict(order)
    taken = await takeOrder(pipeline, order)
  } catch (error) {
    await refuse(pipeline, call, error, reply)
    return
  }
  const { task } = taken
  if (prefersAsync(order) && task.phase !== 'ended') {
    sendTask(pipeline, reply, { task, status: 202, headers: { 'preference-applied': 'respond-async' } })
    return
  }
  const ended = await awaitEnd(pipeline, taken, reply)
  if (ended === undefined) return
  sendEnd(pipeline, reply, { order, taken, ended })
}

/** RFC 7240: preferences are a list, each may have parameters. */
function prefersAsync({ headers }: VideoOrder): boolean {
  return (headers['prefer'] ?? '')
    .toLowerCase()
    .split(/[,;]/)
    .some((preference) => preference.trim() === 'respond-async')
}

function sendEnd(
  pipeline: Pick<Pipeline, 'videos'>,
  reply: ClientReply,
  answer: { readonly order: VideoOrder; readonly taken: TakenOrder; readonly ended: VideoTask },
): void {
  const { order, taken, ended } = answer
  reply.setModel(ended.modelId)
  if (ended.status === 'failed' && ended.error !== undefined) {
    sendTaskError(reply, order, ended.error)
    return
  }
  const headers = answerHeaders(taken, ended.modelId, decodeDetail(ended.detail).dropped)
  sendTask(pipeline, reply, { task: ended, status: 200, headers })
}
