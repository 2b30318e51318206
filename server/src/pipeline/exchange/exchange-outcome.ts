/** The result of an attempt: before its answer begins, and after. */
import type { ErrorCode } from '../../core/errors/catalogue.ts'
import type { JsonValue } from '../../core/json.ts'
import type { MeterReading } from '../../core/metering/meter.ts'
import type { ToldExtras } from '../../core/metering/reported-extras.ts'
import type { TransportFailure, UpstreamHead } from '../../upstream/upstream.ts'
import type { AnswerFailure } from '../lanes/lane.ts'

/** The result of the attempt before anything was sent to the client. */
export type Verdict =
  | { readonly kind: 'committed' }
  | { readonly kind: 'failed'; readonly failure: AttemptFailure }
  /** The client has disconnected; `ended` reports what the upstream makes until it is cut. */
  | { readonly kind: 'gone' }
  /** The gateway is stopping. */
  | { readonly kind: 'stopped' }
  /** The gateway itself failed. */
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

/** Why an answer broke after it began: the upstream's own error event, else what was observed. */
export interface Trouble {
  readonly detail: string
  readonly status?: number | undefined
  readonly raw?: JsonValue
}

/** How an answer ended that began or whose client disconnected. */
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
   * How far the upstream got with its answer. `none`: it made nothing, as far as known. `broken`: it stopped by itself.
   * `cut`: the gateway stopped it while it may have been generating.
   */
  readonly generation: 'none' | 'whole' | 'broken' | 'cut'
  /** The best figure that is known; undefined: there was no answer. */
  readonly reading: MeterReading | undefined
  /** The extras that the answer reports; undefined: nothing was read. */
  readonly extras: ToldExtras | undefined
  /** Output tokens as last reported by the upstream; undefined: never. */
  readonly reportedOutput: number | undefined
  /** ms from the request to the end. */
  readonly generatedMs: number
  /** ms of it since the upstream last reported its output; all of it if it never did. */
  readonly unreportedMs: number
  /** The client always kept up, so the time is the upstream's own. */
  readonly unhindered: boolean
  /** Code and message that the client got, if they were the gateway's own. */
  readonly code: ErrorCode | undefined
  readonly message: string | undefined
}
