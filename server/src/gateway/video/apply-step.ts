/** What a vendor's answer means for a task: wait on, fetch the film, or end. The same after a create call and a poll. */
import { gatewayFailure, failedTask } from './task-error.ts'
import type { JsonObject } from '../../core/json.ts'
import { nextPollMs, VERDICT_AFTER } from '../../core/video/schedule.ts'
import { encodeRequest } from '../../core/video/task-detail.ts'
import type { VideoStep } from '../../providers/video.ts'
import { expireResponse } from '../background/cancel-response.ts'
import { endResponse } from '../background/end-response.ts'
import type { Gateway } from '../gateway.ts'
import { endCompleted, endFailed, type MadeVideo } from './end-task.ts'
import { fetchFilm, pictureSize, storeBase64 } from './fetch-film.ts'
import { measureLink } from './measure-link.ts'
import { changeTask, type OpenTask } from './open-task.ts'
import type { TaskStep } from './task-dialect.ts'

/** A public link that lasts this long is handed out as it is (contract §2.5). */
export const LINK_LASTS_MS = 24 * 3_600_000

export async function applyStep(gateway: Gateway, open: OpenTask, step: TaskStep): Promise<void> {
  switch (step.kind) {
    case 'poll':
      return waitOn(gateway, open, step)
    case 'done':
      return takeResult(gateway, open, step)
    case 'failed': {
      const credential = open.task.byok ? 'own' : 'platform'
      return endFailed(gateway, open, failedTask(step.failure, { credential, accepted: true }))
    }
    case 'answered':
      return endResponse(gateway, open, step)
    case 'unreadable':
      return countVerdict(gateway, open, { kind: 'unreadable', detail: step.detail })
  }
}

async function waitOn(
  gateway: Gateway,
  open: OpenTask,
  step: Extract<VideoStep, { kind: 'poll' }>,
): Promise<void> {
  const { task, detail } = open
  const at = gateway.now()
  if (at >= detail.deadlineAt) return endLate(gateway, open)
  await changeTask(gateway, open, {
    phase: 'running',
    status: task.status === 'in_progress' ? 'in_progress' : step.status,
    progress: Math.max(task.progress, Math.min(99, step.progress ?? 0)),
    state: step.state,
    next: encodeRequest(step.request, encodeBytes),
    polls: task.polls,
    failuresInRow: 0,
    // What a search began with; it has found the task.
    error: undefined,
    dueAt: at + waitMs(gateway, open, step.afterMs),
    lastAnswer: step.status,
    ...(step.afterMs === detail.afterMs ? {} : { detail: { afterMs: step.afterMs } }),
  })
}

/** Nobody waits any more. A video that is not finished by then costs nothing; a response costs what was made of it. */
export function endLate(gateway: Gateway, open: OpenTask): Promise<void> {
  return open.task.kind === 'response'
    ? expireResponse(gateway, open)
    : endFailed(gateway, open, gatewayFailure(50401, { accepted: true }))
}

/** The vendor's advice with growth and jitter. */
export function waitMs(gateway: Gateway, { task }: OpenTask, afterMs: number): number {
  const { pace } = gateway.videos.settings
  const ageMs = gateway.now() - task.createdAt
  return Math.ceil(nextPollMs({ afterMs, ageMs, draw: gateway.draw() }) * pace)
}

export function encodeBytes(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}

async function takeResult(
  gateway: Gateway,
  open: OpenTask,
  step: Extract<VideoStep, { kind: 'done' }>,
): Promise<void> {
  const { result, secondsProduced, size } = step
  switch (result.kind) {
    case 'link':
      if (result.lastsMs >= LINK_LASTS_MS) {
        return handOut(gateway, open, { url: result.url, secondsProduced, size })
      }
      return beginFetch(gateway, open, step, { kind: 'link', url: result.url })
    case 'download':
      return beginFetch(gateway, open, step, {
        kind: 'download',
        request: encodeRequest(result.request, encodeBytes),
      })
    case 'base64':
      // Too large for the record: after a crash the same question is asked again and has the same answer.
      return storeBase64(gateway, open, { data: result.data, secondsProduced, size })
  }
}

/** The provider's own link is the film's address. */
async function handOut(
  gateway: Gateway,
  open: OpenTask,
  film: Pick<MadeVideo, 'secondsProduced' | 'size'> & { readonly url: string },
): Promise<void> {
  const measure = film.secondsProduced === undefined ? await measureLink(gateway, open, film.url) : undefined
  await endCompleted(gateway, open, {
    ...film,
    blob: undefined,
    secondsProduced: film.secondsProduced ?? measure?.seconds,
    size: film.size ?? pictureSize(measure),
  })
}

/** Written first, so that whoever comes after a crash fetches on instead of asking the vendor from the start. */
async function beginFetch(
  gateway: Gateway,
  open: OpenTask,
  { state, secondsProduced, size }: Extract<VideoStep, { kind: 'done' }>,
  source:
    | { readonly kind: 'link'; readonly url: string }
    | { readonly kind: 'download'; readonly request: JsonObject },
): Promise<void> {
  const fetching = await changeTask(gateway, open, {
    phase: 'fetching',
    status: 'in_progress',
    progress: 99,
    state,
    failuresInRow: 0,
    dueAt: gateway.now() + FETCH_WATCH_MS,
    lastAnswer: 'completed',
    detail: { result: { source, secondsProduced, size } },
  })
  if (fetching !== undefined) await fetchFilm(gateway, fetching)
}

/** Renewed by the poller while the fetch runs here; after a crash somebody else begins it again. */
export const FETCH_WATCH_MS = 20_000

/** Answers that might be the end: only several in a row are. */
export async function countVerdict(
  gateway: Gateway,
  open: OpenTask,
  verdict: { readonly kind: keyof typeof VERDICT_AFTER; readonly detail: string },
): Promise<void> {
  const failures = open.task.failuresInRow + 1
  if (failures >= VERDICT_AFTER[verdict.kind]) {
    const message = `the provider lost the task: ${verdict.detail}`
    return endFailed(gateway, open, {
      ...gatewayFailure(50201, { message, accepted: true }),
    })
  }
  await changeTask(gateway, open, {
    polls: open.task.polls,
    failuresInRow: failures,
    dueAt: gateway.now() + waitMs(gateway, open, open.detail.afterMs),
    lastAnswer: verdict.detail.slice(0, LAST_ANSWER_MAX),
  })
}

export const LAST_ANSWER_MAX = 200
