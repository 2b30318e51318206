/**
 * `background: true`: the call's answer is a task. What was ordered, and its id, are on disk before the client is
 * answered; from then on the poller of any instance continues it, whatever happens to the client.
 */
import { randomBytes } from 'node:crypto'
import type { CallLogRow } from '../../core/ledger/log-row.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { VideoTask } from '../../core/video/task.ts'
import type { TaskDetail } from '../../core/video/task-detail.ts'
import type { AdmittedCall, ReservedCall } from '../call.ts'
import type { Pipeline } from '../context.ts'
import { answerHeaders } from '../headers.ts'
import { asGatewayError } from '../exchange/leave.ts'
import { endThenTell } from '../stages/end-then-tell.ts'
import { baseLogRow, codeAndMessage } from '../stages/log-row.ts'
import { freeMonthAt, persist } from '../stages/persist.ts'
import type { ClientReply } from '../reply.ts'
import { describeCall, reserve } from '../stages/reserve.ts'
import { TURN_LIFE_MS } from '../instance/turn-keeper.ts'
import { type OpenTask, emptyIntent, keepIntent, whileAway } from '../video/order/open-task.ts'
import { createUpstream, type CreationParts } from '../video/order/creation.ts'
import { inTurn } from '../video/order/take-order.ts'
import { sendJson, sendTaskError } from '../video/answer/task-answer.ts'
import { gatewayFailure } from '../video/task/task-error.ts'
import { responseOrdering, type Taken, type OrderResponseParts } from './order-response.ts'
import {
  findRepeatedOrder,
  nameOfOrder,
  type OrderName,
  type Repeated,
  answerRepeated,
  type RepeatedResponseParts,
} from './repeated-response.ts'
import { shownBackground } from './stored-background.ts'

type ServeBackgroundParts = CreationParts & OrderResponseParts & RepeatedResponseParts

/**
 * Resolves when the client has its answer, or has disconnected. Rejects with the refusal before the call is reserved;
 * after that it never rejects.
 */
export async function serveBackground(
  pipeline: ServeBackgroundParts,
  call: AdmittedCall,
  reply: ClientReply,
): Promise<void> {
  const name = await nameOfOrder(call)
  if (name === undefined)
    return order(pipeline, await reserve(pipeline, call, call.endpoint.kind), name, reply)
  await inTurn(pipeline, { key: call.key, repeat: name }, async () => {
    const repeated = await findRepeatedOrder(pipeline, call, name)
    if (repeated === undefined)
      return order(pipeline, await reserve(pipeline, call, call.endpoint.kind), name, reply)
    const told = await answerRepeated(pipeline, call, repeated)
    const at = pipeline.now()
    const log = {
      ...baseLogRow(call, at),
      httpStatus: 200,
      model: repeated.modelId,
      ending: 'complete' as const,
    }
    await pipeline.storage.calls.log({ log })
    sendRepeated(call, repeated, told, reply)
  })
}

async function order(
  pipeline: ServeBackgroundParts,
  call: ReservedCall,
  name: OrderName | undefined,
  reply: ClientReply,
): Promise<void> {
  let open: OpenTask | undefined
  try {
    open = intentOf(pipeline, call)
    const kept = await keepIntent(pipeline, open, name)
    if (kept.kind === 'other-body') throw new GatewayError(40004)
    if (kept.kind === 'joined') return await joinOther(pipeline, call, kept.task, reply)
  } catch (error) {
    call.body.release()
    const refusal = asGatewayError(error)
    const taskId = open?.task.id
    const outcome = { httpStatus: refusal.status, ...codeAndMessage(refusal) }
    await endThenTell(pipeline, call, reply, {
      end: () => giveBack(pipeline, call, { taskId, outcome }),
      tell: () => reply.fail(refusal, call),
    })
    return
  }
  try {
    const ordering = responseOrdering(pipeline, call)
    await createUpstream(pipeline, call, { open, ordering })
    await answer(pipeline, call, { taskId: open.task.id, taken: ordering.taken() }, reply)
  } catch (error) {
    pipeline.telemetry.log.error(
      { requestId: call.requestId, error },
      'a background response could not be sent',
    )
    if (!reply.gone && !reply.started) sendTaskError(reply, call, LATE)
  }
}

/** Another instance created the same order first: what was reserved here is released. */
async function joinOther(
  pipeline: ServeBackgroundParts,
  call: ReservedCall,
  task: VideoTask,
  reply: ClientReply,
): Promise<void> {
  const told = await answerRepeated(pipeline, call, task)
  await giveBack(pipeline, call, {
    taskId: undefined,
    outcome: { httpStatus: 200, code: undefined, message: undefined },
  })
  sendRepeated(call, task, told, reply)
}

function sendRepeated(
  call: AdmittedCall | ReservedCall,
  task: VideoTask,
  told: Repeated,
  reply: ClientReply,
): void {
  call.body.release()
  if (reply.gone) return
  if (told.kind === 'failed') sendTaskError(reply, call, told.error)
  else sendJson(reply, 200, told.response, answerHeaders({ reservation: undefined }, task.modelId, []))
}

const LATE = gatewayFailure(50301, {
  message: 'the response was ordered, but its id could not be stored; it is not ordered again',
  accepted: true,
})

async function answer(
  pipeline: Pick<Pipeline, 'now' | 'storage'>,
  call: ReservedCall,
  { taskId, taken }: { readonly taskId: string; readonly taken: Taken | undefined },
  reply: ClientReply,
): Promise<void> {
  const task = await whileAway(() => pipeline.storage.videos.read(taskId))
  const id = task?.state['id']
  if (task === undefined || taken === undefined || typeof id !== 'string') {
    if (!reply.gone) sendTaskError(reply, call, task?.error ?? LATE)
    return
  }
  if (reply.gone) return
  const shown = { ...taken.response, model: task.modelId }
  sendJson(reply, 200, await shownBackground(pipeline, task, shown), answerHeaders(call, task.modelId, []))
}

/** The intent: the record of an order of which nothing has been sent yet. */
function intentOf(pipeline: Pick<Pipeline, 'now' | 'videos'>, call: ReservedCall): OpenTask {
  const at = pipeline.now()
  const detail = detailOf(pipeline, call, at)
  const task: VideoTask = {
    id: `response_${randomBytes(18).toString('hex')}`,
    ...emptyIntent(call, detail, at),
    kind: 'response',
    // Kept as long as other responses, counted from the latest possible end.
    expiresAt: detail.deadlineAt + TURN_LIFE_MS,
  }
  return { task, detail }
}

function detailOf(pipeline: Pick<Pipeline, 'videos'>, call: ReservedCall, at: number): TaskDetail {
  const { estimate } = call.demand
  return {
    description: describeCall(call),
    terms: call.demand.terms,
    userRate: call.reservation.userRate,
    timezone: call.catalogue.settings.timezone,
    credentialId: undefined,
    forwardModelId: undefined,
    attempts: [],
    dropped: [],
    inputs: 0,
    deadlineAt: at + pipeline.videos.settings.backgroundDeadlineMs,
    searchUntil: undefined,
    afterMs: 2_000,
    firstByteMs: undefined,
    result: undefined,
    response: { inputTokens: estimate.inputTokens, outputTokensMax: estimate.worstOutputTokens },
  }
}

/** The intent may have been written although the store's answer was lost; then it ends with its call. */
async function giveBack(
  pipeline: ServeBackgroundParts,
  call: ReservedCall,
  {
    taskId,
    outcome,
  }: {
    readonly taskId: string | undefined
    readonly outcome: Pick<CallLogRow, 'httpStatus' | 'code' | 'message'>
  },
): Promise<void> {
  const at = pipeline.now()
  const patch = { status: 'failed', completedAt: at, error: gatewayFailure(50301) } as const
  await persist(pipeline, {
    kind: 'abandon',
    callId: call.callId,
    keyId: call.key.id,
    accountId: call.account.id,
    at,
    monthStart: freeMonthAt(pipeline, call.callId, { at, timezone: call.catalogue.settings.timezone }),
    sent: false,
    log: baseLogRow(call, at, outcome),
    task: taskId === undefined ? undefined : { id: taskId, patch },
  })
}
