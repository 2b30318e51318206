/** The result of an attempt: before its answer begins, and after. */
import type { ErrorCode } from '../../core/errors/catalogue.ts'
import type { JsonValue } from '../../core/json.ts'
import type { MeterReading } from '../../core/metering/meter.ts'
import type { ToldExtras } from '../../core/metering/told-extras.ts'
import type { TransportFailure, UpstreamHead } from '../../upstream/upstream.ts'
import type { AnswerFailure } from '../lanes/lane.ts'

/** The result of the attempt before anything was sent to the client. */
export type Verdict =
  | { readonly kind: 'committed' }
  | { readonly kind: 'failed'; readonly failure: AttemptFailure }
  /** The client has gone; what the upstream makes until it is cut is told by `ended`. */
  | { readonly kind: 'gone' }
  /** The gateway stops. */
  | { readonly kind: 'stopped' }
  /** The gateway itself broke. */
  | { readonly kind: 'broken'; readonly error: unknown }

export type AttemptFailure =
  | { readonly kind: 'transport'; readonly transport: TransportFailure }
  | { readonly kind: 'deadline' }
  | {
      readonly kind: 'status'
      readonly status: number
      readonly headers: UpstreamHead['headers']
      readonly body: Uint8Array
    }
  | { readonly kind: 'answer'; readonly answer: AnswerFailure }

/** Why an answer broke after it began: the upstream's own error event, else what was seen. */
export interface Trouble {
  readonly detail: string
  readonly status?: number | undefined
  readonly raw?: JsonValue
}

/** How an answer that began, or whose client has gone, ended. */
export type Ending =
  | 'complete'
  | 'upstream-error'
  | 'upstream-cut'
  | 'timeout'
  | 'client-gone'
  | 'stopped'
  | 'gateway-error'

export interface Ended {
  readonly ending: Ending
  /**
   * How far the upstream came with its answer. `none`: it made nothing, as far as is known. `broken`: it stopped by
   * itself. `cut`: we stopped it while it may have been generating.
   */
  readonly generation: 'none' | 'whole' | 'broken' | 'cut'
  /** The best figure that is known; undefined: there was no answer. */
  readonly reading: MeterReading | undefined
  /** What it reports about what costs extra; undefined: nothing was read. */
  readonly extras: ToldExtras | undefined
  /** Output tokens as the upstream told them last; undefined: it never did. */
  readonly toldOutput: number | undefined
  /** ms from the request to the end. */
  readonly generatedMs: number
  /** ms of it since the upstream last told how much output there was; all of it where it never told. */
  readonly untoldMs: number
  /** The client always kept up: the time is the upstream's own. */
  readonly unhindered: boolean
  /** What the client was told, where the gateway told it: code and words. */
  readonly code: ErrorCode | undefined
  readonly message: string | undefined
}
