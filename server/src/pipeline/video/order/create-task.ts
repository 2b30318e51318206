/** The intent: a row that says what is about to be ordered, written before any vendor hears of it. */
import { randomBytes } from 'node:crypto'
import type { VideoTask } from '../../../core/video/task.ts'
import { encodeDetail, type TaskDetail } from '../../../core/video/task-detail.ts'
import { describeCall } from '../../stages/log-row.ts'
import type { Pipeline } from '../../context.ts'
import type { OpenTask } from './open-task.ts'
import type { ReservedVideo } from '../video-call.ts'

type CreateTaskParts = Pick<Pipeline, 'instanceId' | 'now' | 'storage' | 'videos'>

/** A record is kept 24 hours (docs/reference/contract.md#8-03). */
export const RETENTION_MS = 24 * 3_600_000
/** Taken over by another instance when this one falls silent while it creates. */
export const LEASE_MS = 30_000
/** The poller renews a creation that runs here; longer than a breath of the event loop. */
export const CREATE_WATCH_MS = 15_000

export type CreatedTask =
  | { readonly kind: 'created'; readonly open: OpenTask }
  /** The same order is there already. */
  | { readonly kind: 'joined'; readonly task: VideoTask }
  | { readonly kind: 'other-body' }

/** Opaque: it holds nothing but chance (docs/reference/contract.md#2.5). */
export function newTaskId(): string {
  return `video_${randomBytes(18).toString('hex')}`
}

export async function createTask(
  pipeline: CreateTaskParts,
  order: ReservedVideo,
  id: string,
): Promise<CreatedTask> {
  const at = pipeline.now()
  const detail = detailOf(pipeline, order, at)
  const task: VideoTask = { id, ...intentOf(order, detail, at) }
  const { key = `call ${order.callId}`, bodySha256 } = order.repeat
  return keepIntent(pipeline, { task, detail }, { key, bodySha256 })
}

/** Leased to this instance while it is being ordered here. */
export async function keepIntent(
  pipeline: CreateTaskParts,
  { task, detail }: OpenTask,
  idempotency: { readonly key: string; readonly bodySha256: string } | undefined,
): Promise<CreatedTask> {
  pipeline.videos.creating.add(task.id)
  let kept = false
  try {
    const creation = await pipeline.storage.videos.create(task, idempotency, {
      instance: pipeline.instanceId,
      until: task.createdAt + LEASE_MS,
    })
    if (creation.kind !== 'created') return creation
    kept = true
    return { kind: 'created', open: { task, detail } }
  } finally {
    if (!kept) pipeline.videos.creating.delete(task.id)
  }
}

function intentOf(order: ReservedVideo, detail: TaskDetail, at: number): Omit<VideoTask, 'id'> {
  return {
    ...emptyIntent(order, detail, at),
    kind: 'video',
    expiresAt: at + RETENTION_MS,
    seconds: order.request.seconds ?? '',
    secondsBilled: order.demand.estimate.videoSeconds,
    size: order.size,
    prompt: order.request.prompt,
  }
}

/** What tasks of every kind begin as: nothing has been sent yet. */
export function emptyIntent(
  call: Pick<ReservedVideo, 'key' | 'account' | 'callId' | 'model'>,
  detail: TaskDetail,
  at: number,
): Omit<VideoTask, 'id' | 'kind' | 'expiresAt'> {
  return {
    keyId: call.key.id,
    accountId: call.account.id,
    callId: call.callId,
    status: 'queued',
    phase: 'intent',
    modelId: call.model.modelId,
    chainId: undefined,
    vendorCode: undefined,
    byok: false,
    state: {},
    next: undefined,
    dueAt: at + CREATE_WATCH_MS,
    polls: 0,
    failuresInRow: 0,
    progress: 0,
    createdAt: at,
    completedAt: undefined,
    seconds: '',
    secondsBilled: 0,
    secondsProduced: undefined,
    size: '',
    prompt: '',
    url: undefined,
    blob: undefined,
    blobBytes: undefined,
    blobSha256: undefined,
    error: undefined,
    lastAnswer: undefined,
    detail: encodeDetail(detail),
  }
}

function detailOf(pipeline: Pick<Pipeline, 'videos'>, order: ReservedVideo, at: number): TaskDetail {
  return {
    description: describeCall(order),
    terms: order.demand.terms,
    userRate: order.reservation.userRate,
    timezone: order.catalogue.settings.timezone,
    credentialId: undefined,
    forwardModelId: undefined,
    attempts: [],
    dropped: order.dropped,
    inputs: 0,
    deadlineAt: at + pipeline.videos.settings.deadlineMs,
    searchUntil: undefined,
    afterMs: 5_000,
    firstByteMs: undefined,
    result: undefined,
  }
}
