/**
 * How the bytes of one attempt pass between client and upstream: unchanged if both speak the same protocol
 * (`passthrough-lane.ts`), through the canonical form if not (`convert.ts`). The exchange uses either without knowing
 * which.
 */
import type { JsonValue } from '../../core/json.ts'
import type { Meter } from '../../core/metering/meter.ts'
import type { StreamFailure } from '../../core/passthrough/breaks.ts'
import type { BodyPiece } from '../../core/passthrough/splice.ts'

export type Bytes = Uint8Array | string

/** Methods, not getters: an object literal with a getter allocates in every call (docs/performance.md). */
export interface Lane {
  /** The body to send upstream. */
  readonly body: readonly BodyPiece[]
  readonly bodyLength: number
  /** JSON paths of the request that had no counterpart. */
  readonly dropped: readonly string[]
  /** The requested extras that are in `body`; absent: all of them. */
  readonly sentExtras?: readonly string[] | undefined
  /** The upstream reported no input count: the meter's is a quick estimate, to be counted exactly at settlement. */
  inputEstimated(): boolean
  /** The request sends reasoning of the history back to its issuer. Absent: it does not. */
  replays?(): boolean
  /** An unrequested stream can be passed on. Absent: it cannot. */
  readonly passesStreams?: boolean
  openStream(): StreamLane
  /** `contentType`: as the upstream names it; undefined: it does not, or there is no answer yet. */
  openWhole(contentType?: string): WholeLane
}

/** What is stored of a response: its whole JSON, or the id under which the upstream stores it. */
export type KeptAnswer =
  | { readonly kind: 'response'; readonly json: string }
  | { readonly kind: 'id'; readonly id: string }

/** The facts about an answer in either form. */
export interface AnswerLane {
  /** Available once the answer has ended well, if the client may continue from it. */
  kept(): KeptAnswer | undefined
  /** What was used and produced. */
  readonly meter: LaneMeter
}

export type LaneMeter = Pick<Meter, 'glance' | 'read' | 'reportedOutput'>

/** A streamed answer: complete events in, complete events out. */
export interface StreamLane extends AnswerLane {
  readonly contentType: string
  push(chunk: Uint8Array): StreamStep
  /** The upstream closed: trailing bytes, or a failure if its terminator is missing. */
  end(): StreamStep
  keepAlive(): Bytes | undefined
  /** Bytes received so far that only keep the connection alive: comments, pings. */
  readonly keepAliveBytes: number
  /** A failure of the gateway in the client protocol's own form, after the stream has begun. */
  failure(failure: StreamFailure): Bytes
}

export interface StreamStep {
  readonly output: readonly Bytes[]
  /** The first content, tool call, reasoning, refusal or clean finish has been seen: the answer may begin. */
  readonly meaningful: boolean
  /**
   * `finishing`: the terminator was received, but more events may follow. `finished`: the protocol's last event was
   * received, nothing may follow. `enough`: the answer has ended for the client although the upstream would continue,
   * as at a stop sequence that could not be sent to it.
   */
  readonly stage: 'flowing' | 'finishing' | 'finished' | 'enough'
  /** The upstream reported an error inside its 200, or broke its own protocol. */
  readonly failure: AnswerFailure | undefined
}

/**
 * `cut`: the stream ended without its terminator. `error`: the upstream reported it; `delivered` if `output` already
 * contains it.
 */
export type AnswerFailure =
  | { readonly kind: 'cut' }
  | {
      readonly kind: 'error'
      readonly status: number | undefined
      readonly raw: JsonValue
      readonly delivered: boolean
    }

export interface WholeLane extends AnswerLane {
  /** Passed on as received, without holding anything back. Absent: it is held up to a limit. */
  readonly flows?: true
  /** Content type of its output, if that is not what the upstream sent. */
  readonly contentType?: string | undefined
  /** Bytes ready for the client; a lane that needs the whole document returns them at `end`. */
  push(chunk: Uint8Array): readonly Bytes[]
  end(): WholeEnd
  /** Instead of `end`, if the document is too large to be parsed at once; undefined: it is not. */
  endFar?(): Promise<WholeEnd> | undefined
  /**
   * The client has disconnected: from now on the answer is read for its usage alone. Absent: nothing of it is kept
   * anyway.
   */
  forget?(): void
}

export interface WholeEnd {
  readonly output: readonly Bytes[]
  readonly failure: AnswerFailure | undefined
}
