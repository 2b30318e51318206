/**
 * The life of a call as a chain of types: each stage takes one and returns the next, so receiving a call that was not
 * authenticated, or billing one that was not reserved, does not compile. It is one object, to which each stage adds what
 * it has found (`advance`).
 */
import type { Demand, ReserveOutcome } from '../core/ledger/operations.ts'
import type { Catalogue, ChainProtocol, Model, WireId } from '../core/catalogue.ts'
import type { CallId, ModelId } from '../core/ids.ts'
import type { JsonValue } from '../core/json.ts'
import type { Soon } from '../core/soon.ts'
import type { ScannedRequest } from '../core/passthrough/requests/scanned-request.ts'
import type { StoredBytes } from '../core/passthrough/splice.ts'
import type { ReceivedForm } from '../core/video/form.ts'
import type { Account } from '../storage/stores/accounts.ts'
import type { Key } from '../storage/stores/keys.ts'
import type { BodyMemory } from './instance/body-blocks.ts'
import type { BodyMemo } from './body-memo.ts'
import type { Asked, EndpointKind } from './kinds/kind.ts'

/** The endpoint that a request line names. */
export interface Endpoint {
  readonly kind: EndpointKind
  /** As the contract writes it, for the log. */
  readonly path: string
  readonly protocol: WireId
  /** Gemini's path says whether to stream; for the others the body does. */
  readonly streamVerb: boolean | undefined
  /** Gemini names the model in the path. */
  readonly pathModel: string | undefined
  /** Gemini streams as SSE only when asked (`alt=sse`), else as one JSON array. */
  readonly eventStream: boolean
}

export interface IncomingEndpoint extends Omit<Endpoint, 'protocol'> {
  readonly protocol: ChainProtocol
}

/** What `http/` hands over, before its kind is known. */
export interface Arrival {
  readonly call: ArrivingCall
  readonly asked: Asked
  /** Reads the body as a form; `onBytes` may throw to refuse the rest. Rejects when the client has gone. */
  readonly readForm: (onBytes: (bytes: number) => void) => Promise<ReceivedForm>
}

export interface ArrivingCall extends Omit<IncomingCall, 'endpoint'> {
  readonly endpoint: IncomingEndpoint
}

export interface IncomingCall {
  readonly stage: 'incoming'
  readonly callId: CallId
  readonly requestId: string
  /** Epoch ms of arrival. */
  readonly at: number
  readonly endpoint: Endpoint
  /** Which of the two addresses was called (docs/reference/contract.md#1-01). */
  readonly address: 'base' | 'gateway'
  readonly ip: string
  /** Lower-case names, first value of each. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** A key was in the query string, where it does not belong. */
  readonly keyInQuery: boolean
  readonly contentLength: number | undefined
  /**
   * Reads the body to its end; `onChunk` may throw to refuse the rest. Throws or rejects with that, or when the client
   * has gone.
   */
  readonly readBody: (onChunk: OnChunk) => Soon<void>
}

/**
 * The places of what the stages will find. A call has them from the beginning: an object that V8 has to make room in is
 * copied at every third property.
 */
export type NothingFound = {
  readonly [Found in Exclude<keyof ReservedCall, keyof IncomingCall>]: undefined
}

/** If it returns a promise, nothing more is read until that resolves; it may reject to refuse the rest. */
export type OnChunk = (chunk: Uint8Array) => void | Promise<void>

export interface AuthenticatedCall extends Omit<IncomingCall, 'stage'> {
  readonly stage: 'authenticated'
  readonly key: Key
  readonly account: Account
  /** The catalogue at the call's arrival; later changes do not affect the call. */
  readonly catalogue: Catalogue
}

export interface ReceivedCall extends Omit<AuthenticatedCall, 'stage'> {
  readonly stage: 'received'
  readonly body: ReceivedBody
  readonly scan: ScannedRequest
  readonly modelId: ModelId
  readonly stream: boolean
  readonly user: string | undefined
  readonly past?: Past
}

/** The request body as it arrived. Its bytes count against the process-wide budget until `release`. A spread of it has no methods. */
export interface ReceivedBody {
  readonly chunks: readonly Uint8Array[]
  /** What some of the chunks are part of; absent: of nothing that is used again. Whoever keeps bytes for longer than the call copies them. */
  readonly memory?: BodyMemory | undefined
  /** The bytes after them, if a form is too large for memory; absent: none. */
  readonly stored?: StoredBytes | undefined
  /** Descriptor of the file that contains them, for a thread of this process, until `release`. */
  readonly descriptor?: number | undefined
  /** Length of the whole body. */
  readonly length: number
  /** Empty at first; another body has its own. */
  readonly memo: BodyMemo
  /** Counts bytes that belong to the call besides its body; throws 50301 when they do not fit. */
  hold(bytes: number): void
  /** Gives the bytes back; may be called more than once. */
  release(): void
}

export interface AdmittedCall extends Omit<ReceivedCall, 'stage'> {
  readonly stage: 'admitted'
  readonly model: Model
  readonly fallback: Model | undefined
  readonly demand: Demand
  readonly fallbackDemand: Demand | undefined
}

export interface ReservedCall extends Omit<AdmittedCall, 'stage'> {
  readonly stage: 'reserved'
  readonly reservation: Extract<ReserveOutcome, { kind: 'reserved' }>
}

/** What a log row needs of a call, whatever it requests and whatever stage it reached. */
export interface LoggedCall {
  readonly callId: CallId
  readonly requestId: string
  readonly at: number
  readonly endpoint: {
    readonly path: string
    readonly protocol: string
    readonly pathModel?: string | undefined
  }
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly key?: Key
  readonly account?: Account
  readonly modelId?: ModelId
  readonly stream?: boolean
  readonly user?: string | undefined
}

/** A refused call, with what it holds and the stage it reached. */
export interface RefusedCall extends LoggedCall {
  readonly stage: StagedCall['stage']
  readonly catalogue?: Catalogue
  readonly body?: Pick<ReceivedBody, 'release'>
}

/** The conversation that a call continues (responses, `previous_response_id`). */
export type Past =
  /** Stored at an account upstream (`upstreamAccountOf` in `dialect.ts`). */
  | { readonly kind: 'upstream'; readonly place: string; readonly ids: readonly string[] }
  /** Stored here: its turns as request items in a JSON array; `ids` are those of its turns. */
  | {
      readonly kind: 'kept'
      readonly ids: readonly string[]
      readonly bytes: Uint8Array
      /** The items, parsed when first needed. */
      items?: readonly JsonValue[]
    }

/** A request about a stored response. */
export interface StoredRequest {
  readonly id: string
  readonly what: StoredAction
  readonly query: string
}

export const STORED_ACTIONS = ['response', 'input-items', 'delete', 'cancel'] as const
export type StoredAction = (typeof STORED_ACTIONS)[number]

/**
 * The same call with what a stage has found. A stage does this last, so that a call that it refuses is as it was. Copying
 * the call at each stage takes four times as long, and of copies no two have one hidden class.
 */
export function advance<Call extends Staged, Found extends Staged>(
  call: Call,
  found: Found,
): Omit<Call, 'stage'> & Found {
  return Object.assign<Omit<Call, 'stage'>, Found>(call, found)
}

export interface Staged {
  readonly stage: StagedCall['stage']
}

export type StagedCall = IncomingCall | AuthenticatedCall | ReceivedCall | AdmittedCall | ReservedCall
