/**
 * The contract of a provider folder: data and pure functions that say how one vendor speaks the protocols it offers.
 * Nothing here sends, signs, waits or reads a clock (architecture, Codec × dialect).
 */
import type { CanonicalRequest } from '../core/canonical/request.ts'
import type { PassedFormId, ProtocolId, WireId } from '../core/catalogue.ts'
import type { Auth } from '../core/http-request.ts'
import type { ForwardModelId } from '../core/ids.ts'
import type { JsonObject } from '../core/json.ts'
import type { OfflineAnswer } from '../core/offline-answer.ts'
import type { Capabilities } from '../core/protocols/protocol.ts'
import type { FailureClass, UpstreamFailure } from '../core/routing/failure.ts'
import type { VideoDialect } from './video.ts'

export interface Provider {
  /** The gateway file's `vendors[].kind`. */
  readonly kind: string
  readonly name: string
  /**
   * Where the vendor's documentation ends its base address; `{name}` stands for a public field of the credential.
   * undefined: the operator has to say.
   */
  readonly defaultBaseUrl: string | undefined
  /** Named credential fields that are no secret and that `Dialect.form` reads (`region`, `project`, `api_version`). */
  readonly publicFields: readonly string[]
  /** Fields, values and tools the vendor charges for beside its tokens (`core/pricing/surcharges.ts`). Absent: none known. */
  readonly dear?: readonly string[]
  /** A server on the operator's own machines: customers have no accounts there, whatever key it is called with. */
  readonly ownServer?: true
  /** Its models that reason do so beside a client's token cap, not within it. */
  readonly reasoningOutsideCap?: true
  readonly dialects: Readonly<Partial<Record<ProtocolId, Dialect> & Record<PassedFormId, PassedDialect>>>
  /** The vendor's own video API, for chains whose protocol is `video`. */
  readonly video?: VideoDialect
}

export type Operation = 'generate' | 'stream' | 'count-tokens'

/** One vendor's way of speaking one protocol. */
export interface Dialect extends WireDialect {
  readonly protocol: ProtocolId
  /**
   * Who reads the reasoning signatures of this upstream, where that is more than one vendor row. Claude's are bound to
   * the account that made them from 5.5 on, so they stay with their row.
   */
  readonly issuer?: string
  capabilities(model: ForwardModelId): Capabilities
  /** Header in which an answer names the tier it was made at; absent: it says so in its body, or nowhere. */
  readonly tierHeader?: string
  /** Turns a request into one this vendor takes, on the canonical form only. */
  adapt?(request: CanonicalRequest): CanonicalRequest
  /**
   * Answers in the background (`background: true`): the created response is read below its address by its id, and
   * cancelled there. Responses only; absent: the vendor does not, or nothing is known of it.
   */
  readonly background?: true
}

/** One vendor's way of speaking a wire form that is passed on as it is. */
export interface PassedDialect extends WireDialect {
  readonly protocol: PassedFormId
  /** Of a vendor whose own form is another one. Absent: bytes pass as they are. */
  readonly rewrite?: FormRewrite
  /** Of a vendor that makes a task of what it is asked. Absent: its first answer is the answer. */
  readonly tasks?: TaskForm
  /** Of a vendor of embeddings that speaks Google's own embed calls: for clients that do. Absent: those are converted. */
  readonly geminiEmbeddings?: PassedDialect
  /** Of a vendor of embeddings that wants to know what a text is for. Absent: it has no word for it, or none is known. */
  readonly textPurpose?: TextPurpose
}

/** How a task is asked for until it has ended. */
export interface TaskForm {
  /** Whether what is asked of this model becomes one. */
  isTask(model: ForwardModelId): boolean
  read(reply: TaskReply, input: Pick<FormInput, 'baseUrl' | 'forwardModelId'>): TaskStep
}

export interface TaskReply {
  /** Of an answer with a status of success. */
  readonly body: JsonObject
  /** The first answer, which named the task; undefined: this is the first. */
  readonly order: JsonObject | undefined
  /** Where this answer came from; undefined: it is the first. */
  readonly asked: string | undefined
}

export type TaskStep =
  /** It goes on: where to ask next (GET). */
  | Omit<FormedRequest, 'method'>
  /** That is the answer, however the task ended. */
  | 'over'
  /** It says nothing of a task. The first one is then the answer. */
  | 'unclear'

/** How a vendor of embeddings is told what Google's clients say as `taskType`: a member of the request, for all its texts. */
export interface TextPurpose {
  readonly member: string
  /** Its words by Google's; what has none is dropped. */
  readonly words: 'the same' | Readonly<Record<string, string>>
}

/** Between a wire form and a vendor's own, as whole documents both ways. */
export interface FormRewrite {
  /**
   * `body` names the forwarded model; of a request that is a form (multipart/form-data) it has the text fields, and `sent` the
   * files, where there are any. `context` is what the answer needs of the request: small, and plain JSON.
   */
  request(body: JsonObject, sent?: SentFiles): RewrittenRequest
  /**
   * Of requests that are forms: why the vendor cannot be asked this, in words for its client; another vendor may be. undefined: it
   * can. Absent: it always can. No file is read for it.
   */
  readonly refuses?: (body: JsonObject, sent: FilesTold) => string | undefined
  /** undefined: this is no answer of the vendor's. */
  answer(body: JsonObject, context: JsonObject): JsonObject | undefined
  /**
   * Of a form that is answered in bytes, sound or text: those in the vendor's document, of which `answer` tells what it used, or `error`.
   * undefined: there are none in it.
   */
  sound?(body: JsonObject, context: JsonObject): Sound | undefined
  /** Of a vendor that answers in events: the document that they come to. undefined: some of them are missing. */
  readonly gathered?: (events: readonly JsonObject[]) => JsonObject | undefined
}

/** What is known of a form's files before they are read. */
export interface FilesTold {
  readonly files: readonly FileTold[]
  /** How long their sound plays, as it is charged; 0 where the form is not about sound. */
  readonly soundSeconds: number
}

export interface FileTold {
  /** Of its field, without the brackets of lists. */
  readonly name: string
  /** Bytes. */
  readonly size: number
}

export interface SentFiles extends FilesTold {
  readonly files: readonly SentFile[]
}

export interface SentFile extends FileTold {
  /** Reads all of it. */
  bytes(): Uint8Array
}

export interface Sound {
  /** Media type. */
  readonly type: string
  readonly bytes: Uint8Array
}

export interface RewrittenRequest {
  readonly body: JsonObject
  /** JSON paths of what has no counterpart. */
  readonly dropped: readonly string[]
  readonly context: JsonObject
}

/** What is the same whether a form is converted or not. */
export interface WireDialect {
  readonly protocol: WireId
  readonly auth: Auth
  /** undefined: this upstream has no such operation. */
  form(input: FormInput): FormedRequest | undefined
  /** Paths of clients whose calls it takes, where its form has several; absent: all. */
  readonly paths?: readonly string[]
  /** `path`: `form` puts the model into the address and the body must not name it. */
  readonly modelPlace: 'body' | 'path'
  /** Top-level members the body needs or must not have besides the protocol's own; holds for passthrough too. */
  readonly bodyEdit?: BodyEdit
  /** How a streamed answer is framed; `aws-event-stream` reaches the sink as the SSE it wraps. */
  readonly framing?: 'aws-event-stream'
  /** Also for an error inside a 200: then `status` is 200 and `body` the event's JSON. */
  classify(failure: UpstreamFailure): FailureClass
  /** Answers without a network. Only the sandbox has it; `form` is then never sent. */
  respond?(request: OfflineRequest): OfflineAnswer
}

export interface FormInput {
  /** The vendor row's own address, else `Provider.defaultBaseUrl`; a slash at its end changes nothing. */
  readonly baseUrl: string
  readonly forwardModelId: ForwardModelId
  readonly operation: Operation
  /** The path that the client called, as the contract writes it, where its form has several. */
  readonly calledPath?: string
  /** The credential's values of `Provider.publicFields`, those that are set. */
  readonly fields: Readonly<Record<string, string>>
}

export interface FormedRequest {
  readonly method: 'POST'
  /** Absolute address. */
  readonly url: string
  /** Lower-case names, fixed for this dialect; without credentials, content type and length. */
  readonly headers: Readonly<Record<string, string>>
}

export interface BodyEdit {
  readonly set: JsonObject
  readonly remove: readonly string[]
}

export interface OfflineRequest {
  readonly operation: Operation
  readonly forwardModelId: ForwardModelId
  /** As it would have been sent; of a form as much as is in memory. */
  readonly body: readonly Uint8Array[]
  /** What a form says; absent: the body is JSON. */
  readonly form?: {
    readonly fields: ReadonlyMap<string, string>
    readonly files: number
    /** Of sound in them. */
    readonly soundSeconds: number
  }
  /** Unique; ids in the answer are made from it. */
  readonly id: string
  /** Epoch ms. */
  readonly at: number
}

/** An address below the base; `path` starts with a slash. */
export function below(baseUrl: string, path: string): string {
  return `${baseUrl.replace(/\/+$/, '')}${path}`
}

/** The address with `{name}` replaced by the credential's fields; undefined: one of them is not set. */
export function filledAddress(template: string, fields: FormInput['fields']): string | undefined {
  let missing = false
  const filled = template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = fields[name]
    if (value === undefined) missing = true
    return value ?? ''
  })
  return missing ? undefined : filled
}
