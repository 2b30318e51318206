import type { CredentialSecret } from '../../core/catalogue.ts'
import { type Soon, whenKnown } from '../../core/soon.ts'
import type { ReservedCall } from '../call.ts'
import { claimCredential, formRequest, isConvertible, upstreamOf } from '../attempt/dialect.ts'
import { Exchange } from './exchange.ts'
import type { Pipeline } from '../context.ts'
import { countsOf } from '../stages/estimate.ts'
import type { ClientReply } from '../reply.ts'
import type { Leg } from '../attempt/leg.ts'
import type { FinalFailure } from '../attempt/attempt-outcome.ts'
import { openConversionLane } from '../lanes/convert.ts'
import { openFormLane, takesDocuments } from '../lanes/form-lane.ts'
import { openPassthroughLane } from '../lanes/passthrough-lane.ts'
import { priceLeg } from '../stages/price-leg.ts'
import type { LaneTarget, OpenedLane } from '../lanes/lane-target.ts'
import { LegExchange, type LegExchangeParts } from './leg-exchange.ts'
import type { Sent } from './send-leg.ts'

export type OpenExchangeParts = OpenLaneParts & LegExchangeParts & Pick<Pipeline, 'directory' | 'storage'>

export type OpenedExchange =
  | { readonly kind: 'open'; readonly exchange: Exchange }
  | { readonly kind: 'skipped'; readonly reason: string; readonly failure: FinalFailure | undefined }

/**
 * Builds the request for one chain and sends it. A credential that is at its own limit is skipped, which is not an
 * error.
 */
export function openExchange(
  pipeline: OpenExchangeParts,
  call: ReservedCall,
  leg: Leg,
  reply: ClientReply,
): Soon<OpenedExchange> {
  const found = upstreamOf(leg, call.catalogue, call.endpoint)
  const secret = leg.byok ? ownCredential(pipeline, call, leg) : found.credential.secret
  return whenKnown(secret, (known) => {
    if (known === undefined) return OWN_REMOVED
    const counts = countsOf(call.endpoint.kind, call.demand.estimate)
    return whenKnown(claimCredential(pipeline, call, { leg, counts }), (claim) => {
      if (claim.kind === 'claimed') return openClaimed(pipeline, call, { leg, found, secret: known }, reply)
      const failure: FinalFailure = { kind: 'rate-limited', retryAfterMs: claim.retryAfterMs }
      return { kind: 'skipped', reason: 'credential-full', failure }
    })
  })
}

const OWN_REMOVED: OpenedExchange = {
  kind: 'skipped',
  reason: 'own credential removed',
  failure: undefined,
}

function openClaimed(
  pipeline: OpenExchangeParts,
  call: ReservedCall,
  { leg, found, secret }: Pick<Sent, 'leg' | 'found' | 'secret'>,
  reply: ClientReply,
): Soon<OpenedExchange> {
  const formed = formRequest(found, {
    chain: leg.chain,
    secret,
    operation: call.stream ? 'stream' : 'generate',
    calledPath: call.endpoint.path,
  })
  if (formed === undefined) return { kind: 'skipped', reason: 'no address', failure: undefined }
  return whenKnown(openLane(pipeline, call, { leg, dialect: found.dialect, reply }), (lane) => {
    if (lane.kind === 'refused') return { kind: 'skipped', reason: 'not convertible', failure: lane.failure }
    const sent = { leg, found, secret, formed, lane: lane.lane }
    return { kind: 'open', exchange: new Exchange(new LegExchange(pipeline, call, sent, reply)) }
  })
}

async function ownCredential(
  pipeline: Pick<Pipeline, 'directory'>,
  call: ReservedCall,
  leg: Leg,
): Promise<CredentialSecret | undefined> {
  const own = await pipeline.directory.byok(call.account.id)
  return own.get(leg.chain.vendorCode)
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
