/**
 * `background: true`: the call's answer is a task. What was ordered and under which id are on disk before the client hears
 * of it; from then on the poller of any instance goes on with it, whatever becomes of the client.
 */
import { randomBytes } from 'node:crypto'
import type { GatewayError } from '../../core/errors/gateway-error.ts'
import type { JsonObject } from '../../core/json.ts'
import type { VideoTask } from '../../core/video/task.ts'
import type { TaskDetail } from '../../core/video/task-detail.ts'
import type { ReservedCall } from '../call.ts'
import { placeOf } from '../dialect.ts'
import type { Gateway } from '../gateway.ts'
import { answerHeaders } from '../headers.ts'
import { asGatewayError } from '../leave.ts'
import { baseLogRow, describeCall } from '../log-row.ts'
import { persist } from '../persist.ts'
import type { ClientReply } from '../reply.ts'
import { TURN_LIFE_MS } from '../turn-keeper.ts'
import { emptyIntent, keepIntent } from '../video/create-task.ts'
import { createUpstream } from '../video/creation.ts'
import type { OpenTask } from '../video/open-task.ts'
import { sendJson, sendTaskError } from '../video/task-answer.ts'
import { gatewayFailure } from '../video/task-error.ts'
import { whileAway } from '../video/while-away.ts'
import { responseOrdering, type Taken } from './order-response.ts'
import { tellBackground } from './stored-background.ts'

/** Resolves when the client has its answer, or has gone; never rejects. */
export async function serveBackground(
  gateway: Gateway,
  call: ReservedCall,
  reply: ClientReply,
): Promise<void> {
  let open: OpenTask | undefined
  try {
    open = intentOf(gateway, call)
    await keepIntent(gateway, open, undefined)
  } catch (error) {
    call.body.release()
    const refusal = asGatewayError(error)
    if (!reply.gone) reply.fail(refusal, call)
    await giveBack(gateway, call, { taskId: open?.task.id, refusal })
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
  const shown = { ...taken.response, model: task.modelId }
  await whileAway(() => pin(gateway, call, { task, taken, shown, id }))
  if (reply.gone) return
  sendJson(reply, 200, await tellBackground(gateway, task, shown), answerHeaders(call, task.modelId, []))
}

/** The client finds its response by this, and may continue from it once it is finished. */
async function pin(
  gateway: Gateway,
  call: ReservedCall,
  {
    task,
    taken,
    shown,
    id,
  }: { readonly task: VideoTask; readonly taken: Taken; readonly shown: JsonObject; readonly id: string },
): Promise<void> {
  const { turns } = gateway.storage
  const { expiresAt } = task
  await turns.put([
    {
      keyId: task.keyId,
      responseId: id,
      previousId: call.scan.previousResponseId,
      modelId: task.modelId,
      createdAt: task.createdAt,
      expiresAt,
      content: {
        kind: 'upstream',
        place: placeOf(taken.leg),
        chainId: taken.leg.chain.id,
        background: { taskId: task.id, shown: { ...shown, output: [], usage: null } },
      },
    },
  ])
  const history = call.past?.ids ?? []
  if (history.length > 0) await turns.extend(task.keyId, history, expiresAt)
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
  { taskId, refusal }: { readonly taskId: string | undefined; readonly refusal: GatewayError },
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
    log: { ...baseLogRow(call, at), httpStatus: refusal.status, code: refusal.code },
    task: taskId === undefined ? undefined : { id: taskId, patch },
  })
}
