/** Orders a response in the background over one chain: what is sent, and what is certain afterwards. */
import type { JsonObject } from '../../core/json.ts'
import type { Dialect } from '../../providers/provider.ts'
import { readWhole, TransportError } from '../../upstream/read-whole.ts'
import type { UpstreamCall } from '../../upstream/upstream.ts'
import type { Leg } from '../attempt.ts'
import type { ReservedCall } from '../call.ts'
import { claimCredential } from '../claim-credential.ts'
import { parseJson } from '../classify.ts'
import { formRequest, upstreamOf } from '../dialect.ts'
import type { Gateway } from '../gateway.ts'
import { forwardedHeaders } from '../headers.ts'
import type { Lane } from '../lane.ts'
import { openPassthroughLane } from '../passthrough-lane.ts'
import { orderFor } from '../route.ts'
import type { Ordering } from '../video/creation.ts'
import { changeTask, type OpenTask } from '../video/open-task.ts'
import {
  judge,
  notWritten,
  type OrderOutcome,
  placed,
  placedDetail,
  RANK,
  skipped,
  type SkippedOrder,
} from '../video/send-order.ts'
import type { SentToVendor } from '../video/send-to-vendor.ts'
import { gatewayFailure } from '../video/task-error.ts'
import { whileAway } from '../video/while-away.ts'
import { orderOffline } from './offline-response.ts'
import { pinResponse } from './pin-response.ts'
import { readResponse } from './response-object.ts'
import { responseVendor } from './response-vendor.ts'

/** An upstream that answers at once, whatever it was asked, sends the whole answer. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024

/** Who took the order, and what they said then. */
export interface Taken {
  readonly leg: Leg
  readonly response: JsonObject
}

export interface ResponseOrdering extends Ordering {
  /** undefined: nobody has taken it. */
  taken(): Taken | undefined
}

export function responseOrdering(gateway: Gateway, call: ReservedCall): ResponseOrdering {
  let taken: Taken | undefined
  return {
    pinned: false,
    chainsOf: (target) => orderFor(gateway, call, target),
    async send(work) {
      const sent = await sendResponse(gateway, call, work)
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
  /** Of an order that was taken. */
  readonly response?: JsonObject | undefined
}

async function sendResponse(gateway: Gateway, call: ReservedCall, { open, leg }: Work): Promise<Sent> {
  const found = upstreamOf(leg, call.catalogue)
  const own = leg.byok ? await gateway.directory.byok(call.account.id) : undefined
  const secret = leg.byok ? own?.get(leg.chain.vendorCode) : found.credential.secret
  if (secret === undefined)
    return { outcome: skipped('own credential removed', gatewayFailure(50201), RANK.nothing) }
  const counts = { requests: 1, images: call.demand.estimate.images, videos: 0, videoSeconds: 0 }
  const claim = await claimCredential(gateway, call, { leg, counts })
  if (claim.kind === 'full') {
    const error = gatewayFailure(42904, { retryAfterMs: claim.retryAfterMs })
    return { outcome: skipped('credential-full', error, RANK.rateLimited) }
  }
  const formed = formRequest(found, { chain: leg.chain, secret, operation: 'generate' })
  if (formed === undefined) return { outcome: skipped('no address', gatewayFailure(50201), RANK.nothing) }
  const { vendor, dialect } = found
  const lane = await openLane(gateway, call, leg, dialect)
  if ('kind' in lane) return { outcome: lane }
  const offline = answeredOffline(gateway, call, { leg, dialect, lane })
  // From here on it may have arrived.
  const sent = await changeTask(gateway, open, {
    ...placed({ leg }, gateway.now()),
    state: offline?.state ?? {},
    detail: placedDetail({ order: call, leg }),
  })
  if (sent === undefined) return { outcome: { kind: 'lost' } }
  const answer =
    offline?.answer ??
    (await deliver(gateway, {
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
  await whileAway(() => pinResponse(gateway, call, { task: outcome.open.task, leg, response, id }))
  return { outcome, response }
}

/** A body that cannot be written was not sent. */
async function openLane(
  gateway: Gateway,
  call: ReservedCall,
  leg: Leg,
  dialect: Dialect,
): Promise<Lane | SkippedOrder> {
  try {
    return await openPassthroughLane(gateway, call, leg, dialect)
  } catch (error) {
    return notWritten(error)
  }
}

function answeredOffline(
  gateway: Gateway,
  call: ReservedCall,
  { leg, dialect, lane }: { readonly leg: Leg; readonly dialect: Dialect; readonly lane: Lane },
): { readonly answer: SentToVendor; readonly state: JsonObject } | undefined {
  if (dialect.respond === undefined) return undefined
  const { reply, state } = orderOffline(dialect.respond.bind(dialect), {
    operation: 'generate',
    forwardModelId: leg.chain.forwardModelId,
    body: lane.body,
    id: call.callId,
    at: gateway.now(),
  })
  return { answer: { kind: 'answered', reply, text: () => JSON.stringify(reply.body ?? null) }, state }
}

/** The client's own bytes, as every call of equal protocols sends them. */
async function deliver(gateway: Gateway, upstreamCall: UpstreamCall): Promise<SentToVendor> {
  try {
    const { status, headers, body } = await readWhole(
      (asked, sink) => gateway.upstream.open(asked, sink),
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
