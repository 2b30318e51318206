/** From an order to its task: a new one that is on its way upstream, or the one it repeats. */
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { VideoTask } from '../../core/video/task.ts'
import { findHolderNow } from '../authenticate.ts'
import type { Gateway } from '../gateway.ts'
import { baseLogRow } from '../log-row.ts'
import { persist } from '../persist.ts'
import { admitVideo, reserveVideo } from './admit-video.ts'
import { createTask, newTaskId } from './create-task.ts'
import { createUpstream } from './creation.ts'
import { findRepeated, inTurn } from './join.ts'
import { videoOrdering } from './order-video.ts'
import { gatewayFailure } from './task-error.ts'
import type { ReservedVideo, VideoOrder } from './video-call.ts'

export interface TakenOrder {
  readonly task: VideoTask
  readonly joined: boolean
  /** What the reservation says about windows; none for a joined task. */
  readonly reservation: ReservedVideo['reservation'] | undefined
}

/** Throws the refusal that applies. From `create` on the task goes its way whatever becomes of the client. */
export function takeOrder(gateway: Gateway, order: VideoOrder): Promise<TakenOrder> {
  return inTurn(gateway, order, () => take(gateway, order))
}

async function take(gateway: Gateway, order: VideoOrder): Promise<TakenOrder> {
  const admitted = admitVideo(gateway, order)
  const repeated = await findRepeated(gateway, order)
  if (repeated !== undefined) return join(gateway, order, repeated)
  const reserved = await reserveVideo(gateway, admitted)
  const created = await create(gateway, reserved)
  if (created.kind === 'created') {
    const { open } = created
    gateway.telemetry.background.track(
      createUpstream(gateway, reserved, { open, ordering: videoOrdering(gateway, reserved) }),
      'order a video',
    )
    return { task: open.task, joined: false, reservation: reserved.reservation }
  }
  // Another instance was faster: what was taken here is given back.
  await giveBack(gateway, reserved, undefined)
  if (created.kind === 'other-body') throw new GatewayError(40004)
  order.body.release()
  return { task: created.task, joined: true, reservation: undefined }
}

/** No reservation stands behind a joined task, so the key is looked at once more. */
async function join(gateway: Gateway, order: VideoOrder, task: VideoTask): Promise<TakenOrder> {
  await findHolderNow(gateway, order.key.hash, order.at)
  order.body.release()
  const at = gateway.now()
  const log = { ...baseLogRow(order, at), httpStatus: 200, model: task.modelId, ending: 'complete' as const }
  await gateway.storage.calls.log({ log })
  return { task, joined: true, reservation: undefined }
}

async function create(gateway: Gateway, order: ReservedVideo): ReturnType<typeof createTask> {
  const id = newTaskId()
  try {
    return await createTask(gateway, order, id)
  } catch (error) {
    gateway.telemetry.background.track(giveBack(gateway, order, id), 'give back a video order')
    throw error
  }
}

/** The intent may have been written although its answer was lost: then it ends with its call. */
async function giveBack(gateway: Gateway, order: ReservedVideo, taskId: string | undefined): Promise<void> {
  const at = gateway.now()
  const error = gatewayFailure(50301)
  const patch = { status: 'failed', completedAt: at, error } as const
  await persist(gateway, {
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
