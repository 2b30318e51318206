/** What is asked of a conversion thread, and what it answers. Large things travel as bytes or as texts, never as trees. */
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
  /** What of the form is in memory. */
  readonly head: Uint8Array
  /** Of the file that holds the rest; undefined: there is none. */
  readonly descriptor: number | undefined
}

/** How long the sound in some files of a form plays. */
export interface MeasureTask extends FormBytes {
  readonly kind: 'measure'
  /** Of the files' contents in the form. */
  readonly spans: readonly Span[]
}

/** A client's body into an upstream's. */
export interface RequestTask {
  readonly kind: 'request'
  readonly body: Uint8Array
  readonly client: ProtocolId
  readonly stream: boolean
  readonly previousResponseId: string | undefined
  /** Items of the conversation that is continued, as a JSON array. */
  readonly past: Uint8Array | undefined
  readonly target: RequestTarget
  /** What was fetched, by address; undefined: nothing yet. */
  readonly sources: ReadonlyMap<string, MediaSource> | undefined
  /** The answer may be kept: what the client said is wanted too. */
  readonly keeps: boolean
}

/** Where it goes. The dialect is found again by the vendor's kind, since functions do not travel. */
export interface RequestTarget extends ConvertibleLeg {
  readonly vendorKind: string
}

/** A body of the same protocol whose vendor must get fewer or more fields. */
export interface EditTask {
  readonly kind: 'edit'
  readonly body: Uint8Array
  readonly vendorKind: string
  readonly protocol: WireId
  /** That the client called. */
  readonly path: string
  readonly forwardModelId: string
}

/** A form into the document that its vendor takes in its place. */
export interface FormTask extends FormBytes {
  readonly kind: 'form'
  readonly form: ReadForm
  readonly vendorKind: string
  readonly protocol: WireId
  readonly forwardModelId: string
}

/** What is known of a form. */
export interface ReadForm {
  /** Its text fields, without the brackets of lists. */
  readonly fields: JsonObject
  readonly files: readonly FormFile[]
  readonly soundSeconds: number
}

/** An answer in a vendor's own form into the wire form that the client speaks. */
export interface RewriteTask {
  readonly kind: 'rewrite'
  readonly body: Uint8Array
  readonly vendorKind: string
  readonly protocol: PassedFormId
  /** What the rewritten request left for it. */
  readonly context: JsonObject
}

/** Kept turns into the items of a request. */
export interface PastTask {
  readonly kind: 'past'
  readonly bodies: readonly KeptText[]
}

/** Single items out of kept turns. */
export interface ItemsTask {
  readonly kind: 'items'
  readonly bodies: readonly KeptText[]
  readonly ids: readonly string[]
}

/** An upstream's whole answer into the client's. */
export interface AnswerTask {
  readonly kind: 'answer'
  readonly body: Uint8Array
  readonly client: ProtocolId
  readonly upstream: ProtocolId
  readonly context: ReplyContext
  readonly cutAt: readonly string[]
  /** Stands in where the upstream reported no usage. */
  readonly inputTokensEstimate: number
}

/** The form of a large video order into the order. */
export interface OrderTask {
  readonly kind: 'order'
  readonly form: OrderForm
}

/** An order with large pictures into the request a vendor takes it as. */
export interface SubmitTask {
  readonly kind: 'submit'
  readonly vendorKind: string
  readonly input: VideoSubmit
}

/** A kept response as it is shown. */
export interface ShowTask {
  readonly kind: 'show'
  readonly of: /** Kept here: the JSON text of its turn. */
    | { readonly kind: 'response'; readonly turn: KeptText }
    | { readonly kind: 'input-items'; readonly turn: KeptText; readonly page: ItemPage }
    /** Kept by an upstream: its answer, and how its model is called here. */
    | { readonly kind: 'forwarded'; readonly body: Uint8Array; readonly model: ModelId }
}

export interface Shown {
  readonly kind: 'shown'
  /** JSON; undefined: no JSON came, or the page begins after an item that is not there. */
  readonly body: Uint8Array | undefined
  /** An upstream goes on with it, or made it in the background. */
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
  /** Of each file; undefined: it cannot be told. */
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
  /** What answers need of the request. */
  readonly asked: CanonicalRequest
  /** What responses objects repeat of it. */
  readonly echo: string | undefined
  /** What the client said, as a JSON array; only where it was asked for. */
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
  /** The upstream reads something that is not in it. */
  readonly unseenInput: boolean
  readonly values: number
}

export interface ItemsFound {
  readonly kind: 'items'
  /** JSON by id; an id without an item has none. */
  readonly found: ReadonlyMap<string, Uint8Array>
}

export interface AnswerConverted {
  readonly kind: 'answered'
  readonly body: Uint8Array
  /** As the upstream told it. */
  readonly usage: Usage | undefined
  /** Of the visible text, where the upstream reported no usage. */
  readonly outputTokens: number
  readonly images: number
}
