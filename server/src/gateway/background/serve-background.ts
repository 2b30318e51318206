/**
 * `background: true`: the call's answer is a task. What was ordered and under which id are on disk before the client hears
 * of it; from then on the poller of any instance goes on with it, whatever becomes of the client.
 */
import { randomBytes } from 'node:crypto'
import type { CallLogRow } from '../../core/calls/log-row.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { VideoTask } from '../../core/video/task.ts'
import type { TaskDetail } from '../../core/video/task-detail.ts'
import type { AdmittedCall, ReservedCall } from '../call.ts'
import type { Gateway } from '../gateway.ts'
import { answerHeaders } from '../headers.ts'
import { asGatewayError } from '../leave.ts'
import { baseLogRow, describeCall } from '../log-row.ts'
import { persist } from '../persist.ts'
import type { ClientReply } from '../reply.ts'
import { reserve } from '../reserve.ts'
import { TURN_LIFE_MS } from '../turn-keeper.ts'
import { emptyIntent, keepIntent } from '../video/create-task.ts'
import { createUpstream } from '../video/creation.ts'
import { inTurn } from '../video/join.ts'
import type { OpenTask } from '../video/open-task.ts'
import { sendJson, sendTaskError } from '../video/task-answer.ts'
import { gatewayFailure } from '../video/task-error.ts'
import { whileAway } from '../video/while-away.ts'
import { responseOrdering, type Taken } from './order-response.ts'
import {
  findRepeatedOrder,
  nameOfOrder,
  type OrderName,
  type Repeated,
  tellRepeated,
} from './repeated-response.ts'
import { tellBackground } from './stored-background.ts'

/**
 * Resolves when the client has its answer, or has gone. Throws what refuses the call before it is reserved; from then on it
 * never rejects.
 */
export async function serveBackground(
  gateway: Gateway,
  call: AdmittedCall,
  reply: ClientReply,
): Promise<void> {
  const name = await nameOfOrder(call)
  if (name === undefined) return order(gateway, await reserve(gateway, call), name, reply)
  await inTurn(gateway, { key: call.key, repeat: name }, async () => {
    const repeated = await findRepeatedOrder(gateway, call, name)
    if (repeated === undefined) return order(gateway, await reserve(gateway, call), name, reply)
    const told = await tellRepeated(gateway, call, repeated)
    const at = gateway.now()
    const log = {
      ...baseLogRow(call, at),
      httpStatus: 200,
      model: repeated.modelId,
      ending: 'complete' as const,
    }
    await gateway.storage.calls.log({ log })
    sendRepeated(call, repeated, told, reply)
  })
}

async function order(
  gateway: Gateway,
  call: ReservedCall,
  name: OrderName | undefined,
  reply: ClientReply,
): Promise<void> {
  let open: OpenTask | undefined
  try {
    open = intentOf(gateway, call)
    const kept = await keepIntent(gateway, open, name)
    if (kept.kind === 'other-body') throw new GatewayError(40004)
    if (kept.kind === 'joined') return await joinOther(gateway, call, kept.task, reply)
  } catch (error) {
    call.body.release()
    const refusal = asGatewayError(error)
    if (!reply.gone) reply.fail(refusal, call)
    await giveBack(gateway, call, {
      taskId: open?.task.id,
      outcome: { httpStatus: refusal.status, code: refusal.code },
    })
    return
  }
  try {
    const ordering = responseOrdering(gateway, call)
    await createUpstream(gateway, call, { open, ordering })
    await answer(gateway, call, { taskId: open.task.id, taken: ordering.taken() }, reply)
  } catch (error) {
    gateway.telemetry.log.error(
      { requestId: call.requestId, error },
      'a background response could not be told',
    )
    if (!reply.gone && !reply.started) sendTaskError(reply, call, LATE)
  }
}

/** Another instance was faster with the same order: what was taken here is given back. */
async function joinOther(
  gateway: Gateway,
  call: ReservedCall,
  task: VideoTask,
  reply: ClientReply,
): Promise<void> {
  const told = await tellRepeated(gateway, call, task)
  await giveBack(gateway, call, { taskId: undefined, outcome: { httpStatus: 200, code: undefined } })
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
  message: 'the response was ordered, and its id could not be written down; it is not repeated',
  accepted: true,
})

async function answer(
  gateway: Gateway,
  call: ReservedCall,
  { taskId, taken }: { readonly taskId: string; readonly taken: Taken | undefined },
  reply: ClientReply,
): Promise<void> {
  const task = await whileAway(() => gateway.storage.videos.read(taskId))
  const id = task?.state['id']
  if (task === undefined || taken === undefined || typeof id !== 'string') {
    if (!reply.gone) sendTaskError(reply, call, task?.error ?? LATE)
    return
  }
  if (reply.gone) return
  const shown = { ...taken.response, model: task.modelId }
  sendJson(reply, 200, await tellBackground(gateway, task, shown), answerHeaders(call, task.modelId, []))
}

/** The intent: nothing has been sent yet. */
function intentOf(gateway: Gateway, call: ReservedCall): OpenTask {
  const at = gateway.now()
  const detail = detailOf(gateway, call, at)
  const task: VideoTask = {
    id: `response_${randomBytes(18).toString('hex')}`,
    ...emptyIntent(call, detail, at),
    kind: 'response',
    // As long as other responses are kept from its end on, however late that is.
    expiresAt: detail.deadlineAt + TURN_LIFE_MS,
  }
  return { task, detail }
}

function detailOf(gateway: Gateway, call: ReservedCall, at: number): TaskDetail {
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
    deadlineAt: at + gateway.videos.settings.backgroundDeadlineMs,
    searchUntil: undefined,
    afterMs: 2_000,
    firstByteMs: undefined,
    result: undefined,
    response: { inputTokens: estimate.inputTokens, outputTokensMax: estimate.worstOutputTokens },
  }
}

/** The intent may have been written although its answer was lost: then it ends with its call. */
async function giveBack(
  gateway: Gateway,
  call: ReservedCall,
  {
    taskId,
    outcome,
  }: {
    readonly taskId: string | undefined
    readonly outcome: Pick<CallLogRow, 'httpStatus' | 'code'>
  },
): Promise<void> {
  const at = gateway.now()
  const patch = { status: 'failed', completedAt: at, error: gatewayFailure(50301) } as const
  await persist(gateway, {
    kind: 'abandon',
    callId: call.callId,
    keyId: call.key.id,
    accountId: call.account.id,
    at,
    sent: false,
    log: { ...baseLogRow(call, at), ...outcome },
    task: taskId === undefined ? undefined : { id: taskId, patch },
  })
}
