/** One step of a due task, by its phase: poll the vendor, search, fetch, or end what no process continues. */
import type { FailureClass } from '../../../core/routing/failure.ts'
import { backOffMs } from '../../../core/video/schedule.ts'
import { decodeRequest } from '../../../core/video/task-detail.ts'
import {
  applyStep,
  countVerdict,
  endLate,
  FETCH_WATCH_MS,
  LAST_ANSWER_MAX,
  waitMs,
  type ApplyStepParts,
} from './apply-step.ts'
import { endFailed } from './end-task.ts'
import { fetchVideo } from '../answer/fetch-video.ts'
import { type OpenTask, changeTask } from '../order/open-task.ts'
import { beginSearch } from './search.ts'
import { pollTimeouts, sendToVendor, type SentToVendor } from '../order/send-to-vendor.ts'
import { gatewayFailure } from './task-error.ts'
import { vendorOfTask } from './vendor-of-task.ts'
import type { TaskStep, TaskVendor } from './task-dialect.ts'
import { contextOf } from './video-vendor.ts'

export async function advanceTask(pipeline: ApplyStepParts, open: OpenTask): Promise<void> {
  switch (open.task.phase) {
    case 'intent':
      return endFailed(pipeline, open, NEVER_SENT)
    case 'sent':
      return beginSearch(pipeline, open, MAY_BE_SENT)
    case 'running':
    case 'unknown':
      return ask(pipeline, open)
    case 'fetching':
      return fetchAgain(pipeline, open)
    case 'ended':
      return
  }
}

/** The process that accepted the order ended before it could send it. */
const NEVER_SENT = gatewayFailure(50301, {
  message: 'the gateway stopped before the order was sent; nothing was charged, send it again',
})
const MAY_BE_SENT = gatewayFailure(50401, {
  message:
    'the gateway stopped while the order was on its way; it is not repeated, since the provider may have it',
  accepted: true,
})

async function ask(pipeline: ApplyStepParts, open: OpenTask): Promise<void> {
  const { task, detail } = open
  const vendor = await vendorOfTask(pipeline, open)
  const { forwardModelId } = detail
  if (vendor.kind === 'missing' || forwardModelId === undefined || task.next === undefined) {
    const reason = vendor.kind === 'missing' ? vendor.reason : 'nothing to ask'
    return slowDown(pipeline, open, { reason, hintMs: undefined })
  }
  const paused = pipeline.videos.pauses.until(vendor.secret)
  const at = pipeline.now()
  if (paused > at) return postpone(pipeline, open, paused + Math.round(2_000 * pipeline.draw()))
  const answer = await sendToVendor(pipeline, vendor, {
    taskId: task.id,
    request: decodeRequest(task.next, (text) => Buffer.from(text, 'base64')),
    timeouts: pollTimeouts(vendor.vendor.timeouts),
  })
  const asked: OpenTask = { ...open, task: { ...task, polls: task.polls + 1 } }
  const outcome = await read(pipeline, asked, { vendor, answer })
  pipeline.telemetry.metrics.videoPolled({ vendor: vendor.vendor.code, outcome })
}

/** Returns the outcome as a label for metrics. */
async function read(
  pipeline: ApplyStepParts,
  open: OpenTask,
  { vendor, answer }: { readonly vendor: TaskVendor; readonly answer: SentToVendor },
): Promise<string> {
  if (answer.kind === 'broken') {
    // A poll without an answer decides nothing.
    await slowDown(pipeline, open, { reason: answer.failure.kind, hintMs: undefined })
    return answer.failure.kind
  }
  const { reply } = answer
  const { task, detail } = open
  const { forwardModelId } = detail
  if (forwardModelId === undefined) throw new Error(`task ${task.id} has no upstream model`)
  const context = contextOf(vendor, { id: task.id, state: task.state, forwardModelId })
  const success = reply.status >= 200 && reply.status < 300
  const step = success ? vendor.dialect.step(reply, context) : vendor.dialect.verdict?.(reply, context)
  if (step !== undefined) {
    await follow(pipeline, open, step)
    return step.kind
  }
  const failure = vendor.dialect.classify(reply)
  await judge(pipeline, open, { failure, status: reply.status, vendor })
  return failure.kind
}

/** A search continues until its time runs out, even if the vendor does not find the task. */
async function follow(pipeline: ApplyStepParts, open: OpenTask, step: TaskStep): Promise<void> {
  if (open.task.phase === 'unknown' && (step.kind === 'unreadable' || step.kind === 'failed')) {
    return searchOn(pipeline, open)
  }
  return applyStep(pipeline, open, step)
}

async function searchOn(pipeline: ApplyStepParts, open: OpenTask): Promise<void> {
  const { task, detail } = open
  if (pipeline.now() >= (detail.searchUntil ?? 0)) {
    return endFailed(pipeline, open, task.error ?? MAY_BE_SENT)
  }
  return postpone(pipeline, open, pipeline.now() + waitMs(pipeline, open, detail.afterMs))
}

interface Judged {
  readonly failure: FailureClass
  readonly status: number
  readonly vendor: TaskVendor
}

async function judge(
  pipeline: ApplyStepParts,
  open: OpenTask,
  { failure, status, vendor }: Judged,
): Promise<void> {
  const said = `status ${status}`
  switch (failure.kind) {
    case 'rate-limited': {
      const hintMs = failure.retryAfterMs
      // Tasks of one credential share its limit: all of them wait.
      if (hintMs !== undefined) pipeline.videos.pauses.put(vendor.secret, pipeline.now() + hintMs)
      return slowDown(pipeline, open, { reason: said, hintMs })
    }
    case 'overloaded':
      return slowDown(pipeline, open, { reason: said, hintMs: failure.retryAfterMs })
    case 'not-found':
      if (open.task.phase === 'unknown') return searchOn(pipeline, open)
      return countVerdict(pipeline, open, { kind: 'not-found', detail: said })
    case 'auth':
    case 'quota':
    case 'request':
    case 'refused-content':
      if (open.task.phase === 'unknown') return searchOn(pipeline, open)
      return countVerdict(pipeline, open, { kind: 'refused', detail: said })
  }
}

/** Nothing is decided: polled again later, with growing intervals, until the deadline. */
async function slowDown(
  pipeline: ApplyStepParts,
  open: OpenTask,
  { reason, hintMs }: { readonly reason: string; readonly hintMs: number | undefined },
): Promise<void> {
  const { task, detail } = open
  const at = pipeline.now()
  if (task.phase === 'unknown' && at >= (detail.searchUntil ?? 0)) return searchOn(pipeline, open)
  if (at >= detail.deadlineAt) return endLate(pipeline, open)
  const next = { afterMs: detail.afterMs, ageMs: at - task.createdAt, draw: pipeline.draw() }
  const wait = backOffMs(next, 1, hintMs) * pipeline.videos.settings.pace
  await changeTask(pipeline, open, {
    dueAt: at + Math.ceil(wait),
    polls: task.polls,
    lastAnswer: reason.slice(0, LAST_ANSWER_MAX),
  })
}

async function postpone(pipeline: ApplyStepParts, open: OpenTask, dueAt: number): Promise<void> {
  await changeTask(pipeline, open, { dueAt, polls: open.task.polls })
}

/** The fetch was begun by a process that has ended, or it failed before. */
async function fetchAgain(pipeline: ApplyStepParts, open: OpenTask): Promise<void> {
  const fetching = await changeTask(pipeline, open, { dueAt: pipeline.now() + FETCH_WATCH_MS })
  if (fetching !== undefined) await fetchVideo(pipeline, fetching)
}
