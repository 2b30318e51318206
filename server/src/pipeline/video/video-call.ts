/**
 * The life of a video call as a chain of immutable types, beside `call.ts`: an order may come over `/v1/videos` or over
 * the chat protocol, and is the same order from `VideoOrder` on.
 */
import type { Demand, ReserveOutcome } from '../../core/ledger/operations.ts'
import type { Catalogue, Model } from '../../core/catalogue.ts'
import type { CallId, ModelId, VendorCode } from '../../core/ids.ts'
import type { VideoRequest } from '../../core/video/request.ts'
import type { Arrival, Endpoint, IncomingCall, ReceivedBody } from '../call.ts'
import type { Account } from '../../storage/stores/accounts.ts'
import type { Key } from '../../storage/stores/keys.ts'

export interface IncomingVideo
  extends Omit<IncomingCall, 'endpoint' | 'readBody'>,
    Pick<Arrival, 'readForm'> {
  readonly endpoint: VideoEndpoint
  readonly action: VideoAction
}

export interface VideoEndpoint extends Omit<Endpoint, 'protocol'> {
  readonly protocol: 'video'
}

/** The operation that a request line names. */
export type VideoAction =
  | { readonly kind: 'create' }
  | { readonly kind: 'list'; readonly query: URLSearchParams }
  | { readonly kind: 'read'; readonly id: string }
  | { readonly kind: 'remove'; readonly id: string }
  | {
      readonly kind: 'content'
      readonly id: string
      readonly query: URLSearchParams
      readonly body: 'wanted' | 'head-only'
    }
  /** The gateway's signed link to stored bytes. */
  | {
      readonly kind: 'file'
      readonly key: string
      readonly query: URLSearchParams
      readonly body: 'wanted' | 'head-only'
    }

export interface AuthenticatedVideo extends Omit<IncomingVideo, 'stage'> {
  readonly stage: 'authenticated'
  readonly key: Key
  readonly account: Account
  /** The catalogue at the call's arrival. */
  readonly catalogue: Catalogue
}

/** An order from either endpoint: what is requested, and by whom. */
export interface VideoOrder {
  readonly stage: 'received'
  readonly callId: CallId
  readonly requestId: string
  /** Epoch ms. */
  readonly at: number
  readonly endpoint: { readonly path: string; readonly protocol: 'video' | 'chat' }
  readonly address: 'base' | 'gateway'
  readonly ip: string
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly key: Key
  readonly account: Account
  /** The catalogue at the call's arrival. */
  readonly catalogue: Catalogue
  readonly modelId: ModelId
  readonly stream: boolean
  readonly user: string | undefined
  /** The bytes of the order, counted until they were sent upstream. */
  readonly body: Pick<ReceivedBody, 'hold' | 'release'>
  readonly request: VideoRequest
  /** `size` as sent. */
  readonly size: string
  readonly dropped: readonly string[]
  /** `Gw-Vendor-Code`. */
  readonly pinned: VendorCode | undefined
  readonly repeat: Repeat
}

/** What distinguishes a repeated order from a new one (docs/reference/contract.md#D-video-08, #D-video-29). */
export interface Repeat {
  /** `Idempotency-Key`. */
  readonly key: string | undefined
  /** Hash of the order's fields and files, so that the same form with other boundaries is the same order. */
  readonly bodySha256: string
  /** The SDK marks this as a retry of an unanswered request. */
  readonly retried: boolean
}

export interface AdmittedVideo extends Omit<VideoOrder, 'stage'> {
  readonly stage: 'admitted'
  readonly model: Model
  readonly fallback: Model | undefined
  readonly demand: Demand
  readonly fallbackDemand: Demand | undefined
  /** undefined: it was left to the vendor. */
  readonly secondsDeclared: number | undefined
}

export interface ReservedVideo extends Omit<AdmittedVideo, 'stage'> {
  readonly stage: 'reserved'
  readonly reservation: Extract<ReserveOutcome, { kind: 'reserved' }>
}
