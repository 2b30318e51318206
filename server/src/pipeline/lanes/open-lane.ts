import type { ReservedCall } from '../call.ts'
import { openConversionLane } from './convert.ts'
import type { Pipeline } from '../context.ts'
import type { Lane } from './lane.ts'
import { openPassthroughLane } from './passthrough-lane.ts'
import { priceLeg } from '../stages/price-leg.ts'
import { isConvertible } from '../attempt/dialect.ts'
import type { LaneTarget, OpenedLane } from './lane-target.ts'

export type OpenLaneParts = Pick<Pipeline, 'conversions' | 'fetchRemote' | 'telemetry' | 'tokens'>

/**
 * Untouched bytes where client and upstream speak the same protocol, conversion where they do not
 * (docs/reference/contract.md#1-11).
 */
export function openLane(
  pipeline: OpenLaneParts,
  call: ReservedCall,
  target: LaneTarget,
): OpenedLane | Promise<OpenedLane> {
  const { leg, dialect } = target
  // A conversation kept here is known to no upstream: it goes as if the client had sent it.
  if (dialect.protocol === call.endpoint.protocol && call.past?.kind !== 'kept') {
    const lane = openPassthroughLane(pipeline, call, leg, dialect)
    return lane instanceof Promise ? lane.then(opened) : opened(lane)
  }
  if (!isConvertible(dialect)) throw new Error(`chain ${leg.chain.id} was chosen for a call of another form`)
  const priced = priceLeg(call, leg, dialect)
  if (priced.kind === 'refused') return priced
  return openConversionLane(pipeline, call, { ...target, dialect, leg: priced.leg })
}

function opened(lane: Lane): OpenedLane {
  return { kind: 'open', lane }
}
