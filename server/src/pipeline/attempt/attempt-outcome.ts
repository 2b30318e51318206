/** The result of trying one chain. */
import type { Leg } from './leg.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { AttemptRecord } from '../../core/ledger/log-row.ts'
import type { AttemptFailure } from '../exchange/exchange-outcome.ts'
import type { ChainFailure } from '../../core/routing/health.ts'
import type { JsonObject } from '../../core/json.ts'

/** The result of all attempts together. */
export type Attempted = Tries &
  (
    | { readonly kind: 'answering'; readonly leg: Leg; readonly exchange: Exchange }
    | { readonly kind: 'failed'; readonly failure: FinalFailure }
    /** The client has disconnected; the exchange still reports what the vendor made. */
    | { readonly kind: 'gone'; readonly leg: Leg; readonly exchange: Exchange }
    /** The gateway is stopping, and nothing has reached the client. */
    | { readonly kind: 'stopped' }
    /** Something inside the gateway broke; the call still ends as settled or abandoned. */
    | { readonly kind: 'broken'; readonly error: unknown }
  )

interface Tries {
  /** One per attempt; the last is added when it has begun to answer, or failed. */
  readonly records: AttemptRecord[]
  /** A request may have reached a vendor. */
  readonly sent: boolean
}

export type FinalFailure =
  | {
      readonly kind: 'upstream'
      readonly leg: Leg
      readonly failure: AttemptFailure
      readonly class: ChainFailure
      /** The request contained signed reasoning of earlier turns. */
      readonly replayed: boolean
      /** Duration of this attempt. */
      readonly waitedMs: number
    }
  | { readonly kind: 'rate-limited'; readonly retryAfterMs: number }
  | { readonly kind: 'no-chain' }
  /** The request cannot be expressed in any chain's protocol. */
  | { readonly kind: 'unconvertible'; readonly message: string; readonly details: JsonObject | undefined }
