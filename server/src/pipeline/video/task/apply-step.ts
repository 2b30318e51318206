/**
 * What a vendor's answer means for a task: keep waiting, fetch the video, or end. The same after a create call and a
 * poll.
 */
import { gatewayFailure, failedTask } from './task-error.ts'
import type { JsonObject } from '../../../core/json.ts'
import { nextPollMs, VERDICT_AFTER } from '../../../core/video/schedule.ts'
import { encodeRequest } from '../../../core/video/task-detail.ts'
import type { VideoFailure, VideoStep } from '../../../providers/video.ts'
import { endedRecords } from '../../attempt/try-routes.ts'
import { notedWords } from '../../attempt/error-note.ts'
import { expireResponse, type CancelResponseParts } from '../../background/cancel-response.ts'
import { endResponse } from '../../background/end-response.ts'
import { endCompleted, endFailed, type MadeVideo } from './end-task.ts'
import { fetchVideo, pictureSize, storeBase64, type FetchVideoParts } from '../answer/fetch-video.ts'
import { measureLink } from './measure-link.ts'
import { type OpenTask, changeTask } from '../order/open-task.ts'
import type { TaskStep } from './task-dialect.ts'

export type ApplyStepParts = CancelResponseParts & FetchVideoParts

/** A public link that is valid this long is given to the client unchanged (docs/reference/contract.md#2.5). */
export const LINK_LASTS_MS = 24 * 3_600_000

export async function applyStep(pipeline: ApplyStepParts, open: OpenTask, step: TaskStep): Promise<void> {
  switch (step.kind) {
    case 'poll':
      return waitOn(pipeline, open, step)
    case 'done':
      return takeResult(pipeline, open, step)
    case 'failed': {
      const credential = open.task.byok ? 'own' : 'platform'
      const error = failedTask(step.failure, { credential, accepted: true })
      return endFailed(pipeline, withFailedAttempt(open, step.failure, pipeline.now()), error)
    }
    case 'answered':
      return endResponse(pipeline, open, step)
    case 'unreadable':
      return countVerdict(pipeline, open, { kind: 'unreadable', detail: step.detail })
  }
}

/** The create call was answered without a task. */
function withFailedAttempt(open: OpenTask, failure: VideoFailure, at: number): OpenTask {
  const { attempts, description } = open.detail
  const broke = { outcome: 'failed', said: notedWords(failure.message) }
  const records = endedRecords(attempts, at - description.createdAt, broke)
  return { ...open, detail: { ...open.detail, attempts: records } }
}

async function waitOn(
  pipeline: ApplyStepParts,
  open: OpenTask,
  step: Extract<VideoStep, { kind: 'poll' }>,
): Promise<void> {
  const { task, detail } = open
  const at = pipeline.now()
  if (at >= detail.deadlineAt) return endLate(pipeline, open)
  await changeTask(pipeline, open, {
    phase: 'running',
    status: task.status === 'in_progress' ? 'in_progress' : step.status,
    progress: Math.max(task.progress, Math.min(99, step.progress ?? 0)),
    state: step.state,
    next: encodeRequest(step.request, encodeBytes),
    polls: task.polls,
    failuresInRow: 0,
    // The error that a search began with; the search has found the task.
    error: undefined,
    dueAt: at + waitMs(pipeline, open, step.afterMs),
    lastAnswer: step.status,
    ...(step.afterMs === detail.afterMs ? {} : { detail: { afterMs: step.afterMs } }),
  })
}

/** The deadline has passed. A video that is not finished by then costs nothing; a response costs what was produced. */
export function endLate(pipeline: ApplyStepParts, open: OpenTask): Promise<void> {
  return open.task.kind === 'response'
    ? expireResponse(pipeline, open)
    : endFailed(pipeline, open, gatewayFailure(50401, { accepted: true }))
}

/** The vendor's advice with growth and jitter. */
export function waitMs(pipeline: ApplyStepParts, { task }: OpenTask, afterMs: number): number {
  const { pace } = pipeline.videos.settings
  const ageMs = pipeline.now() - task.createdAt
  return Math.ceil(nextPollMs({ afterMs, ageMs, draw: pipeline.draw() }) * pace)
}

export function encodeBytes(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}

async function takeResult(
  pipeline: ApplyStepParts,
  open: OpenTask,
  step: Extract<VideoStep, { kind: 'done' }>,
): Promise<void> {
  const { result, secondsProduced, size } = step
  switch (result.kind) {
    case 'link':
      if (result.lastsMs >= LINK_LASTS_MS) {
        return handOut(pipeline, open, { url: result.url, secondsProduced, size })
      }
      return beginFetch(pipeline, open, step, { kind: 'link', url: result.url })
    case 'download':
      return beginFetch(pipeline, open, step, {
        kind: 'download',
        request: encodeRequest(result.request, encodeBytes),
      })
    case 'base64':
      // The video is too large for the record: after a crash the same poll is repeated and gets the same answer.
      return storeBase64(pipeline, open, { data: result.data, secondsProduced, size })
  }
}

/** The provider's own link is the video's address. */
async function handOut(
  pipeline: ApplyStepParts,
  open: OpenTask,
  video: Pick<MadeVideo, 'secondsProduced' | 'size'> & { readonly url: string },
): Promise<void> {
  const measure =
    video.secondsProduced === undefined ? await measureLink(pipeline, open, video.url) : undefined
  await endCompleted(pipeline, open, {
    ...video,
    blob: undefined,
    secondsProduced: video.secondsProduced ?? measure?.seconds,
    size: video.size ?? pictureSize(measure),
  })
}

/** Written first, so that after a crash the fetch continues instead of polling the vendor from the start. */
async function beginFetch(
  pipeline: ApplyStepParts,
  open: OpenTask,
  { state, secondsProduced, size }: Extract<VideoStep, { kind: 'done' }>,
  source:
    | { readonly kind: 'link'; readonly url: string }
    | { readonly kind: 'download'; readonly request: JsonObject },
): Promise<void> {
  const fetching = await changeTask(pipeline, open, {
    phase: 'fetching',
    status: 'in_progress',
    progress: 99,
    state,
    failuresInRow: 0,
    dueAt: pipeline.now() + FETCH_WATCH_MS,
    lastAnswer: 'completed',
    detail: { result: { source, secondsProduced, size } },
  })
  if (fetching !== undefined) await fetchVideo(pipeline, fetching)
}

/** The poller renews the lease while the fetch runs here; after a crash another instance restarts it. */
export const FETCH_WATCH_MS = 20_000

/** Answers that may mean the end of a task: only several in a row do. */
export async function countVerdict(
  pipeline: ApplyStepParts,
  open: OpenTask,
  verdict: { readonly kind: keyof typeof VERDICT_AFTER; readonly detail: string },
): Promise<void> {
  const failures = open.task.failuresInRow + 1
  if (failures >= VERDICT_AFTER[verdict.kind]) {
    const message = `the provider lost the task: ${verdict.detail}`
    return endFailed(pipeline, open, {
      ...gatewayFailure(50201, { message, accepted: true }),
    })
  }
  await changeTask(pipeline, open, {
    polls: open.task.polls,
    failuresInRow: failures,
    dueAt: pipeline.now() + waitMs(pipeline, open, open.detail.afterMs),
    lastAnswer: verdict.detail.slice(0, LAST_ANSWER_MAX),
  })
}

export const LAST_ANSWER_MAX = 200
