/**
 * The intent: a row that says what is about to be ordered, written before anything is sent to a vendor. Also a task in
 * progress: its data, and how its progress is written and announced.
 */
import { randomBytes } from 'node:crypto'
import type { VideoTask, VideoTaskPatch } from '../../../core/video/task.ts'
import { type TaskDetail, decodeDetail, encodeDetail } from '../../../core/video/task-detail.ts'
import { describeCall } from '../../stages/reserve.ts'
import type { Pipeline } from '../../context.ts'
import type { ReservedVideo } from '../video-call.ts'
import { refreshTask } from '../answer/await-end.ts'
import { setTimeout as wait } from 'node:timers/promises'
import { StorageUnavailable } from '../../../storage/failures/unavailable.ts'

type CreateTaskParts = Pick<Pipeline, 'instanceId' | 'now' | 'storage' | 'videos'>

/** A record is kept 24 hours (docs/reference/contract.md#8-03). */
export const RETENTION_MS = 24 * 3_600_000
/** Another instance takes over if this one stops responding during the creation. */
export const LEASE_MS = 30_000
/** The poller renews a creation that runs here; longer than a delay of the event loop. */
export const CREATE_WATCH_MS = 15_000

export type CreatedTask =
  | { readonly kind: 'created'; readonly open: OpenTask }
  /** The same order exists already. */
  | { readonly kind: 'joined'; readonly task: VideoTask }
  | { readonly kind: 'other-body' }

/** Opaque and random (docs/reference/contract.md#2.5). */
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

/** Leased to this instance while it is being created here. */
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

/** The initial record of tasks of every kind: nothing has been sent yet. */
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

export type OpenTaskParts = Pick<Pipeline, 'instanceId' | 'storage' | 'videos'>

export interface OpenTask {
  readonly task: VideoTask
  readonly detail: TaskDetail
  /** The record does not contain all of `detail` yet; it is written with the next change. */
  readonly unwritten?: true
}

export function openTask(task: VideoTask): OpenTask {
  return { task, detail: decodeDetail(task.detail) }
}

export interface TaskChange extends Omit<VideoTaskPatch, 'detail'> {
  readonly detail?: Partial<TaskDetail>
}

/**
 * Writes what changed and notifies waiting clients. undefined: another instance has the lease, or the task has ended;
 * then it is no longer this instance's.
 */
export async function changeTask(
  pipeline: OpenTaskParts,
  { task, detail, unwritten }: OpenTask,
  { detail: detailChange, ...change }: TaskChange,
): Promise<OpenTask | undefined> {
  const nextDetail = detailChange === undefined ? detail : { ...detail, ...detailChange }
  const patch: VideoTaskPatch = {
    ...withoutEqual(task, change),
    ...(detailChange === undefined && unwritten === undefined ? {} : { detail: encodeDetail(nextDetail) }),
  }
  const held = await pipeline.storage.videos.patch(task.id, patch, pipeline.instanceId)
  if (!held) {
    await refreshTask(pipeline, task.id)
    return undefined
  }
  const next: OpenTask = {
    task: { ...task, ...patch, detail: patch.detail ?? task.detail },
    detail: nextDetail,
  }
  if (patch.dueAt !== undefined) pipeline.videos.poller.expect(patch.dueAt)
  pipeline.videos.waiting.tell(next.task)
  return next
}

/** Changes visible to clients are announced to every instance, so unchanged fields are left out. */
function withoutEqual(task: VideoTask, change: Omit<VideoTaskPatch, 'detail'>): VideoTaskPatch {
  const entries = Object.entries(change).filter(
    ([name, value]) => name === 'polls' || !(name in task) || task[name as keyof VideoTask] !== value,
  )
  return Object.fromEntries(entries)
}

const TRIES_MAX = 6
const FIRST_WAIT_MS = 50

/**
 * Retries a write that must not be lost while the store is briefly unreachable: without that record, an order that a
 * vendor has accepted cannot be found again. 50 ms, then twice as long each time, about 1.5 s in all; then it rejects
 * with the store's error.
 */
export async function whileAway<Done>(work: () => Promise<Done>): Promise<Done> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof StorageUnavailable) || tries === TRIES_MAX) throw error
      await wait(FIRST_WAIT_MS * 2 ** (tries - 1))
    }
  }
}
