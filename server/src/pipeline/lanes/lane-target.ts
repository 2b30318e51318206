/** What a lane is opened for, and the result of opening it. */
import type { Lane } from './lane.ts'
import type { FinalFailure } from '../attempt/attempt-outcome.ts'
import type { Leg } from '../attempt/leg.ts'
import type { Dialect, PassedDialect } from '../../providers/provider.ts'
import type { ClientReply } from '../reply.ts'

export type OpenedLane =
  | { readonly kind: 'open'; readonly lane: Lane }
  | { readonly kind: 'refused'; readonly failure: FinalFailure | undefined }

/** This vendor cannot take the request, another one may. `message` is for the client. */
export function unconvertible(message: string): OpenedLane {
  return { kind: 'refused', failure: { kind: 'unconvertible', message, details: undefined } }
}

/** Where a call's request goes, and who waits for the answer. */
export interface LaneTarget<DialectOf = Dialect | PassedDialect> {
  readonly leg: Leg
  readonly dialect: DialectOf
  readonly reply: ClientReply
}
