/** The two ends of a task: state, charge and log row are written in one storage verb, whichever instance it ends on. */
import type { CallLogRow } from '../../../core/ledger/log-row.ts'
import { NOTHING_USED } from '../../../core/metering/quantities.ts'
import { priceCall } from '../../../core/pricing/price.ts'
import type { VideoTask, VideoTaskError, VideoTaskPatch } from '../../../core/video/task.ts'
import type { Pipeline } from '../../context.ts'
import { quietly } from '../../../telemetry/background.ts'
import { baseLogRow } from '../../stages/log-row.ts'
import { freeMonthAt, monthStartAt, persist, type PersistParts } from '../../stages/persist.ts'
import { frozenTerms } from '../../stages/settle.ts'
import { refreshTask } from '../answer/await-end.ts'
import type { OpenTask } from '../order/open-task.ts'
import { inputKeyOf } from '../order/prepare-inputs.ts'

export type EndTaskParts = PersistParts & Pick<Pipeline, 'blobs' | 'now' | 'observeEnd' | 'terms' | 'videos'>

/** Where the finished video is, and what is known about it. */
export interface MadeVideo {
  readonly url: string | undefined
  readonly blob: { readonly key: string; readonly bytes: number; readonly sha256: string } | undefined
  readonly secondsProduced: number | undefined
  readonly size: string | undefined
}

/** Billed by declared seconds, however long the video became (docs/reference/contract.md#8-25). */
export async function endCompleted(
  pipeline: EndTaskParts,
  { task, detail }: OpenTask,
  made: MadeVideo,
): Promise<void> {
  const { chainId, callId, keyId, accountId } = task
  if (chainId === undefined) throw new Error(`task ${task.id} was completed by no chain`)
  const at = pipeline.now()
  const onFault = faultLogger(pipeline, { task, detail })
  const terms = frozenTerms(pipeline, detail.terms, onFault)
  const used = { ...NOTHING_USED, videoSeconds: task.secondsBilled }
  const { recipe, amount } = priceCall(used, { terms, chainId, userRate: detail.userRate })
  const patch = completion(task, made, at)
  const log: CallLogRow = {
    ...logRow(pipeline, { task, detail }, at),
    httpStatus: 200,
    usageSource: 'declared',
    secondsDeclared: task.secondsBilled,
    secondsProduced: made.secondsProduced,
    recipe,
    amount,
    ending: 'complete',
  }
  const outcome = await persist(pipeline, {
    kind: 'settle',
    callId,
    keyId,
    accountId,
    at,
    monthStart: monthStartAt(pipeline, { at, timezone: detail.timezone }, onFault),
    modelId: task.modelId,
    byok: task.byok,
    credentialId: task.byok ? undefined : detail.credentialId,
    recipe,
    amount,
    used,
    log,
    task: { id: task.id, patch },
  })
  if (outcome === undefined) return
  if (outcome.first)
    quietly(pipeline, log, 'count an ended call', () => pipeline.observeEnd(log, outcome.deducted))
  await announceEnd(pipeline, { task, detail }, outcome.first ? patch : undefined)
}

export function faultLogger(
  pipeline: Pick<Pipeline, 'telemetry'>,
  { task, detail }: OpenTask,
): (error: unknown) => void {
  const { requestId } = detail.description
  return (error) =>
    pipeline.telemetry.log.error(
      { requestId, taskId: task.id, error },
      'a video is charged by the best figure that is known',
    )
}

function completion(task: VideoTask, made: MadeVideo, at: number): VideoTaskPatch {
  return {
    status: 'completed',
    progress: 100,
    completedAt: at,
    dueAt: at,
    error: undefined,
    url: made.url,
    blob: made.blob?.key,
    blobBytes: made.blob?.bytes,
    blobSha256: made.blob?.sha256,
    secondsProduced: made.secondsProduced,
    size: task.size === '' ? (made.size ?? '') : task.size,
  }
}

/** Costs nothing: counts, slot and hold are given back. */
export async function endFailed(
  pipeline: EndTaskParts,
  { task, detail }: OpenTask,
  error: VideoTaskError,
): Promise<void> {
  const { callId, keyId, accountId } = task
  const at = pipeline.now()
  const patch: VideoTaskPatch = { status: 'failed', completedAt: at, dueAt: at, error }
  const log: CallLogRow = {
    ...logRow(pipeline, { task, detail }, at),
    httpStatus: error.status,
    code: error.gatewayCode,
    secondsDeclared: detail.description.secondsDeclared,
    ending: error.status === 504 ? 'timeout' : 'upstream-error',
  }
  const outcome = await persist(pipeline, {
    kind: 'abandon',
    callId,
    keyId,
    accountId,
    at,
    monthStart: freeMonthAt(pipeline, callId, { at, timezone: detail.timezone }),
    // A video's request is counted with its video; a response's request was spent when it was sent.
    sent: task.kind === 'response' && task.phase !== 'intent',
    log,
    task: { id: task.id, patch },
  })
  if (outcome === undefined) return
  quietly(pipeline, log, 'count an ended call', () => pipeline.observeEnd(log))
  await announceEnd(pipeline, { task, detail }, patch)
}

/** Notifies clients waiting here. `patch`: how the task ended, if this instance knows; undefined: read the record. */
export async function announceEnd(
  pipeline: EndTaskParts,
  { task, detail }: OpenTask,
  patch: VideoTaskPatch | undefined,
): Promise<void> {
  const { waiting } = pipeline.videos
  for (let index = 0; index < detail.inputs; index += 1) {
    pipeline.telemetry.background.track(pipeline.blobs.remove(inputKeyOf(task.id, index)), 'remove an input')
  }
  if (patch !== undefined) {
    waiting.tell({ ...task, ...patch, phase: 'ended', next: undefined })
    return
  }
  await refreshTask(pipeline, task.id)
}

/** The log row of its call, whichever instance ends it. */
export function logRow(
  pipeline: Pick<Pipeline, 'videos'>,
  { task, detail }: OpenTask,
  at: number,
): CallLogRow {
  const { description } = detail
  const chain = task.chainId === undefined ? undefined : description.chains?.[String(task.chainId)]
  return {
    ...baseLogRow(
      {
        callId: task.callId,
        requestId: description.requestId,
        at: description.createdAt,
        endpoint: { path: description.endpoint, protocol: description.clientProtocol },
        headers: {},
        stream: description.stream,
        user: description.user,
      },
      at,
    ),
    modelRequested: description.modelRequested,
    appId: description.appId,
    customId: description.customId,
    keyId: task.keyId,
    accountId: task.accountId,
    upstreamProtocol: chain?.upstreamProtocol,
    model: task.chainId === undefined ? undefined : task.modelId,
    vendorCode: task.vendorCode,
    chainId: task.chainId,
    byok: task.byok,
    droppedFields: detail.dropped,
    attempts: detail.attempts,
    firstByteMs: detail.firstByteMs,
    clientGone: pipeline.videos.clientsGone.has(task.id),
  }
}
