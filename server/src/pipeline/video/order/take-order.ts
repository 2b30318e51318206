/**
 * Turns an order into a task: a new one that is being sent upstream, or the existing one if the order is repeated. A
 * repeated order has the same `Idempotency-Key` and API key, or is the SDK's own retry of an unanswered POST; it joins
 * the existing task and never creates a second one (docs/reference/contract.md#D-video-11).
 */
import type { Pipeline } from '../../context.ts'
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import type { VideoTask } from '../../../core/video/task.ts'
import { findHolderNow } from '../../stages/authenticate.ts'
import { baseLogRow } from '../../stages/log-row.ts'
import { freeMonthAt, persist } from '../../stages/persist.ts'
import { endpointsOf } from '../../kinds/index.ts'
import { VIDEO } from '../../kinds/video.ts'
import { reserve } from '../../stages/reserve.ts'
import { createTask, newTaskId } from './open-task.ts'
import { type CreationParts, type Ordering, createUpstream } from './creation.ts'
import { gatewayFailure } from '../task/task-error.ts'
import type { AdmittedVideo, Repeat, ReservedVideo, VideoOrder } from '../video-call.ts'
import { orderChains, usableChains } from '../../../core/routing/order.ts'
import { healthFor } from '../../attempt/route.ts'
import { openInputCache } from './prepare-inputs.ts'
import { type SendOrderParts, sendOrder } from './send-order.ts'
import type { Estimate } from '../../../core/ledger/operations.ts'
import type { Catalogue, Chain, Model } from '../../../core/catalogue.ts'
import { ERRORS } from '../../../core/errors/catalogue.ts'
import { declaredSeconds, orderSeconds } from '../../../core/video/read-order.ts'
import { admitBy, meantInstead } from '../../stages/admit.ts'
import { demandVendors, isVideoChain, isVideoModel } from '../../instance/model-facts.ts'
import { videoDialectOf } from '../task/video-vendor.ts'

export type TakeOrderParts = CreationParts & OrderVideoParts & Pick<Pipeline, 'models'>

export interface TakenOrder {
  readonly task: VideoTask
  readonly joined: boolean
  /** Windows from the reservation; none for a joined task. */
  readonly reservation: ReservedVideo['reservation'] | undefined
}

/** Throws the refusal. From `create` on, the task continues even if the client disconnects. */
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
  // Another instance created the same order first: what was taken here is given back.
  await giveBack(pipeline, reserved, undefined)
  if (created.kind === 'other-body') throw new GatewayError(40004)
  order.body.release()
  return { task: created.task, joined: true, reservation: undefined }
}

/** Joining a task makes no reservation, so the key is checked again here. */
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

/** The intent may have been written although the store's answer was lost; then it ends with its call. */
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
    monthStart: freeMonthAt(pipeline, order.callId, { at, timezone: order.catalogue.settings.timezone }),
    sent: false,
    log: { ...baseLogRow(order, at), httpStatus: error.status, code: error.gatewayCode },
    task: taskId === undefined ? undefined : { id: taskId, patch },
  })
}

/**
 * SDKs wait ten minutes by default and up to half an hour if configured; after this time, an equal order is a new one.
 */
const RETRY_WITHIN_MS = 2 * 3_600_000

/**
 * The task of the order that this one repeats; undefined: it is a new order. Throws 40004 for a key that was used with
 * another body.
 */
export async function findRepeated(
  pipeline: Pick<Pipeline, 'blobs' | 'storage'>,
  order: VideoOrder,
): Promise<VideoTask | undefined> {
  const { videos } = pipeline.storage
  const { key, bodySha256, retried } = order.repeat
  if (key !== undefined) {
    const found = await videos.findByIdempotency(order.key.id, { key, bodySha256 })
    if (found?.kind === 'other-body') throw new GatewayError(40004)
    return found === undefined ? undefined : standing(pipeline, found.task, order.at)
  }
  if (!retried) return undefined
  const since = order.at - RETRY_WITHIN_MS
  const found = await videos.findByBody(order.key.id, { bodySha256, since })
  return found === undefined ? undefined : standing(pipeline, found, order.at)
}

/**
 * An order that no vendor ever had cannot be joined: its record is replaced by a new attempt. The same applies to a
 * record that has expired and was not removed yet.
 */
export async function standing(
  pipeline: Pick<Pipeline, 'blobs' | 'storage'>,
  task: VideoTask,
  at: number,
): Promise<VideoTask | undefined> {
  const neverTaken = task.status === 'failed' && task.error?.accepted !== true
  if (!neverTaken && task.expiresAt > at) return task
  if (task.phase === 'ended' && task.blob !== undefined) await pipeline.blobs.remove(task.blob)
  if (await pipeline.storage.videos.remove(task.id, task.keyId)) return undefined
  return task.phase === 'ended' ? undefined : task
}

/**
 * Orders with one key are handled one after the other until the first is written: the others then find its task instead
 * of taking a slot of the account.
 */
export async function inTurn<Result>(
  pipeline: Pick<Pipeline, 'videos'>,
  order: { readonly key: Pick<VideoOrder['key'], 'id'>; readonly repeat: Pick<Repeat, 'key'> },
  work: () => Promise<Result>,
): Promise<Result> {
  const { key } = order.repeat
  if (key === undefined) return work()
  const { writing } = pipeline.videos
  const name = `${order.key.id} ${key}`
  while (writing.has(name)) await writing.get(name)
  let done: () => void = () => undefined
  writing.set(
    name,
    new Promise((resolve) => {
      done = resolve
    }),
  )
  try {
    return await work()
  } finally {
    writing.delete(name)
    done()
  }
}

export type OrderVideoParts = SendOrderParts & Pick<Pipeline, 'draw' | 'health'>

/** How a video is ordered: over chains that speak video, its images prepared once for all of them. */
export function videoOrdering(pipeline: OrderVideoParts, order: ReservedVideo): Ordering {
  const inputs = openInputCache()
  return {
    pinned: order.pinned !== undefined,
    send: ({ open, leg }) => sendOrder(pipeline, { order, open, leg, inputs }),
    chainsOf: ({ model, funding }) =>
      orderChains(model, order.catalogue, {
        now: pipeline.now(),
        healthOf: healthFor(pipeline, funding),
        draw: pipeline.draw,
        mayUse: (vendor) => funding.otherwise !== 'none' || funding.byokVendors.includes(vendor),
        speaks: (protocol) => protocol === 'video',
        preferred: 'video',
        pinned: order.pinned,
      }),
  }
}

/**
 * Finds the model and determines what the order requires of the account; `reserve` decides it on the account's fresh row.
 */
export function admitVideo(pipeline: Pick<Pipeline, 'models'>, order: VideoOrder): AdmittedVideo {
  const { catalogue } = order
  // A copy: the order itself may join a task of another call.
  const own = { secondsDeclared: declaredSeconds(order.request.seconds), ...order }
  return admitBy(own, {
    find: () => findVideoModel(order, catalogue),
    canStandIn: isVideoModel,
    demand(model) {
      const chains = candidates(order, model, catalogue)
      return {
        ...demandVendors(chains, catalogue),
        terms: pipeline.models.terms(model, catalogue),
        estimate: estimateOf(secondsMax(order, chains, catalogue)),
      }
    },
  })
}

function findVideoModel(order: VideoOrder, catalogue: Catalogue): Model {
  const model = catalogue.models.get(order.modelId)
  if (model?.status === 'enabled' && isVideoModel(model)) return model
  const hint =
    model === undefined ? meantInstead(order.modelId, catalogue) : servedElsewhere(model, catalogue)
  throw new GatewayError(40401, {
    ...(hint === '' ? {} : { message: `${ERRORS[40401].message}${hint}` }),
    internal: model === undefined ? 'unknown model' : `the model is ${model.status}`,
  })
}

/** The paths for calls of a model that makes no videos, as the end of a sentence. */
function servedElsewhere({ status, chains }: Model, { vendors }: Catalogue): string {
  const other = status === 'enabled' ? chains.find((chain) => !isVideoChain(chain)) : undefined
  const path = other && endpointsOf(other.protocol, vendors.get(other.vendorCode)?.kind)[0]
  return path === undefined ? '' : `: call it at ${path}`
}

/** The price of declared seconds is known: nothing about the hold is estimated. */
function estimateOf(videoSeconds: number): Estimate {
  return {
    inputTokens: 0,
    outputTokens: 0,
    images: 0,
    videoSeconds,
    bound: 'strict',
    worstInputTokens: 0,
    worstOutputTokens: 0,
  }
}

function candidates(order: VideoOrder, model: Model, catalogue: Catalogue): readonly Chain[] {
  return usableChains(model, catalogue).filter(
    (chain) => isVideoChain(chain) && (order.pinned === undefined || chain.vendorCode === order.pinned),
  )
}

/** The declared length, else the longest that any chain would make by itself. */
function secondsMax(order: VideoOrder, chains: readonly Chain[], catalogue: Catalogue): number {
  const text = order.request.seconds
  const declared = declaredSeconds(text)
  if (declared !== undefined) return declared
  const lengths = chains.map((chain) => {
    const dialect = videoDialectOf(chain, catalogue)
    return dialect === undefined
      ? 0
      : orderSeconds(text, dialect.defaultSeconds(chain.forwardModelId, order.request)).billed
  })
  return Math.max(0, ...lengths)
}
