/**
 * How one attempt's bytes travel between client and upstream: untouched where both speak the same protocol
 * (`passthrough-lane.ts`), through the canonical form where they do not (`convert.ts`). The exchange drives either
 * without knowing which.
 */
import type { JsonValue } from '../../core/json.ts'
import type { Meter } from '../../core/metering/meter.ts'
import type { StreamFailure } from '../../core/passthrough/breaks.ts'
import type { BodyPiece } from '../../core/passthrough/splice.ts'

export type Bytes = Uint8Array | string

/** Methods, not getters: an object literal with a getter makes garbage in every call (docs/performance.md). */
export interface Lane {
  /** What goes upstream. */
  readonly body: readonly BodyPiece[]
  readonly bodyLength: number
  /** JSON paths of the request that had no counterpart. */
  readonly dropped: readonly string[]
  /** What of the requested extras is in `body`; absent: all of them. */
  readonly sentExtras?: readonly string[] | undefined
  /** The upstream reported no input count: the meter's is a quick estimate, to be counted properly at settlement. */
  inputEstimated(): boolean
  /** Reasoning of the history goes back to its issuer in it. Absent: it does not. */
  replays?(): boolean
  /** A stream that was not asked for can be passed on as it comes. Absent: it cannot. */
  readonly passesStreams?: true
  openStream(): StreamLane
  /** `contentType`: as the upstream names it; undefined: it does not, or there is no answer yet. */
  openWhole(contentType?: string): WholeLane
}

/** What is kept of a response: its whole JSON, or the id under which the upstream keeps it. */
export type KeptAnswer =
  | { readonly kind: 'response'; readonly json: string }
  | { readonly kind: 'id'; readonly id: string }

/** What is known of an answer in either form. */
export interface AnswerLane {
  /** Once the answer has ended well, where the client may continue from it. */
  kept(): KeptAnswer | undefined
  /** What was used and produced. */
  readonly meter: LaneMeter
}

export type LaneMeter = Pick<Meter, 'glance' | 'read' | 'toldOutput'>

/** A streamed answer on its way: complete events in, complete events out. */
export interface StreamLane extends AnswerLane {
  readonly contentType: string
  push(chunk: Uint8Array): StreamStep
  /** The upstream closed: trailing bytes, or a failure when its terminator never came. */
  end(): StreamStep
  keepAlive(): Bytes | undefined
  /** Bytes of what came so far that only keep the connection alive: comments, pings. */
  readonly keepAliveBytes: number
  /** A failure of the gateway's in the client protocol's own way, after the stream has begun. */
  failure(failure: StreamFailure): Bytes
}

export interface StreamStep {
  readonly output: readonly Bytes[]
  /** The first content, tool call, reasoning, refusal or clean finish has been seen: the answer may begin. */
  readonly meaningful: boolean
  /**
   * `finishing`: a clean end is in sight, now or before. `finished`: the protocol's last event has come, nothing may
   * follow. `enough`: the answer is over for the client although the upstream would continue, as at a stop sequence that
   * could not be sent to it.
   */
  readonly stage: 'flowing' | 'finishing' | 'finished' | 'enough'
  /** The upstream reported an error inside its 200, or broke its own protocol. */
  readonly failure: AnswerFailure | undefined
}

/** `cut`: the stream ended without its terminator. `error`: the upstream said so itself; `delivered` when `output` already tells the client. */
export type AnswerFailure =
  | { readonly kind: 'cut' }
  | {
      readonly kind: 'error'
      readonly status: number | undefined
      readonly raw: JsonValue
      readonly delivered: boolean
    }

export interface WholeLane extends AnswerLane {
  /** Passed on as it comes, without holding anything back. Absent: it is held up to a limit. */
  readonly flows?: true
  /** Of what it gave, where that is not what the upstream sent. */
  readonly contentType?: string | undefined
  /** Bytes ready for the client; a lane that needs the whole document gives them at `end`. */
  push(chunk: Uint8Array): readonly Bytes[]
  end(): WholeEnd
  /** Instead of `end`, if the document is too large to be parsed at once; undefined: it is not. */
  endFar?(): Promise<WholeEnd> | undefined
  /** The client has gone: from now on the answer is read for its usage alone. Absent: nothing of it is kept anyway. */
  forget?(): void
}

export interface WholeEnd {
  readonly output: readonly Bytes[]
  readonly failure: AnswerFailure | undefined
}
