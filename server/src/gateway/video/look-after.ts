/** One look at a due task, by the phase it is in: ask the vendor, search, fetch, or end what nobody goes on with. */
import type { FailureClass } from '../../core/routing/failure.ts'
import { backOffMs } from '../../core/video/schedule.ts'
import { decodeRequest } from '../../core/video/task-detail.ts'
import type { Gateway } from '../gateway.ts'
import { applyStep, countVerdict, endLate, FETCH_WATCH_MS, LAST_ANSWER_MAX, waitMs } from './apply-step.ts'
import { endFailed } from './end-task.ts'
import { fetchFilm } from './fetch-film.ts'
import { changeTask, type OpenTask } from './open-task.ts'
import { beginSearch } from './search.ts'
import { pollTimeouts, sendToVendor, type SentToVendor } from './send-to-vendor.ts'
import { gatewayFailure } from './task-error.ts'
import { vendorOfTask } from './vendor-of-task.ts'
import type { TaskStep, TaskVendor } from './task-dialect.ts'
import { contextOf } from './video-vendor.ts'

export async function lookAfter(gateway: Gateway, open: OpenTask): Promise<void> {
  switch (open.task.phase) {
    case 'intent':
      return endFailed(gateway, open, NEVER_SENT)
    case 'sent':
      return beginSearch(gateway, open, MAY_BE_SENT)
    case 'running':
    case 'unknown':
      return ask(gateway, open)
    case 'fetching':
      return fetchAgain(gateway, open)
    case 'ended':
      return
  }
}

/** The process that took the order ended before it could send it. */
const NEVER_SENT = gatewayFailure(50301, {
  message: 'the gateway stopped before the order was sent; nothing was charged, send it again',
})
const MAY_BE_SENT = gatewayFailure(50401, {
  message:
    'the gateway stopped while the order was on its way; it is not repeated, since the provider may have it',
  accepted: true,
})

async function ask(gateway: Gateway, open: OpenTask): Promise<void> {
  const { task, detail } = open
  const vendor = await vendorOfTask(gateway, open)
  const { forwardModelId } = detail
  if (vendor.kind === 'missing' || forwardModelId === undefined || task.next === undefined) {
    const reason = vendor.kind === 'missing' ? vendor.reason : 'nothing to ask'
    return slowDown(gateway, open, { reason, hintMs: undefined })
  }
  const paused = gateway.videos.pauses.until(vendor.secret)
  const at = gateway.now()
  if (paused > at) return postpone(gateway, open, paused + Math.round(2_000 * gateway.draw()))
  const answer = await sendToVendor(gateway, vendor, {
    taskId: task.id,
    request: decodeRequest(task.next, (text) => Buffer.from(text, 'base64')),
    timeouts: pollTimeouts(vendor.vendor.timeouts),
  })
  const asked: OpenTask = { ...open, task: { ...task, polls: task.polls + 1 } }
  const outcome = await read(gateway, asked, { vendor, answer })
  gateway.telemetry.metrics.videoPolled({ vendor: vendor.vendor.code, outcome })
}

/** Gives the outcome as a word for the metrics. */
async function read(
  gateway: Gateway,
  open: OpenTask,
  { vendor, answer }: { readonly vendor: TaskVendor; readonly answer: SentToVendor },
): Promise<string> {
  if (answer.kind === 'broken') {
    // A poll that got no answer is no verdict.
    await slowDown(gateway, open, { reason: answer.failure.kind, hintMs: undefined })
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
    await follow(gateway, open, step)
    return step.kind
  }
  const failure = vendor.dialect.classify(reply)
  await judge(gateway, open, { failure, status: reply.status, vendor })
  return failure.kind
}

/** A search goes on until its time is over, whatever the vendor does not find. */
async function follow(gateway: Gateway, open: OpenTask, step: TaskStep): Promise<void> {
  if (open.task.phase === 'unknown' && (step.kind === 'unreadable' || step.kind === 'failed')) {
    return searchOn(gateway, open)
  }
  return applyStep(gateway, open, step)
}

async function searchOn(gateway: Gateway, open: OpenTask): Promise<void> {
  const { task, detail } = open
  if (gateway.now() >= (detail.searchUntil ?? 0)) {
    return endFailed(gateway, open, task.error ?? MAY_BE_SENT)
  }
  return postpone(gateway, open, gateway.now() + waitMs(gateway, open, detail.afterMs))
}

interface Judged {
  readonly failure: FailureClass
  readonly status: number
  readonly vendor: TaskVendor
}

async function judge(gateway: Gateway, open: OpenTask, { failure, status, vendor }: Judged): Promise<void> {
  const said = `status ${status}`
  switch (failure.kind) {
    case 'rate-limited': {
      const hintMs = failure.retryAfterMs
      // Tasks of one credential share its limit: all of them wait.
      if (hintMs !== undefined) gateway.videos.pauses.put(vendor.secret, gateway.now() + hintMs)
      return slowDown(gateway, open, { reason: said, hintMs })
    }
    case 'overloaded':
      return slowDown(gateway, open, { reason: said, hintMs: failure.retryAfterMs })
    case 'not-found':
      if (open.task.phase === 'unknown') return searchOn(gateway, open)
      return countVerdict(gateway, open, { kind: 'not-found', detail: said })
    case 'auth':
    case 'quota':
    case 'request':
    case 'refused-content':
      if (open.task.phase === 'unknown') return searchOn(gateway, open)
      return countVerdict(gateway, open, { kind: 'refused', detail: said })
  }
}

/** No verdict: asked again later, and later each time, until nobody waits any more. */
async function slowDown(
  gateway: Gateway,
  open: OpenTask,
  { reason, hintMs }: { readonly reason: string; readonly hintMs: number | undefined },
): Promise<void> {
  const { task, detail } = open
  const at = gateway.now()
  if (task.phase === 'unknown' && at >= (detail.searchUntil ?? 0)) return searchOn(gateway, open)
  if (at >= detail.deadlineAt) return endLate(gateway, open)
  const next = { afterMs: detail.afterMs, ageMs: at - task.createdAt, draw: gateway.draw() }
  const wait = backOffMs(next, 1, hintMs) * gateway.videos.settings.pace
  await changeTask(gateway, open, {
    dueAt: at + Math.ceil(wait),
    polls: task.polls,
    lastAnswer: reason.slice(0, LAST_ANSWER_MAX),
  })
}

async function postpone(gateway: Gateway, open: OpenTask, dueAt: number): Promise<void> {
  await changeTask(gateway, open, { dueAt, polls: open.task.polls })
}

/** Begun by somebody who is gone, or failed before. */
async function fetchAgain(gateway: Gateway, open: OpenTask): Promise<void> {
  const fetching = await changeTask(gateway, open, { dueAt: gateway.now() + FETCH_WATCH_MS })
  if (fetching !== undefined) await fetchFilm(gateway, fetching)
}
