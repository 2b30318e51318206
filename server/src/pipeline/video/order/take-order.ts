/** From an order to its task: a new one that is on its way upstream, or the one it repeats. */
import type { Pipeline } from '../../context.ts'
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import type { VideoTask } from '../../../core/video/task.ts'
import { findHolderNow } from '../../stages/authenticate.ts'
import { baseLogRow } from '../../stages/log-row.ts'
import { persist } from '../../stages/persist.ts'
import { VIDEO } from '../../kinds/video.ts'
import { reserve } from '../../stages/reserve.ts'
import { admitVideo } from './admit-video.ts'
import { createTask, newTaskId } from './create-task.ts'
import { createUpstream, type CreationParts } from './creation.ts'
import { findRepeated, inTurn } from './join.ts'
import { videoOrdering, type OrderVideoParts } from './order-video.ts'
import { gatewayFailure } from '../task/task-error.ts'
import type { ReservedVideo, VideoOrder } from '../video-call.ts'

export type TakeOrderParts = CreationParts & OrderVideoParts & Pick<Pipeline, 'models'>

export interface TakenOrder {
  readonly task: VideoTask
  readonly joined: boolean
  /** What the reservation says about windows; none for a joined task. */
  readonly reservation: ReservedVideo['reservation'] | undefined
}

/** Throws the refusal that applies. From `create` on the task goes its way whatever becomes of the client. */
export function takeOrder(pipeline: TakeOrderParts, order: VideoOrder): Promise<TakenOrder> {
  return inTurn(pipeline, order, () => take(pipeline, order))
}

async function take(pipeline: TakeOrderParts, order: VideoOrder): Promise<TakenOrder> {
  const admitted = admitVideo(pipeline, order)
  const repeated = await findRepeated(pipeline, order)
  if (repeated !== undefined) return join(pipeline, order, repeated)
  const reserved = await reserve(pipeline, admitted, VIDEO)
  const created = await create(pipeline, reserved)
  if (created.kind === 'created') {
    const { open } = created
    pipeline.telemetry.background.track(
      createUpstream(pipeline, reserved, { open, ordering: videoOrdering(pipeline, reserved) }),
      'order a video',
    )
    return { task: open.task, joined: false, reservation: reserved.reservation }
  }
  // Another instance was faster: what was taken here is given back.
  await giveBack(pipeline, reserved, undefined)
  if (created.kind === 'other-body') throw new GatewayError(40004)
  order.body.release()
  return { task: created.task, joined: true, reservation: undefined }
}

/** No reservation stands behind a joined task, so the key is looked at once more. */
async function join(pipeline: TakeOrderParts, order: VideoOrder, task: VideoTask): Promise<TakenOrder> {
  await findHolderNow(pipeline, order.key.hash, order.at)
  order.body.release()
  const at = pipeline.now()
  const log = { ...baseLogRow(order, at), httpStatus: 200, model: task.modelId, ending: 'complete' as const }
  await pipeline.storage.calls.log({ log })
  return { task, joined: true, reservation: undefined }
}

async function create(pipeline: TakeOrderParts, order: ReservedVideo): ReturnType<typeof createTask> {
  const id = newTaskId()
  try {
    return await createTask(pipeline, order, id)
  } catch (error) {
    pipeline.telemetry.background.track(giveBack(pipeline, order, id), 'give back a video order')
    throw error
  }
}

/** The intent may have been written although its answer was lost: then it ends with its call. */
async function giveBack(
  pipeline: TakeOrderParts,
  order: ReservedVideo,
  taskId: string | undefined,
): Promise<void> {
  const at = pipeline.now()
  const error = gatewayFailure(50301)
  const patch = { status: 'failed', completedAt: at, error } as const
  await persist(pipeline, {
    kind: 'abandon',
    callId: order.callId,
    keyId: order.key.id,
    accountId: order.account.id,
    at,
    sent: false,
    log: { ...baseLogRow(order, at), httpStatus: error.status, code: error.gatewayCode },
    task: taskId === undefined ? undefined : { id: taskId, patch },
  })
}
