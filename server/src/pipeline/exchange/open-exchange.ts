import type { CredentialSecret } from '../../core/catalogue.ts'
import { watchExtras } from '../../core/passthrough/extras-watch.ts'
import type { MeterReading } from '../../core/metering/meter.ts'
import type { UpstreamFailure } from '../../core/routing/failure.ts'
import type {
  FormedRequest,
  OfflineRequest,
  TaskForm,
  TaskReply,
  UploadForm,
} from '../../providers/provider.ts'
import { playOffline } from '../../upstream/connect/offline.ts'
import type { GuardedSink, Upstream, UpstreamCall, UpstreamExchange } from '../../upstream/upstream.ts'
import { systemTimers } from '../../upstream/timers.ts'
import { hasSurcharges } from '../instance/model-facts.ts'
import type { ReservedCall } from '../call.ts'
import {
  claimCredential,
  formRequest,
  isConvertible,
  type LegUpstream,
  trustedHostOf,
  uploadsOf,
  upstreamOf,
} from '../attempt/dialect.ts'
import { openPolledTask } from '../attempt/polled-task.ts'
import { Exchange } from './exchange.ts'
import type { ExchangeOptions } from './exchange-options.ts'
import type { Pipeline } from '../context.ts'
import { answerHeaders, forwardedHeaders } from '../headers.ts'
import { countsOf } from '../stages/estimate.ts'
import { possibleUsage } from '../stages/charged-reading.ts'
import { quietly } from '../../telemetry/background.ts'
import type { ClientReply } from '../reply.ts'
import type { Leg } from '../attempt/leg.ts'
import type { LeftBehind } from './drains.ts'
import type { FinalFailure } from '../attempt/attempt-outcome.ts'
import { openConversionLane } from '../lanes/convert.ts'
import type { Lane } from '../lanes/lane.ts'
import { type FormDialect, openFormLane } from '../lanes/form-lane.ts'
import { openPassthroughLane } from '../lanes/passthrough-lane.ts'
import { priceLeg } from '../stages/price-leg.ts'
import type { LaneTarget, OpenedLane } from '../lanes/lane-target.ts'
import type { Span } from '../../core/passthrough/splice.ts'
import { openUploadedFirst } from '../attempt/uploaded-first.ts'

export type OpenExchangeParts = OpenLaneParts &
  Pick<
    Pipeline,
    | 'bodyBudget'
    | 'onClientGone'
    | 'directory'
    | 'limits'
    | 'now'
    | 'openRemote'
    | 'pollPace'
    | 'progress'
    | 'pulse'
    | 'drains'
    | 'storage'
    | 'upstream'
  >

export type OpenedExchange =
  | { readonly kind: 'open'; readonly exchange: Exchange }
  | { readonly kind: 'skipped'; readonly reason: string; readonly failure: FinalFailure | undefined }

/**
 * Builds the request for one chain and sends it. A credential that is at its own limit is skipped, which is not an
 * error.
 */
export async function openExchange(
  pipeline: OpenExchangeParts,
  call: ReservedCall,
  leg: Leg,
  reply: ClientReply,
): Promise<OpenedExchange> {
  const found = upstreamOf(leg, call.catalogue, call.endpoint)
  const { dialect, credential } = found
  const secret = leg.byok ? await ownCredential(pipeline, call, leg) : credential.secret
  if (secret === undefined) return { kind: 'skipped', reason: 'own credential removed', failure: undefined }
  const counts = countsOf(call.endpoint.kind, call.demand.estimate)
  const claim = await claimCredential(pipeline, call, { leg, counts })
  if (claim.kind === 'full') {
    const failure: FinalFailure = { kind: 'rate-limited', retryAfterMs: claim.retryAfterMs }
    return { kind: 'skipped', reason: 'credential-full', failure }
  }
  const formed = formRequest(found, {
    chain: leg.chain,
    secret,
    operation: call.stream ? 'stream' : 'generate',
    calledPath: call.endpoint.path,
  })
  if (formed === undefined) return { kind: 'skipped', reason: 'no address', failure: undefined }
  const lane = await openLane(pipeline, call, { leg, dialect, reply })
  if (lane.kind === 'refused') return { kind: 'skipped', reason: 'not convertible', failure: lane.failure }
  const exchange = new Exchange({
    send: (sink) => send(pipeline, call, { leg, found, secret, formed, lane: lane.lane }, sink),
    requestId: call.requestId,
    lane: lane.lane,
    extras: extrasWatchOf(leg, dialect),
    tierHeader: isConvertible(dialect) ? dialect.tierHeader : undefined,
    // If the answer may be bytes, it is a stream only if its content type says so.
    stream: call.stream && call.endpoint.kind.form?.answersInBytes === undefined,
    reply,
    replyHeaders: () => answerHeaders(call, leg.model.modelId, lane.lane.dropped),
    pulse: pipeline.pulse,
    timers: systemTimers,
    nextTurn: (go) => setImmediate(go),
    now: pipeline.now,
    ...listeners(pipeline, call, { leg, what: tasksOf(dialect, leg) === undefined ? 'answer' : 'task' }),
  })
  return { kind: 'open', exchange }
}

/** Over the network, or from a provider that answers without one. */
function send(
  pipeline: SendParts,
  call: ReservedCall,
  { leg, found, secret, formed, lane }: Sent,
  sink: GuardedSink,
): UpstreamExchange {
  const { upstream, now } = pipeline
  const { vendor, dialect } = found
  const { body, bodyLength } = lane
  if (dialect.respond !== undefined) {
    const operation = call.stream ? 'stream' : 'generate'
    const { forwardModelId } = leg.chain
    const request = {
      operation,
      forwardModelId,
      body: body.filter((piece) => piece instanceof Uint8Array),
      id: call.callId,
      at: now(),
    } as const
    return playOffline(dialect.respond({ ...request, ...formOf(call) }), sink)
  }
  const sent = {
    request: asAsked(call, leg, { formed, takesDocuments: takesDocuments(dialect) }),
    auth: dialect.auth,
    credential: secret,
    body,
    bodyLength,
    timeouts: vendor.timeouts,
    minBytesPerSecond: leg.chain.minBytesPerSecond,
  }
  const baseUrl = vendor.baseUrl ?? found.provider.defaultBaseUrl ?? ''
  const openRemote: Upstream['open'] = (to, sinkOf) =>
    pipeline.openRemote(to, sinkOf, { trustedHost: trustedHostOf({ baseUrl }) })
  const openOrder = openOrderOver(pipeline, { leg, dialect, baseUrl, openRemote })
  const uploaded = uploadOf(call, leg, dialect)
  if (uploaded === undefined) return openOrder(sent, sink)
  const { uploads, span } = uploaded
  const { chunks, stored } = call.body
  const parts = {
    upstream,
    openRemote,
    openOrder,
    ask: uploads.ask({ baseUrl, forwardModelId: leg.chain.forwardModelId }),
    uploads,
    file: { id: call.callId, form: stored === undefined ? chunks : [...chunks, stored], span },
  }
  return openUploadedFirst(parts, sent, sink)
}

type SendParts = Pick<Pipeline, 'upstream' | 'now' | 'openRemote' | 'pollPace'>

/** Sends a request whose files are where they belong, and reads its answer, that of its task where it makes one. */
function openOrderOver(
  { upstream, pollPace }: SendParts,
  target: {
    readonly leg: Leg
    readonly dialect: LegUpstream['dialect']
    readonly baseUrl: string
    readonly openRemote: Upstream['open']
  },
): (order: UpstreamCall, sink: GuardedSink) => UpstreamExchange {
  const { leg, dialect, baseUrl, openRemote } = target
  const tasks = tasksOf(dialect, leg)
  if (tasks === undefined)
    return (order, sink) =>
      upstream.open(dialect.framing === undefined ? order : { framing: dialect.framing, ...order }, sink)
  const { forwardModelId } = leg.chain
  const parts = {
    upstream,
    openRemote,
    timers: systemTimers,
    pace: pollPace,
    read: (reply: TaskReply) => tasks.read(reply, { baseUrl, forwardModelId }),
    ends: (refusal: UpstreamFailure) => REQUEST_AT_FAULT.has(dialect.classify(refusal).kind),
  }
  return (order, sink) => openPolledTask(parts, order, sink)
}

/** The file that has to be put elsewhere first, and how; undefined: none has. */
function uploadOf(
  { scan }: ReservedCall,
  { chain }: Leg,
  dialect: LegUpstream['dialect'],
): { readonly uploads: UploadForm; readonly span: Span } | undefined {
  const uploads = uploadsOf(dialect, chain.forwardModelId)
  const span = scan.form?.files[0]
  return uploads === undefined || span === undefined ? undefined : { uploads, span }
}

/** The task itself, or its content, was refused. Any other failure is a problem with the poll. */
const REQUEST_AT_FAULT: ReadonlySet<string> = new Set(['request', 'refused-content'])

/** How the vendor's tasks are polled; undefined: calls of this model do not become tasks. */
export function tasksOf(dialect: LegUpstream['dialect'], { chain }: Leg): TaskForm | undefined {
  const tasks = 'tasks' in dialect ? dialect.tasks : undefined
  return tasks?.isTask(chain.forwardModelId) === true ? tasks : undefined
}

function formOf({ scan }: ReservedCall): Pick<OfflineRequest, 'form'> {
  if (scan.form === undefined) return {}
  const { fields, files } = scan.form
  return { form: { fields, files: files.length, soundSeconds: scan.soundSeconds ?? 0 } }
}

interface Sent {
  readonly leg: Leg
  readonly found: LegUpstream
  readonly secret: CredentialSecret
  readonly formed: FormedRequest
  readonly lane: Lane
}

/** Extras are only looked for if they have a price. */
function extrasWatchOf({ model, chain }: Leg, dialect: LegUpstream['dialect']): ExchangeOptions['extras'] {
  if (!hasSurcharges(model) || !isConvertible(dialect)) return undefined
  return watchExtras(dialect.protocol, dialect.capabilities(chain.forwardModelId))
}

function asAsked(
  call: ReservedCall,
  leg: Leg,
  { formed, takesDocuments }: { readonly formed: FormedRequest; readonly takesDocuments: boolean },
): FormedRequest {
  const form = takesDocuments ? undefined : call.scan.form
  return {
    ...formed,
    url: call.endpoint.eventStream ? formed.url : withoutEventStream(formed.url),
    headers: Object.assign(
      {},
      formed.headers,
      forwardedHeaders(call, leg.chain.protocol),
      form && { 'content-type': form.contentType },
    ),
  }
}

/** Further work while an answer passes; a failure of it must not break the answer. */
function listeners(
  pipeline: OpenExchangeParts,
  call: ReservedCall,
  { leg, what }: { readonly leg: Leg; readonly what: LeftBehind },
): Pick<ExchangeOptions, 'graceMs' | 'onDrainEnd' | 'onProgress' | 'onCommit' | 'onClientGone' | 'onError'> {
  const { telemetry } = pipeline
  // Recovery charges the recorded usage, so the same upper limits apply to it as to settlement.
  const possible = (reading: MeterReading, answerBytes: number): MeterReading => ({
    ...reading,
    usage: possibleUsage(call, { leg, answerBytes }, reading.usage).usage,
  })
  return {
    graceMs: ({ begun }) => {
      const ms = graceMs(pipeline, call, { leg, begun, what })
      return ms > 0 && pipeline.drains.begin(call.account.id, what) ? ms : 0
    },
    onDrainEnd: () => pipeline.drains.end(call.account.id, what),
    onProgress: (reading, answerBytes) =>
      quietly(pipeline, call, 'note where an answer stands', () =>
        pipeline.progress(call, leg, possible(reading, answerBytes)),
      ),
    onCommit: () =>
      quietly(pipeline, call, 'count a first byte', () =>
        telemetry.metrics.firstByte({ protocol: call.endpoint.protocol, ms: pipeline.now() - call.at }),
      ),
    // The recorded usage is what the call costs if this process dies before its end.
    onClientGone: (reading, answerBytes) =>
      quietly(pipeline, call, 'note that a client has gone', () =>
        pipeline.onClientGone(call, leg, possible(reading, answerBytes)),
      ),
    onError: (error) =>
      telemetry.log.error({ requestId: call.requestId, error }, 'an exchange failed inside the gateway'),
  }
}

/** Of the body of a task that is followed without its client while the bodies of other calls take much room. */
const LEFT_TASK_BODY_BYTES_MAX = 262_144

/**
 * How long an answer is still read after its client disconnected: never past the deadline by which an answer must
 * begin, and not at all while the bodies of running calls take more than half of their limit. A task cannot be cut, so
 * it is polled as long as there is time; the room counts only if its own body is large.
 */
function graceMs(
  pipeline: OpenExchangeParts,
  call: ReservedCall,
  { leg, begun, what }: { readonly leg: Leg; readonly begun: boolean; readonly what: LeftBehind },
): number {
  const isSmall = what === 'task' && call.scan.bodyBytes <= LEFT_TASK_BODY_BYTES_MAX
  if (pipeline.bodyBudget.crowded && !isSmall) return 0
  const { clientGoneGraceMs } = leg.chain
  if (begun) return clientGoneGraceMs
  const leftMs = call.at + pipeline.limits.answerDeadlineMs - pipeline.now()
  return what === 'task' ? leftMs : Math.min(clientGoneGraceMs, leftMs)
}

async function ownCredential(
  pipeline: Pick<Pipeline, 'directory'>,
  call: ReservedCall,
  leg: Leg,
): Promise<CredentialSecret | undefined> {
  const own = await pipeline.directory.byok(call.account.id)
  return own.get(leg.chain.vendorCode)
}

/** A Gemini client that did not ask for server-sent events gets one JSON array, which the upstream then sends. */
function withoutEventStream(url: string): string {
  return url.replace(/[?&]alt=sse$/, '')
}

export type OpenLaneParts = Pick<Pipeline, 'conversions' | 'fetchRemote' | 'telemetry' | 'tokens'>

/**
 * Unchanged bytes if client and upstream speak the same protocol, else conversion (docs/reference/contract.md#1-11).
 */
export function openLane(
  pipeline: OpenLaneParts,
  call: ReservedCall,
  target: LaneTarget,
): OpenedLane | Promise<OpenedLane> {
  const { leg, dialect } = target
  // Upstreams do not have a conversation that is kept here: it is sent as if the client had sent it.
  if (dialect.protocol === call.endpoint.protocol && call.past?.kind !== 'kept') {
    const { form } = call.scan
    if (form !== undefined && takesDocuments(dialect))
      return openFormLane(pipeline, call, { leg, dialect, form })
    return openPassthroughLane(pipeline, call, leg, dialect)
  }
  if (!isConvertible(dialect)) throw new Error(`chain ${leg.chain.id} was chosen for a call of another form`)
  const priced = priceLeg(call, leg, dialect)
  if (priced.kind === 'refused') return priced
  return openConversionLane(pipeline, call, { ...target, dialect, leg: priced.leg })
}

/** The vendor accepts documents in place of forms. */
function takesDocuments(dialect: LegUpstream['dialect']): dialect is FormDialect {
  return 'rewrite' in dialect && dialect.rewrite !== undefined
}
