/** Ends a response early, upstream first: what it had made by then is charged. */
import { backOffMs } from '../../core/video/schedule.ts'
import { decodeRequest } from '../../core/video/task-detail.ts'
import type { HttpRequest } from '../../core/http-request.ts'
import type { VideoReply } from '../../providers/video.ts'
import type { Gateway } from '../gateway.ts'
import { endFailed } from '../video/end-task.ts'
import { changeTask, type OpenTask } from '../video/open-task.ts'
import { pollTimeouts, sendToVendor } from '../video/send-to-vendor.ts'
import type { TaskVendor } from '../video/task-dialect.ts'
import { gatewayFailure } from '../video/task-error.ts'
import { vendorOfTask } from '../video/vendor-of-task.ts'
import { contextOf } from '../video/video-vendor.ts'
import { endResponse } from './end-response.ts'
import { cancelRequest } from './response-vendor.ts'

export type Cancelled =
  /** Its end is written, by us or by somebody who was faster. */
  | { readonly kind: 'ended' }
  /** The upstream goes on for now, or cannot be asked. */
  | { readonly kind: 'runs'; readonly reply: VideoReply | undefined }

/** Asked first how far it is, so that one which has just finished is charged as finished, and one that waits as waiting. */
export async function cancelResponse(gateway: Gateway, open: OpenTask): Promise<Cancelled> {
  const vendor = await vendorOfTask(gateway, open)
  const { next } = open.task
  if (vendor.kind === 'missing' || next === undefined) return { kind: 'runs', reply: undefined }
  const request = decodeRequest(next, (text) => Buffer.from(text, 'base64'))
  const asked = await askFor(gateway, open, { vendor, request })
  if (asked.kind === 'ended') return asked
  const status = statusOf(asked.reply) ?? open.task.status
  const seen = { ...open, task: { ...open.task, status } }
  return askFor(gateway, seen, { vendor, request: cancelRequest(request) })
}

function statusOf(reply: VideoReply | undefined): 'queued' | 'in_progress' | undefined {
  const { body } = reply ?? {}
  const status = typeof body === 'object' && body !== null && 'status' in body ? body.status : undefined
  return status === 'queued' || status === 'in_progress' ? status : undefined
}

async function askFor(
  gateway: Gateway,
  open: OpenTask,
  { vendor, request }: { readonly vendor: TaskVendor; readonly request: HttpRequest },
): Promise<Cancelled> {
  const { task, detail } = open
  const { forwardModelId } = detail
  if (forwardModelId === undefined) throw new Error(`task ${task.id} has no upstream model`)
  const answer = await sendToVendor(gateway, vendor, {
    taskId: task.id,
    request,
    timeouts: pollTimeouts(vendor.vendor.timeouts),
  })
  if (answer.kind === 'broken') return { kind: 'runs', reply: undefined }
  const { reply } = answer
  if (reply.status < 200 || reply.status > 299) return { kind: 'runs', reply }
  const step = vendor.dialect.step(
    reply,
    contextOf(vendor, { id: task.id, state: task.state, forwardModelId }),
  )
  if (step.kind !== 'answered') return { kind: 'runs', reply }
  await endResponse(gateway, open, step)
  return { kind: 'ended' }
}

/** So often is a response cancelled that is past its deadline; then nobody waits for its upstream any more. */
const CANCELS_MAX = 6
const AGAIN_MS = 5_000

/** Past its deadline: cancelled upstream and charged what it made; where its upstream cannot be reached, it has failed. */
export async function expireResponse(gateway: Gateway, open: OpenTask): Promise<void> {
  const { task } = open
  if (task.next !== undefined && (await cancelResponse(gateway, open)).kind === 'ended') return
  const failures = task.failuresInRow + 1
  if (task.next === undefined || failures >= CANCELS_MAX) {
    return endFailed(gateway, open, gatewayFailure(50401, { accepted: true }))
  }
  const at = gateway.now()
  const wait = backOffMs(
    { afterMs: AGAIN_MS, ageMs: at - task.createdAt, draw: gateway.draw() },
    failures,
    undefined,
  )
  await changeTask(gateway, open, {
    dueAt: at + Math.ceil(wait * gateway.videos.settings.pace),
    failuresInRow: failures,
    polls: task.polls,
    lastAnswer: 'past its deadline, not cancelled yet',
  })
}
