/** Orders a response in the background over one chain: what is sent, and what is certain afterwards. */
import type { JsonObject } from '../../core/json.ts'
import type { Dialect } from '../../providers/provider.ts'
import { readWhole, TransportError } from '../../upstream/remote/read-answer.ts'
import type { UpstreamCall } from '../../upstream/upstream.ts'
import type { ReservedCall } from '../call.ts'
import { claimCredential, formRequest, protocolUpstreamOf } from '../attempt/dialect.ts'
import { parseJson } from '../attempt/classify.ts'
import type { Pipeline } from '../context.ts'
import { forwardedHeaders } from '../headers.ts'
import { countsOf } from '../stages/estimate.ts'
import type { Lane } from '../lanes/lane.ts'
import { openPassthroughLane, type PassthroughLaneParts } from '../lanes/passthrough-lane.ts'
import { orderFor } from '../attempt/route.ts'
import type { Ordering } from '../video/order/creation.ts'
import { type OpenTask, type OpenTaskParts, changeTask, whileAway } from '../video/order/open-task.ts'
import {
  judge,
  notWritten,
  type OrderOutcome,
  placed,
  placedDetail,
  RANK,
  skipped,
  type SkippedOrder,
} from '../video/order/send-order.ts'
import type { SentToVendor } from '../video/order/send-to-vendor.ts'
import { gatewayFailure } from '../video/task/task-error.ts'
import { orderOffline } from './offline-response.ts'
import { pinResponse } from './pin-response.ts'
import { readResponse } from './response-object.ts'
import { responseVendor } from './response-vendor.ts'
import type { Leg } from '../attempt/leg.ts'

export type OrderResponseParts = PassthroughLaneParts &
  OpenTaskParts &
  Pick<Pipeline, 'directory' | 'draw' | 'health' | 'now' | 'upstream'>

/** An upstream may answer at once, with the whole answer. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024

/** Which chain accepted the order, and its first answer. */
export interface Taken {
  readonly leg: Leg
  readonly response: JsonObject
}

export interface ResponseOrdering extends Ordering {
  /** undefined: no chain has accepted it. */
  taken(): Taken | undefined
}

export function responseOrdering(pipeline: OrderResponseParts, call: ReservedCall): ResponseOrdering {
  let taken: Taken | undefined
  return {
    pinned: false,
    chainsOf: (target) => orderFor(pipeline, call, target),
    async send(work) {
      const sent = await sendResponse(pipeline, call, work)
      if (sent.response !== undefined) taken = { leg: work.leg, response: sent.response }
      return sent.outcome
    },
    taken: () => taken,
  }
}

interface Work {
  readonly open: OpenTask
  readonly leg: Leg
}

interface Sent {
  readonly outcome: OrderOutcome
  /** Set for an order that was accepted. */
  readonly response?: JsonObject | undefined
}

async function sendResponse(
  pipeline: OrderResponseParts,
  call: ReservedCall,
  { open, leg }: Work,
): Promise<Sent> {
  const found = protocolUpstreamOf(leg, call.catalogue)
  const own = leg.byok ? await pipeline.directory.byok(call.account.id) : undefined
  const secret = leg.byok ? own?.get(leg.chain.vendorCode) : found.credential.secret
  if (secret === undefined)
    return { outcome: skipped('own credential removed', gatewayFailure(50201), RANK.nothing) }
  const counts = countsOf(call.endpoint.kind, call.demand.estimate)
  const claim = await claimCredential(pipeline, call, { leg, counts })
  if (claim.kind === 'full') {
    const error = gatewayFailure(42904, { retryAfterMs: claim.retryAfterMs })
    return { outcome: skipped('credential-full', error, RANK.rateLimited) }
  }
  const formed = formRequest(found, { chain: leg.chain, secret, operation: 'generate' })
  if (formed === undefined) return { outcome: skipped('no address', gatewayFailure(50201), RANK.nothing) }
  const { vendor, dialect } = found
  const lane = await openLane(pipeline, call, leg, dialect)
  if ('kind' in lane) return { outcome: lane }
  const offline = answeredOffline(pipeline, call, { leg, dialect, lane })
  // From here on the order may have arrived.
  const sent = await changeTask(pipeline, open, {
    ...placed({ leg }, pipeline.now()),
    state: offline?.state ?? {},
    detail: placedDetail({ order: call, leg }),
  })
  if (sent === undefined) return { outcome: { kind: 'lost' } }
  const answer =
    offline?.answer ??
    (await deliver(pipeline, {
      request: { ...formed, headers: { ...formed.headers, ...forwardedHeaders(call, 'responses') } },
      auth: dialect.auth,
      credential: secret,
      body: lane.body,
      bodyLength: lane.bodyLength,
      timeouts: vendor.timeouts,
    }))
  const outcome = judge(responseVendor({ vendor, dialect, secret, formed }), { open: sent, leg, answer })
  const made = answer.kind === 'answered' ? readResponse(answer.reply.body) : undefined
  if (outcome.kind !== 'accepted' || made === undefined) return { outcome }
  const { id, response } = made
  await whileAway(() => pinResponse(pipeline, call, { task: outcome.open.task, leg, response, id }))
  return { outcome, response }
}

/** A body that cannot be built was not sent. */
async function openLane(
  pipeline: OrderResponseParts,
  call: ReservedCall,
  leg: Leg,
  dialect: Dialect,
): Promise<Lane | SkippedOrder> {
  try {
    const opened = await openPassthroughLane(pipeline, call, leg, dialect)
    if (opened.kind === 'open') return opened.lane
    throw new Error('a body of the client’s own protocol was refused')
  } catch (error) {
    return notWritten(error)
  }
}

function answeredOffline(
  pipeline: Pick<Pipeline, 'now'>,
  call: ReservedCall,
  { leg, dialect, lane }: { readonly leg: Leg; readonly dialect: Dialect; readonly lane: Lane },
): { readonly answer: SentToVendor; readonly state: JsonObject } | undefined {
  if (dialect.respond === undefined) return undefined
  const { reply, state } = orderOffline(dialect.respond.bind(dialect), {
    operation: 'generate',
    forwardModelId: leg.chain.forwardModelId,
    body: lane.body.filter((piece) => piece instanceof Uint8Array),
    id: call.callId,
    at: pipeline.now(),
  })
  return { answer: { kind: 'answered', reply, text: () => JSON.stringify(reply.body ?? null) }, state }
}

/** The client's own bytes, as in every call with equal protocols. */
async function deliver(
  pipeline: Pick<Pipeline, 'upstream'>,
  upstreamCall: UpstreamCall,
): Promise<SentToVendor> {
  try {
    const { status, headers, body } = await readWhole(
      (asked, sink) => pipeline.upstream.open(asked, sink),
      upstreamCall,
      ANSWER_BYTES_MAX,
    )
    return {
      kind: 'answered',
      reply: { status, headers, body: parseJson(body) },
      text: () => body.toString('utf8'),
    }
  } catch (error) {
    if (error instanceof TransportError) return { kind: 'broken', failure: error.failure }
    throw error
  }
}
