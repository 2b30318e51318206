import type { Dialect } from '../providers/provider.ts'
import type { FinalFailure, Leg } from './attempt.ts'
import type { ReservedCall } from './call.ts'
import { openConversionLane } from './convert.ts'
import type { Gateway } from './gateway.ts'
import type { Lane } from './lane.ts'
import { openPassthroughLane } from './passthrough-lane.ts'

export type OpenedLane =
  | { readonly kind: 'open'; readonly lane: Lane }
  | { readonly kind: 'refused'; readonly failure: FinalFailure | undefined }

/** Untouched bytes where client and upstream speak the same protocol, conversion where they do not (contract §1.3). */
export function openLane(
  gateway: Gateway,
  call: ReservedCall,
  leg: Leg,
  dialect: Dialect,
): OpenedLane | Promise<OpenedLane> {
  // A conversation kept here is known to no upstream: it goes as if the client had sent it.
  if (dialect.protocol === call.endpoint.protocol && call.past?.kind !== 'kept') {
    return { kind: 'open', lane: openPassthroughLane(gateway, call, leg, dialect) }
  }
  return openConversionLane(gateway, call, leg, dialect)
}
