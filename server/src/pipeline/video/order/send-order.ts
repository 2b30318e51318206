/** One attempt to order a task over one chain, and what is certain afterwards. */
import type { TransportFailure } from '../../../upstream/upstream.ts'
import type { ChainFailure } from '../../../core/routing/health.ts'
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { isJsonObject } from '../../../core/json.ts'
import { formatDropped } from '../../../core/protocols/dropped-fields.ts'
import { orderSeconds } from '../../../core/video/read-order.ts'
import type { VideoTaskError } from '../../../core/video/task.ts'
import type { TaskDetail } from '../../../core/video/task-detail.ts'
import type { VideoFailure, VideoReply, VideoSubmit } from '../../../providers/video.ts'
import { claimCredential } from '../../attempt/dialect.ts'
import { notedWords } from '../../attempt/error-note.ts'
import type { Pipeline } from '../../context.ts'
import {
  CREATE_WATCH_MS,
  type OpenTask,
  type OpenTaskParts,
  type TaskChange,
  changeTask,
} from './open-task.ts'
import { type InputCache, type PrepareInputsParts, prepareInputs } from './prepare-inputs.ts'
import { type SentToVendor, sendToVendor } from './send-to-vendor.ts'
import {
  failedTask,
  gatewayFailure,
  isCredentialRefusal,
  messageOf,
  refusedCreate,
} from '../task/task-error.ts'
import type { ReservedVideo } from '../video-call.ts'
import type { TaskStep, TaskVendor } from '../task/task-dialect.ts'
import { type VideoVendor, contextOf, findVideoVendor } from '../task/video-vendor.ts'
import type { Leg } from '../../attempt/leg.ts'
import type { VideoMedia, VideoRequest } from '../../../core/video/request.ts'
import { isNear } from '../../lanes/threads/conversions.ts'
import type { Submitted } from '../../lanes/threads/work.ts'

export type SendOrderParts = PrepareInputsParts &
  OpenTaskParts &
  Pick<Pipeline, 'catalogue' | 'conversions' | 'directory' | 'upstream'>

export type OrderOutcome =
  /** The task belongs to another instance by now, or has ended. */
  | { readonly kind: 'lost' }
  | SkippedOrder
  | { readonly kind: 'accepted'; readonly open: OpenTask; readonly step: TaskStep; readonly status: number }
  /** It is certain that no task exists. */
  | {
      readonly kind: 'refused'
      readonly open: OpenTask
      readonly error: VideoTaskError
      readonly class: ChainFailure
      /** The precedence of the error (docs/reference/contract.md#D-errors-37). */
      readonly rank: number
      readonly status: number | undefined
      /** The vendor's message about the failure, shortened; for operators. */
      readonly said: string
    }
  /** The order was sent, but it is unknown whether it arrived. */
  | {
      readonly kind: 'unknown'
      readonly open: OpenTask
      readonly error: VideoTaskError
      readonly class: ChainFailure
      readonly status: number | undefined
      readonly said: string
    }

/** Nothing was sent over this chain. */
export interface SkippedOrder {
  readonly kind: 'skipped'
  readonly reason: string
  readonly error: VideoTaskError
  /** The precedence of the error (docs/reference/contract.md#D-errors-37). */
  readonly rank: number
}

export interface OrderWork {
  readonly order: ReservedVideo
  readonly open: OpenTask
  readonly leg: Leg
  readonly inputs: InputCache
}

export async function sendOrder(pipeline: SendOrderParts, work: OrderWork): Promise<OrderOutcome> {
  const { order, open, leg } = work
  const vendor = await findVideoVendor(pipeline, {
    vendorCode: leg.chain.vendorCode,
    credentialId: leg.chain.credentialId,
    byok: leg.byok,
    accountId: order.account.id,
  })
  if (vendor.kind === 'missing') return skipped(vendor.reason, gatewayFailure(50201), 0)
  const { forwardModelId } = leg.chain
  const vendorDefault = vendor.dialect.defaultSeconds(forwardModelId, order.request)
  const seconds = orderSeconds(order.request.seconds, vendorDefault)
  const counts = { requests: 1, images: 0, videos: 1, videoSeconds: seconds.billed }
  const claim = await claimCredential(pipeline, order, { leg, counts })
  if (claim.kind === 'full') {
    const error = gatewayFailure(42904, { retryAfterMs: claim.retryAfterMs })
    return skipped('credential-full', error, RANK.rateLimited)
  }
  const { state: _none, ...context } = contextOf(vendor, { id: open.task.id, state: {}, forwardModelId })
  const asked = { ...context, request: order.request, seconds: seconds.sent }
  const inputs = { order, taskId: open.task.id, cache: work.inputs }
  const prepared = await prepareInputs(pipeline, inputs, { dialect: vendor.dialect, asked })
  if (prepared.kind === 'refused') {
    const error = { ...gatewayFailure(40000), message: prepared.message }
    return skipped('an image cannot be fetched', error, RANK.ownWords)
  }
  const input = { ...asked, request: prepared.request }
  const submission = await submitOrder(pipeline, order, { vendor, input }).catch(notWritten)
  if (submission.kind === 'skipped') return submission
  const sent = await changeTask(pipeline, open, {
    ...placed(work, pipeline.now()),
    seconds: seconds.shown,
    secondsBilled: seconds.billed,
    state: submission.state,
    detail: {
      ...placedDetail(work),
      dropped: formatDropped([...order.dropped, ...submission.dropped]),
      inputs: work.inputs.published.size,
    },
  })
  if (sent === undefined) return { kind: 'lost' }
  const answer = await sendToVendor(pipeline, vendor, {
    taskId: open.task.id,
    request: submission.request,
    timeouts: vendor.vendor.timeouts,
  })
  return judge(vendor, { open: sent, leg, answer })
}

/** Where the order goes; after a crash it counts as sent. */
export function placed({ leg }: Pick<OrderWork, 'leg'>, at: number): TaskChange {
  return {
    phase: 'sent',
    chainId: leg.chain.id,
    vendorCode: leg.chain.vendorCode,
    modelId: leg.model.modelId,
    byok: leg.byok,
    dueAt: at + CREATE_WATCH_MS,
  }
}

/** The prices that apply there, and the credential that polls will use. */
export function placedDetail({
  order,
  leg,
}: {
  readonly order: Pick<ReservedVideo, 'fallback' | 'fallbackDemand' | 'demand'>
  readonly leg: Leg
}): Partial<TaskDetail> {
  const demand = leg.model === order.fallback ? order.fallbackDemand : order.demand
  return {
    terms: (demand ?? order.demand).terms,
    credentialId: leg.byok ? undefined : leg.chain.credentialId,
    forwardModelId: leg.chain.forwardModelId,
  }
}

/** The precedence of errors: an upstream's own error over a time-out, and that over a failed connection. */
export const RANK = { nothing: 0, rateLimited: 1, unreached: 2, credential: 4, ownWords: 5 } as const

interface Answered {
  readonly open: OpenTask
  readonly leg: Leg
  readonly answer: SentToVendor
}

/** What the answer to an order means. */
export function judge(vendor: TaskVendor, { open, leg, answer }: Answered): OrderOutcome {
  if (answer.kind === 'broken') return judgeBroken(open, answer.failure)
  const { reply } = answer
  if (reply.status < 200 || reply.status > 299) return judgeStatus(vendor, { open, leg, answer })
  const { forwardModelId } = leg.chain
  const step = vendor.dialect.accepted(
    reply,
    contextOf(vendor, { id: open.task.id, state: open.task.state, forwardModelId }),
  )
  switch (step.kind) {
    case 'poll':
    case 'done':
    case 'answered':
      return { kind: 'accepted', open, step, status: reply.status }
    case 'failed':
      return refusedInside(open, leg, { failure: step.failure, status: reply.status })
    case 'unreadable':
      return {
        kind: 'unknown',
        open,
        status: reply.status,
        class: { kind: 'cut' },
        said: step.detail,
        error: gatewayFailure(50201, {
          message: `the provider accepted the order, but its answer cannot be read: ${step.detail}`,
          upstreamBody: reply.body,
          accepted: true,
        }),
      }
  }
}

/** Nothing was sent, or it is unknown whether anything arrived. */
function judgeBroken(open: OpenTask, failure: TransportFailure): OrderOutcome {
  const timeout = failure.kind.endsWith('timeout')
  if (!failure.sent) {
    return {
      kind: 'refused',
      open,
      class: { kind: 'connect' },
      rank: RANK.unreached,
      status: undefined,
      said: failure.detail,
      error: gatewayFailure(50201),
    }
  }
  return {
    kind: 'unknown',
    open,
    class: { kind: timeout ? 'timeout' : 'connect' },
    status: undefined,
    said: failure.detail,
    error: gatewayFailure(50401, {
      message: 'the provider did not answer the order; it is not repeated, since the provider may have it',
      accepted: true,
    }),
  }
}

function judgeStatus(
  vendor: TaskVendor,
  { open, leg, answer }: Answered & { readonly answer: Extract<SentToVendor, { kind: 'answered' }> },
): OrderOutcome {
  const { reply } = answer
  const failure = vendor.dialect.classify(reply)
  const said = notedWords(messageOf(reply.body) ?? answer.text())
  if (!isCertain(reply)) {
    return {
      kind: 'unknown',
      open,
      class: failure,
      status: reply.status,
      said,
      error: gatewayFailure(50401, {
        message: `something between the gateway and the provider answered with status ${reply.status}; the order is not repeated`,
        upstreamBody: reply.body,
        accepted: true,
      }),
    }
  }
  const own = leg.byok
  return {
    kind: 'refused',
    open,
    class: failure,
    status: reply.status,
    said,
    rank: isCredentialRefusal(reply.status) && !own ? RANK.credential : RANK.ownWords,
    error: refusedCreate(answer, own ? 'own' : 'platform'),
  }
}

/**
 * Whether a status makes it certain that there is no task. A proxy in between that timed out (408, 502, 504 and
 * similar) says nothing about what the vendor did; a vendor that explains its 5xx in JSON does, and so does 503.
 */
function isCertain({ status, body }: VideoReply): boolean {
  if (status === 408 || status === 504 || (status >= 520 && status <= 527)) return false
  return status < 500 || status === 503 || isJsonObject(body)
}

/** A refusal inside a 200, as some vendors send it. */
function refusedInside(
  open: OpenTask,
  leg: Leg,
  { failure, status }: { readonly failure: VideoFailure; readonly status: number },
): OrderOutcome {
  const credential = leg.byok ? 'own' : 'platform'
  const ours = failure.class === 'quota' || failure.class === 'auth'
  return {
    kind: 'refused',
    open,
    class: CLASS[failure.class],
    status,
    said: notedWords(failure.message),
    rank: ours && !leg.byok ? RANK.credential : RANK.ownWords,
    error: failedTask(failure, { credential, accepted: false }),
  }
}

const CLASS: Readonly<Record<VideoFailure['class'], ChainFailure>> = {
  moderation: { kind: 'refused-content' },
  invalid: { kind: 'request' },
  rate: { kind: 'rate-limited', retryAfterMs: undefined },
  quota: { kind: 'quota' },
  auth: { kind: 'auth' },
  upstream: { kind: 'overloaded', retryAfterMs: undefined },
  expired: { kind: 'overloaded', retryAfterMs: undefined },
  cancelled: { kind: 'overloaded', retryAfterMs: undefined },
}

/** The gateway could not build the request: nothing was sent. */
export function notWritten(error: unknown): SkippedOrder {
  if (!(error instanceof GatewayError)) throw error
  const { code, message, retryAfterMs } = error
  return skipped('not written', gatewayFailure(code, { message, retryAfterMs }), RANK.ownWords)
}

/** Nothing was sent over this chain. */
export function skipped(reason: string, error: VideoTaskError, rank: number): SkippedOrder {
  return { kind: 'skipped', reason, error, rank }
}

/** The vendor's request for an order; one with large images is built in a thread. Throws `GatewayError`. */
export async function submitOrder(
  { conversions }: Pick<Pipeline, 'conversions'>,
  { account }: Pick<ReservedVideo, 'account'>,
  {
    vendor,
    input,
  }: { readonly vendor: Pick<VideoVendor, 'vendor' | 'dialect'>; readonly input: VideoSubmit },
): Promise<Submitted> {
  const size = { bytes: mediaBytes(input.request), values: 0 }
  if (isNear(size)) {
    await conversions.turn(size)
    return { ...vendor.dialect.submit(input), kind: 'submitted' }
  }
  const { kind } = vendor.vendor
  const submitted = await conversions.run(
    { kind: 'submit', vendorKind: kind, input },
    { accountId: account.id },
  )
  if (submitted.kind !== 'submitted') throw new Error(`an order was written as ${submitted.kind}`)
  return submitted
}

function mediaBytes({ firstFrame, lastFrame, referenceImages }: VideoRequest): number {
  return [firstFrame, lastFrame, ...referenceImages].reduce((sum, media) => sum + bytesOf(media), 0)
}

function bytesOf(media: VideoMedia | undefined): number {
  return media?.kind === 'bytes' ? media.bytes.byteLength : 0
}
