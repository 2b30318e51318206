import type { Funding } from '../../core/ledger/operations.ts'
import type { Chain, Model } from '../../core/catalogue.ts'
import { keepsAnswers } from '../../core/protocols/index.ts'
import { type ChainHealth, asSeenByOwner } from '../../core/routing/health.ts'
import { type ChainOrder, orderChains } from '../../core/routing/order.ts'
import type { AdmittedCall, ReservedCall } from '../call.ts'
import { answersInBackground, issuerOfChain, upstreamAccountOf } from './dialect.ts'
import type { Pipeline } from '../context.ts'
import { ENVELOPE_HEAD_LENGTH, ENVELOPE_START, issuerOfEnvelope } from '../../core/canonical/envelope.ts'

export type RouteParts = Pick<Pipeline, 'draw' | 'health' | 'now'>

/** One model's chains in the order they are tried, with who pays for them. */
export interface Route {
  readonly model: Model
  readonly funding: Funding
  readonly order: ChainOrder
  readonly fallback: boolean
}

/** The requested model's chains. */
export function route(pipeline: RouteParts, call: ReservedCall): Route {
  return routeOf(pipeline, call, { model: call.model, funding: call.reservation.model, fallback: false })
}

export function mayFallBack({ fallback, reservation }: ReservedCall): boolean {
  return fallback !== undefined && reservation.fallback?.kind === 'funded'
}

/**
 * The fallback model's chains, when it was admitted and funded; it is routed like any model
 * (docs/reference/contract.md#1-49).
 */
export function routeFallback(pipeline: RouteParts, call: ReservedCall): Route | undefined {
  const funding = call.reservation.fallback
  if (call.fallback === undefined || funding === undefined || funding.kind === 'refused') return undefined
  return routeOf(pipeline, call, { model: call.fallback, funding, fallback: true })
}

function routeOf(
  pipeline: RouteParts,
  call: ReservedCall,
  target: { readonly model: Model; readonly funding: Funding; readonly fallback: boolean },
): Route {
  return { order: orderFor(pipeline, call, target), ...target }
}

/** The order alone, without making the call. */
export function orderFor(
  pipeline: Pick<Pipeline, 'now' | 'health' | 'draw'>,
  call: AdmittedCall | ReservedCall,
  target: Pick<Route, 'model' | 'funding'>,
): ChainOrder {
  const { past, scan, catalogue } = call
  const mayAnswer = (chain: Chain): boolean =>
    (past?.kind !== 'upstream' || leadsTo(past.place, chain, target)) &&
    (!scan.background || answersInBackground(chain, catalogue))
  const favoured = issuerFavour(call, target.model.chains)
  return orderChains(target.model, catalogue, {
    now: pipeline.now(),
    healthOf: healthFor(pipeline, target.funding),
    draw: pipeline.draw,
    mayUse: (vendor) => target.funding.otherwise !== 'none' || target.funding.byokVendors.includes(vendor),
    speaks: (protocol) => call.endpoint.kind.chains.includes(protocol),
    preferred: call.endpoint.protocol,
    ...(past?.kind === 'upstream' || scan.background ? { mayAnswer } : {}),
    ...(favoured === undefined ? {} : { favoured }),
  })
}

/**
 * The health of chains for a call with this funding: with an own credential, the limits of the platform's do not apply.
 */
export function healthFor(
  { health }: Pick<Pipeline, 'health'>,
  { byokVendors }: Funding,
): (chain: Chain) => ChainHealth {
  return (chain) =>
    byokVendors.includes(chain.vendorCode) ? asSeenByOwner(health.of(chain)) : health.of(chain)
}

function leadsTo(place: string, chain: Chain, { funding }: Pick<Route, 'funding'>): boolean {
  const byok = funding.byokVendors.includes(chain.vendorCode)
  return keepsAnswers(chain.protocol) && upstreamAccountOf({ chain, byok }) === place
}

/**
 * Prefers chains that can read the reasoning in a call's history: a chain of that issuer keeps the model's train of
 * thought (docs/protocols.md#reasoning-envelope). Found by searching the bytes for the newest envelope, so that a call
 * without one costs almost nothing.
 */
export function issuerFavour(
  call: Pick<ReservedCall, 'body' | 'past' | 'catalogue'>,
  chains: readonly Chain[],
): ((chain: Chain) => boolean) | undefined {
  if (chains.length < 2) return undefined
  const issuer = newestIssuer(call)
  if (issuer === undefined) return undefined
  return (chain) => issuerOfChain(chain, call.catalogue) === issuer
}

/** As a JSON string begins. An envelope that is cut by the end of a chunk is missed; that only loses a preference. */
const NEEDLE = `"${ENVELOPE_START}`

/** Of a long conversation only the end is searched. */
const PAST_BYTES_LOOKED_AT = 4 * 1024 * 1024

function newestIssuer({ body, past }: Pick<ReservedCall, 'body' | 'past'>): string | undefined {
  for (let index = body.chunks.length - 1; index >= 0; index -= 1) {
    const issuer = lastIssuer(body.chunks[index])
    if (issuer !== undefined) return issuer
  }
  return past?.kind === 'kept' ? lastIssuer(past.bytes.subarray(-PAST_BYTES_LOOKED_AT)) : undefined
}

function lastIssuer(chunk: Uint8Array | undefined): string | undefined {
  if (chunk === undefined) return undefined
  const json = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
  const at = json.lastIndexOf(NEEDLE)
  if (at < 0) return undefined
  const [head = ''] = json.toString('latin1', at + 1, at + 1 + ENVELOPE_HEAD_LENGTH).split('"', 1)
  return issuerOfEnvelope(head)
}
