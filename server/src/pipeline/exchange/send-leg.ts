/** Sends the request of a call over one chain. */
import type { CredentialSecret } from '../../core/catalogue.ts'
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
import type { ReservedCall } from '../call.ts'
import { type LegUpstream, trustedHostOf, uploadsOf } from '../attempt/dialect.ts'
import { openPolledTask } from '../attempt/polled-task.ts'
import type { Pipeline } from '../context.ts'
import { forwardedHeaders } from '../headers.ts'
import type { Leg } from '../attempt/leg.ts'
import type { Lane } from '../lanes/lane.ts'
import { takesDocuments } from '../lanes/form-lane.ts'
import type { Span } from '../../core/passthrough/splice.ts'
import { openUploadedFirst } from '../attempt/uploaded-first.ts'

/** Over the network, or from a provider that answers without one. */
export function send(
  pipeline: SendParts,
  call: ReservedCall,
  sent: Sent,
  sink: GuardedSink,
): UpstreamExchange {
  const { upstream, now } = pipeline
  const { leg, found, secret, lane } = sent
  const { vendor, dialect } = found
  const { body, bodyLength } = lane
  const onBodySent = call.body.memory?.lend()
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
  const order = {
    request: asAsked(call, sent),
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
  const openOrder = openOrderOver(pipeline, { leg, dialect, baseUrl, openRemote, onBodySent })
  const uploaded = uploadOf(call, leg, dialect)
  if (uploaded === undefined) return openOrder(order, sink)
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
  return openUploadedFirst(parts, order, sink)
}

export type SendParts = Pick<Pipeline, 'upstream' | 'now' | 'openRemote' | 'pollPace'>

/** Sends a request whose files are where they belong, and reads its answer, that of its task where it makes one. */
function openOrderOver(
  { upstream, pollPace }: SendParts,
  target: {
    readonly leg: Leg
    readonly dialect: LegUpstream['dialect']
    readonly baseUrl: string
    readonly openRemote: Upstream['open']
    /** Known only of a body that is sent once, as it is. */
    readonly onBodySent: (() => void) | undefined
  },
): (order: UpstreamCall, sink: GuardedSink) => UpstreamExchange {
  const { leg, dialect, baseUrl, openRemote } = target
  const tasks = tasksOf(dialect, leg)
  if (tasks === undefined) {
    const { framing } = dialect
    const { onBodySent } = target
    return (order, sink) => upstream.open({ framing, onBodySent, ...order }, sink)
  }
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

export interface Sent {
  readonly leg: Leg
  readonly found: LegUpstream
  readonly secret: CredentialSecret
  readonly formed: FormedRequest
  readonly lane: Lane
}

function asAsked(call: ReservedCall, { leg, found, formed }: Sent): FormedRequest {
  const form = takesDocuments(found.dialect) ? undefined : call.scan.form
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

/** A Gemini client that did not ask for server-sent events gets one JSON array, which the upstream then sends. */
function withoutEventStream(url: string): string {
  return url.replace(/[?&]alt=sse$/, '')
}
