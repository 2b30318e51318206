/** Ends a response early, first at the upstream: what was produced until then is charged. */
import { backOffMs, nextPollMs } from '../../core/video/schedule.ts'
import { decodeRequest } from '../../core/video/task-detail.ts'
import type { HttpRequest } from '../../core/http-request.ts'
import type { VideoReply } from '../../providers/video.ts'
import type { Pipeline } from '../context.ts'
import { endFailed } from '../video/task/end-task.ts'
import { type OpenTask, type OpenTaskParts, changeTask } from '../video/order/open-task.ts'
import { pollTimeouts, sendToVendor } from '../video/order/send-to-vendor.ts'
import type { TaskVendor } from '../video/task/task-dialect.ts'
import { gatewayFailure } from '../video/task/task-error.ts'
import { vendorOfTask } from '../video/task/vendor-of-task.ts'
import { contextOf } from '../video/task/video-vendor.ts'
import { endResponse, endUncancelled, type EndResponseParts } from './end-response.ts'
import { cancelRequest } from './response-vendor.ts'

export type CancelResponseParts = EndResponseParts &
  OpenTaskParts &
  Pick<Pipeline, 'directory' | 'draw' | 'upstream'>

export type Cancelled =
  /** Its end is recorded, by this process or by a faster one. */
  | { readonly kind: 'ended' }
  /** The upstream still continues, or cannot be asked. `seen`: it reported that it continues. */
  | {
      readonly kind: 'runs'
      readonly reply: VideoReply | undefined
      readonly seen: 'queued' | 'in_progress' | undefined
    }

/**
 * The upstream is first asked for the state of the response, so that one which has just finished is charged as
 * finished, and one still in the queue as waiting.
 */
export async function cancelResponse(pipeline: CancelResponseParts, open: OpenTask): Promise<Cancelled> {
  const vendor = await vendorOfTask(pipeline, open)
  const { next } = open.task
  if (vendor.kind === 'missing' || next === undefined)
    return { kind: 'runs', reply: undefined, seen: undefined }
  const request = decodeRequest(next, (text) => Buffer.from(text, 'base64'))
  const asked = await askFor(pipeline, open, { vendor, request })
  if (asked.kind === 'ended') return asked
  const { seen } = asked
  const present = { ...open, task: { ...open.task, status: seen ?? open.task.status } }
  const cancelled = await askFor(pipeline, present, { vendor, request: cancelRequest(request) })
  return cancelled.kind === 'ended' ? cancelled : { ...cancelled, seen }
}

function statusOf(reply: VideoReply | undefined): 'queued' | 'in_progress' | undefined {
  const { body } = reply ?? {}
  const status = typeof body === 'object' && body !== null && 'status' in body ? body.status : undefined
  return status === 'queued' || status === 'in_progress' ? status : undefined
}

async function askFor(
  pipeline: CancelResponseParts,
  open: OpenTask,
  { vendor, request }: { readonly vendor: TaskVendor; readonly request: HttpRequest },
): Promise<Cancelled> {
  const { task, detail } = open
  const { forwardModelId } = detail
  if (forwardModelId === undefined) throw new Error(`task ${task.id} has no upstream model`)
  const answer = await sendToVendor(pipeline, vendor, {
    taskId: task.id,
    request,
    timeouts: pollTimeouts(vendor.vendor.timeouts),
  })
  if (answer.kind === 'broken') return { kind: 'runs', reply: undefined, seen: undefined }
  const { reply } = answer
  if (reply.status < 200 || reply.status > 299) return { kind: 'runs', reply, seen: undefined }
  const step = vendor.dialect.step(
    reply,
    contextOf(vendor, { id: task.id, state: task.state, forwardModelId }),
  )
  if (step.kind !== 'answered') return { kind: 'runs', reply, seen: statusOf(reply) }
  await endResponse(pipeline, open, step)
  return { kind: 'ended' }
}

/** How often an unreachable upstream is asked before giving up. */
const UNREACHED_MAX = 6
const AGAIN_MS = 5_000
/** Interval of polls, and how long after its deadline they go on, for a response that its upstream does not cancel. */
const RUNS_ON_AFTER_MS = 30_000
const RUNS_ON_MS_MAX = 12 * 3_600_000

/**
 * After its deadline a response is cancelled upstream and charged for what it produced. An upstream that continues anyway
 * is polled until it has ended, because it bills for what it produces; if it cannot be reached, the response has failed.
 */
export async function expireResponse(pipeline: CancelResponseParts, open: OpenTask): Promise<void> {
  const { task, detail } = open
  const cancelled = task.next === undefined ? UNASKED : await cancelResponse(pipeline, open)
  if (cancelled.kind === 'ended') return
  const { seen } = cancelled
  const at = pipeline.now()
  const failures = seen === undefined ? task.failuresInRow + 1 : 0
  if (task.next === undefined || failures >= UNREACHED_MAX)
    return endFailed(pipeline, open, gatewayFailure(50401, { accepted: true }))
  if (seen !== undefined && at >= detail.deadlineAt + RUNS_ON_MS_MAX) return endUncancelled(pipeline, open)
  const times = { ageMs: at - task.createdAt, draw: pipeline.draw() }
  const wait =
    failures === 0
      ? nextPollMs({ ...times, afterMs: RUNS_ON_AFTER_MS })
      : backOffMs({ ...times, afterMs: AGAIN_MS }, failures, undefined)
  await changeTask(pipeline, open, {
    dueAt: at + Math.ceil(wait * pipeline.videos.settings.pace),
    failuresInRow: failures,
    polls: task.polls,
    status: seen ?? task.status,
    lastAnswer: 'past its deadline, not cancelled yet',
  })
}

const UNASKED = { kind: 'runs', reply: undefined, seen: undefined } as const
