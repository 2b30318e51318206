/**
 * The contract of a provider folder: data and pure functions that describe how one vendor implements the protocols it
 * offers. Nothing here sends, signs, waits or reads a clock (docs/architecture.md#codec--dialect).
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
   * Where the vendor's documentation ends its base address; `{name}` is replaced by a public field of the credential.
   * undefined: the operator must configure it.
   */
  readonly defaultBaseUrl: string | undefined
  /** Named credential fields that are not secret and that `Dialect.form` reads (`region`, `project`, `api_version`). */
  readonly publicFields: readonly string[]
  /**
   * Fields, values and tools that the vendor charges for besides tokens (`core/pricing/surcharges.ts`). Absent: none
   * known.
   */
  readonly extraCosts?: readonly string[]
  /** A server on the operator's own machines: customers have no accounts there, whatever key it is called with. */
  readonly ownServer?: true
  /** Reasoning tokens of its models do not count towards a client's token cap. */
  readonly reasoningOutsideCap?: true
  readonly dialects: Readonly<Partial<Record<ProtocolId, Dialect> & Record<PassedFormId, PassedDialect>>>
  /** The vendor's own video API, for chains whose protocol is `video`. */
  readonly video?: VideoDialect
}

export type Operation = 'generate' | 'stream' | 'count-tokens'

/** One vendor's implementation of one protocol. */
export interface Dialect extends WireDialect {
  readonly protocol: ProtocolId
  /**
   * The issuer of this upstream's reasoning signatures, if other vendor rows accept them too. From 5.5 on, Claude's are
   * bound to the account that made them, so only their own row accepts them.
   */
  readonly issuer?: string
  capabilities(model: ForwardModelId): Capabilities
  /** Header in which an answer names its service tier; absent: it is in the body, or nowhere. */
  readonly tierHeader?: string
  /** Changes a request into one that this vendor accepts, on the canonical form only. */
  adapt?(request: CanonicalRequest): CanonicalRequest
  /**
   * Answers in the background (`background: true`): the created response is read below its address by its id, and
   * cancelled there. Responses only; absent: not supported, or unknown.
   */
  readonly background?: true
}

/** One vendor's implementation of a wire form that is passed on unchanged. */
export interface PassedDialect extends WireDialect {
  readonly protocol: PassedFormId
  /** For a vendor with a form of its own. Absent: bytes pass unchanged. */
  readonly rewrite?: FormRewrite
  /** The client paths whose requests `rewrite` is for; requests at other paths pass unchanged. Absent: all. */
  readonly rewrittenPaths?: readonly string[]
  /** For images: one call of this model makes one, whatever number is requested. Absent: as many as requested. */
  makesOne?(model: ForwardModelId): boolean
  /** For a vendor that turns requests into tasks. Absent: its first answer is the answer. */
  readonly tasks?: TaskForm
  /** Of a vendor that takes a file by its address only, and has a place for it. Absent: files are in the request. */
  readonly uploads?: UploadForm
  /** For a vendor that supports Google's own embed calls: the dialect for clients of those. Absent: they are converted. */
  readonly geminiEmbeddings?: PassedDialect
  /** For a vendor of embeddings with a field for the purpose of a text. Absent: it has none, or it is unknown. */
  readonly textPurpose?: TextPurpose
}

/** How a task is polled until it has ended. */
export interface TaskForm {
  /** Whether requests for this model become tasks. */
  isTask(model: ForwardModelId): boolean
  read(reply: TaskReply, input: Pick<FormInput, 'baseUrl' | 'forwardModelId'>): TaskStep
}

export interface TaskReply {
  /** A successful answer. */
  readonly body: JsonObject
  /** The first answer, which named the task; undefined: this is the first. */
  readonly order: JsonObject | undefined
  /** The polled address that gave this answer; undefined: it is the first. */
  readonly asked: string | undefined
}

export type TaskStep =
  /** The task continues: the next request. With a body it is a POST, else a GET. */
  | (Omit<FormedRequest, 'method'> & { readonly body?: JsonObject })
  /** This answer is final, however the task ended. */
  | 'over'
  /** It has ended well, and the answer is at this address, which the vendor chose: no key is sent there. */
  | { readonly result: string }
  /** It does not mention a task. If it is the first, it is the answer. */
  | 'unclear'

/** How the file of a form is put where its vendor fetches it, before the request that names its address. */
export interface UploadForm {
  /** Whether this model takes its file so. The request is then written without one. */
  isUploaded(model: ForwardModelId): boolean
  /** Where the vendor is asked for a place (GET). */
  ask(input: Pick<FormInput, 'baseUrl' | 'forwardModelId'>): Omit<FormedRequest, 'method'>
  /** undefined: the vendor gives none. What it said is then its answer to the call. */
  place(body: JsonObject, file: FileToUpload): UploadPlace | undefined
  /** The request, naming the address of its file. */
  withFile(request: JsonObject, address: string): JsonObject
}

export interface FileToUpload {
  /** Unique. */
  readonly id: string
  /** Bytes. */
  readonly size: number
  /** Its first bytes. */
  readonly beginning: Uint8Array
}

export type UploadPlace =
  /** A form is posted there: these fields, then the file as `file`. The vendor chose the host: no key is sent there. */
  | {
      readonly kind: 'open'
      readonly url: string
      readonly fields: Readonly<Record<string, string>>
      readonly fileName: string
      /** What the vendor knows the file by once it is there. */
      readonly address: string
    }
  /** This file does not fit: the answer to the call, in the vendor's form. */
  | { readonly kind: 'closed'; readonly status: number; readonly answer: JsonObject }

/** How Google's `taskType` is passed to a vendor of embeddings: a member of the request, for all its texts. */
export interface TextPurpose {
  readonly member: string
  /** Its words by Google's; a word without a counterpart is dropped. */
  readonly words: 'the same' | Readonly<Record<string, string>>
}

/** Converts between a wire form and a vendor's own, as whole documents in both directions. */
export interface FormRewrite {
  /**
   * `body` names the forwarded model; if the request is a form (multipart/form-data), it has the text fields, and
   * `sent` the files, if any. `context` is what the answer needs from the request: small, and plain JSON.
   */
  request(body: JsonObject, sent?: SentFiles): RewrittenRequest
  /**
   * Why the vendor cannot do this, as a message for the client; another vendor may. undefined: it can. Absent: it
   * always can. For a form, it gets the text fields without any file being read. `calledPath`: the path that the
   * client called; absent where the files of a form are not known yet.
   */
  readonly refuses?: (body: JsonObject, sent: FilesTold, calledPath?: string) => string | undefined
  /** undefined: this is not an answer of the vendor. */
  answer(body: JsonObject, context: JsonObject): JsonObject | undefined
  /**
   * For a form that is answered in bytes, sound or text: the bytes in the vendor's document, while `answer` returns
   * usage or `error`. undefined: there are none.
   */
  sound?(body: JsonObject, context: JsonObject): Sound | undefined
  /** Only requests are rewritten: the bytes of an answer are those that the client expects. */
  readonly passesBytes?: true
  /**
   * Its images are links. If the request's `context` has `bytes`, they are fetched and returned as `b64_json`, except
   * those that cannot be fetched.
   */
  readonly linkedPictures?: true
  /** For a vendor that answers in events: the document combined from them. undefined: some are missing. */
  readonly gathered?: (events: readonly JsonObject[]) => JsonObject | undefined
}

/** What is known about a form's files before they are read. */
export interface FilesTold {
  readonly files: readonly FileTold[]
  /** The duration of their sound, as it is charged; 0 if the form has no sound. */
  readonly soundSeconds: number
}

export interface FileTold {
  /** Name of its field, without the brackets of lists. */
  readonly name: string
  /** Size in bytes. */
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
  /** JSON paths without a counterpart. */
  readonly dropped: readonly string[]
  readonly context: JsonObject
}

/** Common to converted forms and forms that are passed on. */
export interface WireDialect {
  readonly protocol: WireId
  readonly auth: Auth
  /** undefined: this upstream has no such operation. */
  form(input: FormInput): FormedRequest | undefined
  /** The client paths that it supports, if its form has several; absent: all. */
  readonly paths?: readonly string[]
  /** `path`: `form` puts the model into the address, and the body must not contain it. */
  readonly modelPlace: 'body' | 'path'
  /** Top-level members that the body needs, or must not have; for passthrough too. */
  readonly bodyEdit?: BodyEdit
  /** How a streamed answer is framed; `aws-event-stream` reaches the sink as the SSE it wraps. */
  readonly framing?: 'aws-event-stream'
  /** Also for an error inside a 200: then `status` is 200 and `body` the event's JSON. */
  classify(failure: UpstreamFailure): FailureClass
  /** Answers without a network. Only the sandbox has it; `form` is then never sent. */
  respond?(request: OfflineRequest): OfflineAnswer
}

export interface FormInput {
  /** The vendor row's own address, else `Provider.defaultBaseUrl`; a trailing slash changes nothing. */
  readonly baseUrl: string
  readonly forwardModelId: ForwardModelId
  readonly operation: Operation
  /** The path that the client called, as the contract writes it, if its form has several. */
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
  /** The body as it would have been sent; for a form, the part in memory. */
  readonly body: readonly Uint8Array[]
  /** Contents of a form; absent: the body is JSON. */
  readonly form?: {
    readonly fields: ReadonlyMap<string, string>
    readonly files: number
    /** Duration of the sound in its files. */
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
