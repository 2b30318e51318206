import type { CredentialSecret } from '../core/catalogue.ts'
import type { Dialect } from '../providers/provider.ts'
import type { FinalFailure, Leg } from './attempt.ts'
import type { ReservedCall } from './call.ts'
import { claimCredential } from './claim-credential.ts'
import { formRequest, upstreamOf } from './dialect.ts'
import { Exchange, type ExchangeOptions } from './exchange.ts'
import type { Gateway } from './gateway.ts'
import { answerHeaders, forwardedHeaders } from './headers.ts'
import { openLane } from './open-lane.ts'
import type { ClientReply } from './reply.ts'

export type OpenedExchange =
  | { readonly kind: 'open'; readonly exchange: Exchange }
  | { readonly kind: 'skipped'; readonly reason: string; readonly failure: FinalFailure | undefined }

/** Forms the request for one chain and sends it. A credential that is at its own limit is passed over, not an error. */
export async function openExchange(
  gateway: Gateway,
  call: ReservedCall,
  leg: Leg,
  reply: ClientReply,
): Promise<OpenedExchange> {
  const found = upstreamOf(leg, call.catalogue)
  const { vendor, dialect, credential } = found
  const secret = leg.byok ? await ownCredential(gateway, call, leg) : credential.secret
  if (secret === undefined) return { kind: 'skipped', reason: 'own credential removed', failure: undefined }
  const counts = { requests: 1, images: call.demand.estimate.images, videos: 0, videoSeconds: 0 }
  const claim = await claimCredential(gateway, call, { leg, counts })
  if (claim.kind === 'full') {
    const failure: FinalFailure = { kind: 'rate-limited', retryAfterMs: claim.retryAfterMs }
    return { kind: 'skipped', reason: 'credential-full', failure }
  }
  const formed = formRequest(found, {
    chain: leg.chain,
    secret,
    operation: call.stream ? 'stream' : 'generate',
  })
  if (formed === undefined) return { kind: 'skipped', reason: 'no address', failure: undefined }
  const lane = await openLane(gateway, call, leg, dialect)
  if (lane.kind === 'refused') return { kind: 'skipped', reason: 'not convertible', failure: lane.failure }
  const exchange = new Exchange({
    upstream: gateway.upstream,
    offline: offlineOf(dialect),
    forwardModelId: leg.chain.forwardModelId,
    callId: call.callId,
    request: {
      ...formed,
      url: call.endpoint.eventStream ? formed.url : withoutEventStream(formed.url),
      headers: { ...formed.headers, ...forwardedHeaders(call, leg.chain.protocol) },
    },
    auth: dialect.auth,
    framing: dialect.framing,
    credential: secret,
    timeouts: vendor.timeouts,
    lane: lane.lane,
    stream: call.stream,
    reply,
    replyHeaders: () => answerHeaders(call, leg.model.modelId, lane.lane.dropped),
    pulse: gateway.pulse,
    now: gateway.now,
    onProgress: (reading) => gateway.progress(call, leg, reading),
    onCommit: () =>
      gateway.telemetry.metrics.firstByte({ protocol: call.endpoint.protocol, ms: gateway.now() - call.at }),
  })
  return { kind: 'open', exchange }
}

async function ownCredential(
  gateway: Gateway,
  call: ReservedCall,
  leg: Leg,
): Promise<CredentialSecret | undefined> {
  const own = await gateway.directory.byok(call.account.id)
  return own.get(leg.chain.vendorCode)
}

function offlineOf(dialect: Dialect): ExchangeOptions['offline'] {
  return dialect.respond === undefined ? undefined : dialect.respond.bind(dialect)
}

/** A Gemini client that did not ask for server-sent events gets what the upstream then sends: one JSON array. */
function withoutEventStream(url: string): string {
  return url.replace(/[?&]alt=sse$/, '')
}
