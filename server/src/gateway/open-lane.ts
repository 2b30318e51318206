import { findUnpriced, unpricedTools } from '../core/pricing/surcharges.ts'
import { providerOf } from '../providers/index.ts'
import type { Dialect } from '../providers/provider.ts'
import type { FinalFailure, Leg } from './attempt.ts'
import { capabilitiesOf } from './dialect.ts'
import type { ReservedCall } from './call.ts'
import { openConversionLane } from './convert.ts'
import type { Gateway } from './gateway.ts'
import type { Lane } from './lane.ts'
import { openPassthroughLane } from './passthrough-lane.ts'
import type { ClientReply } from './reply.ts'

export type OpenedLane =
  | { readonly kind: 'open'; readonly lane: Lane }
  | { readonly kind: 'refused'; readonly failure: FinalFailure | undefined }

/** Where a call's request goes, and who waits for it. */
export interface LaneTarget {
  readonly leg: Leg
  readonly dialect: Dialect
  readonly reply: ClientReply
}

/** Untouched bytes where client and upstream speak the same protocol, conversion where they do not (contract §1.3). */
export function openLane(
  gateway: Gateway,
  call: ReservedCall,
  target: LaneTarget,
): OpenedLane | Promise<OpenedLane> {
  const { leg, dialect } = target
  // A conversation kept here is known to no upstream: it goes as if the client had sent it.
  if (dialect.protocol === call.endpoint.protocol && call.past?.kind !== 'kept') {
    const lane = openPassthroughLane(gateway, call, leg, dialect)
    return lane instanceof Promise ? lane.then(opened) : opened(lane)
  }
  const { serviceTier, hostedTools } = capabilitiesOf(leg.chain, dialect)
  const dear = dearOf(call, leg)
  const unpriced = serviceTier ? findUnpriced(leg.model, tiersOf(call), dear) : undefined
  if (unpriced !== undefined) return { kind: 'refused', failure: unpricedFailure(unpriced, leg) }
  const withoutPrice = unpricedTools(leg.model, hostedTools, dear)
  const narrowed = withoutPrice.length === 0 ? leg : { ...leg, unpricedTools: withoutPrice }
  return openConversionLane(gateway, call, { leg: narrowed, dialect, reply: target.reply })
}

function opened(lane: Lane): OpenedLane {
  return { kind: 'open', lane }
}

/** What the vendor of a chain charges for beside its tokens. */
function dearOf({ catalogue }: ReservedCall, { chain }: Leg): readonly string[] {
  const kind = catalogue.vendors.get(chain.vendorCode)?.kind
  return (kind === undefined ? undefined : providerOf(kind)?.dear) ?? []
}

/** The only dear field that conversion passes on. */
function tiersOf({ scan }: ReservedCall): readonly string[] {
  return scan.extras.dearFields.filter((name) => name.startsWith('service_tier'))
}

function unpricedFailure(extra: string, { model }: Leg): FinalFailure {
  const message = `${extra} costs extra at this model's vendor and has no price here: leave it out`
  return {
    kind: 'unconvertible',
    message: `${model.modelId}: ${message}`,
    details: { param: extra.split('.', 1)[0] ?? extra, reason: 'field_without_price' },
  }
}
