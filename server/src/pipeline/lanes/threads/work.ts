/**
 * The tasks of a conversion thread, and their results. Large values are passed as bytes or text, never as object trees.
 */
import type { RemoteMedia } from '../../../core/canonical/media/remote-media.ts'
import type { CanonicalRequest, MediaSource } from '../../../core/canonical/request.ts'
import type { Usage } from '../../../core/canonical/usage.ts'
import type { PassedFormId, ProtocolId, WireId } from '../../../core/catalogue.ts'
import type { ModelId } from '../../../core/ids.ts'
import type { JsonObject, JsonValue } from '../../../core/json.ts'
import type { FormFile } from '../../../core/passthrough/requests/scanned-request.ts'
import type { Span } from '../../../core/passthrough/splice.ts'
import type { ReplyContext } from '../../../core/protocols/protocol.ts'
import type { ItemPage } from '../../../core/protocols/responses/answer/stored-turn.ts'
import type { VideoSubmission, VideoSubmit } from '../../../providers/video.ts'
import type { ConvertibleLeg } from '../convert-request.ts'
import type { RewrittenAnswer } from '../edit-body.ts'
import type { OrderForm, OrderRead } from '../../video/order/order-form.ts'
import type { KeptText } from './shared-text.ts'

/** Why work has no result. */
export class WorkFailure extends Error {
  readonly reason: 'full' | 'waited' | 'late' | 'memory' | 'crashed' | 'closed' | 'cancelled'

  constructor(reason: WorkFailure['reason'], message: string) {
    super(message)
    this.name = 'WorkFailure'
    this.reason = reason
  }
}

export type Task =
  | RequestTask
  | EditTask
  | FormTask
  | PastTask
  | ItemsTask
  | AnswerTask
  | RewriteTask
  | OrderTask
  | SubmitTask
  | ShowTask
  | MeasureTask

/** Where the bytes of a form are. */
export interface FormBytes {
  /** The part of the form in memory. */
  readonly head: Uint8Array
  /** Descriptor of the file with the rest; undefined: there is none. */
  readonly descriptor: number | undefined
}

/** Measures the duration of the sound in some files of a form. */
export interface MeasureTask extends FormBytes {
  readonly kind: 'measure'
  /** Positions of the files' contents in the form. */
  readonly spans: readonly Span[]
}

/** Converts a client's body into an upstream's. */
export interface RequestTask {
  readonly kind: 'request'
  readonly body: Uint8Array
  readonly client: ProtocolId
  readonly stream: boolean
  readonly previousResponseId: string | undefined
  /** Items of the continued conversation, as a JSON array. */
  readonly past: Uint8Array | undefined
  readonly target: RequestTarget
  /** Fetched media, by address; undefined: nothing was fetched yet. */
  readonly sources: ReadonlyMap<string, MediaSource> | undefined
  /** The answer may be stored, so the client's input is returned too. */
  readonly keeps: boolean
}

/** The target. The thread looks the dialect up by the vendor's kind, since functions cannot be sent to it. */
export interface RequestTarget extends ConvertibleLeg {
  readonly vendorKind: string
}

/** A body of the same protocol whose vendor must get fewer or more fields. */
export interface EditTask {
  readonly kind: 'edit'
  readonly body: Uint8Array
  readonly vendorKind: string
  readonly protocol: WireId
  /** The path that the client called. */
  readonly path: string
  readonly forwardModelId: string
}

/** Converts a form into the document that its vendor accepts in its place. */
export interface FormTask extends FormBytes {
  readonly kind: 'form'
  readonly form: ReadForm
  readonly vendorKind: string
  readonly protocol: WireId
  readonly forwardModelId: string
}

/** What was read from a form. */
export interface ReadForm {
  /** Its text fields, without the brackets of lists. */
  readonly fields: JsonObject
  readonly files: readonly FormFile[]
  readonly soundSeconds: number
}

/** Converts an answer in a vendor's own form into the wire form of the client. */
export interface RewriteTask {
  readonly kind: 'rewrite'
  readonly body: Uint8Array
  readonly vendorKind: string
  readonly protocol: PassedFormId
  /** Data of the rewritten request that the answer needs. */
  readonly context: JsonObject
}

/** Converts stored turns into the items of a request. */
export interface PastTask {
  readonly kind: 'past'
  readonly bodies: readonly KeptText[]
}

/** Finds single items in stored turns. */
export interface ItemsTask {
  readonly kind: 'items'
  readonly bodies: readonly KeptText[]
  readonly ids: readonly string[]
}

/** Converts an upstream's whole answer into the client's. */
export interface AnswerTask {
  readonly kind: 'answer'
  readonly body: Uint8Array
  readonly client: ProtocolId
  readonly upstream: ProtocolId
  readonly context: ReplyContext
  readonly cutAt: readonly string[]
  /** Used if the upstream reported no usage. */
  readonly inputTokensEstimate: number
}

/** Reads the order from a large form. */
export interface OrderTask {
  readonly kind: 'order'
  readonly form: OrderForm
}

/** Converts an order with large images into the vendor's request. */
export interface SubmitTask {
  readonly kind: 'submit'
  readonly vendorKind: string
  readonly input: VideoSubmit
}

/** Renders a stored response. */
export interface ShowTask {
  readonly kind: 'show'
  readonly of: /** Stored here: the JSON text of its turn. */
    | { readonly kind: 'response'; readonly turn: KeptText }
    | { readonly kind: 'input-items'; readonly turn: KeptText; readonly page: ItemPage }
    /** Stored by an upstream: the upstream's answer, and the model's platform id. */
    | { readonly kind: 'forwarded'; readonly body: Uint8Array; readonly model: ModelId }
}

export interface Shown {
  readonly kind: 'shown'
  /** JSON; undefined: the answer was not JSON, or the page begins after an unknown item. */
  readonly body: Uint8Array | undefined
  /** An upstream is still working on it, or made it in the background. */
  readonly isRunning: boolean
}

export type TaskResult =
  | RequestConverted
  | { readonly kind: 'media'; readonly remote: readonly RemoteMedia[] }
  | { readonly kind: 'refused'; readonly message: string; readonly details: JsonObject | undefined }
  | BodyEdited
  | { readonly kind: 'rewritten'; readonly answer: RewrittenAnswer }
  | PastRead
  | ItemsFound
  | OrderRead
  | Submitted
  | Shown
  | SoundMeasured
  | AnswerConverted
  | { readonly kind: 'unreadable' }
  | { readonly kind: 'upstream-error'; readonly status: number | undefined; readonly raw: JsonValue }
  /** The work itself threw: a bug of the gateway. */
  | { readonly kind: 'threw'; readonly message: string; readonly stack: string | undefined }

export interface SoundMeasured {
  readonly kind: 'measured'
  /** Duration of each file; undefined: it cannot be determined. */
  readonly seconds: readonly (number | undefined)[]
  /** Why not, for the log. */
  readonly reasons: readonly string[]
}

export interface RequestConverted {
  readonly kind: 'converted'
  readonly body: Uint8Array
  readonly dropped: readonly string[]
  readonly cutAt: readonly string[]
  readonly sentExtras: readonly string[]
  readonly replays: boolean
  readonly issuer: string
  /** The part of the request that answers need. */
  readonly asked: CanonicalRequest
  /** The part of the request that response objects repeat. */
  readonly echo: string | undefined
  /** The client's input, as a JSON array; only if requested. */
  readonly input: string | undefined
}

export interface BodyEdited {
  readonly kind: 'edited'
  readonly body: Uint8Array
  readonly dropped: readonly string[]
  readonly context: JsonObject
}

export interface Submitted extends VideoSubmission {
  readonly kind: 'submitted'
}

export interface PastRead {
  readonly kind: 'past'
  /** A JSON array. */
  readonly items: Uint8Array
  readonly bodyBytes: number
  readonly mediaBytes: number
  readonly mediaCount: number
  /** The upstream also reads something that is not included. */
  readonly unseenInput: boolean
  readonly values: number
}

export interface ItemsFound {
  readonly kind: 'items'
  /** JSON by id; unknown ids are absent. */
  readonly found: ReadonlyMap<string, Uint8Array>
}

export interface AnswerConverted {
  readonly kind: 'answered'
  readonly body: Uint8Array
  /** As reported by the upstream. */
  readonly usage: Usage | undefined
  /** Tokens of the visible text, if the upstream reported no usage. */
  readonly outputTokens: number
  readonly images: number
}
