/** What is known about a request once its body has been read. */
import type { JsonKind } from '../json-scanner.ts'
import type { Span } from '../splice.ts'
import type { ItemReference } from './item-references.ts'
import type { RequestExtras } from './request-extras.ts'

export type RequestScan = ScannedRequest | RefusedRequest

export interface ScannedRequest {
  readonly kind: 'scanned'
  /** The last `model` of the body; undefined only for gemini and its embeddings, whose path names it. */
  readonly model: string | undefined
  /** Every top-level `model` value: all are replaced (docs/reference/contract.md#D-requests-12). Empty for gemini. */
  readonly modelSpans: readonly Span[]
  /** Every value that names the model as a resource (`models/{id}`): likewise. */
  readonly resourceSpans: readonly Span[]
  /** `true`; `false`, `null` and nothing mean no, and any other value is refused. */
  readonly stream: boolean
  /** Opaque end-user id for the log, cut to a bounded length; only where it is a string. */
  readonly user: string | undefined
  /** The client's own output cap, tokens; undefined when it named none, or none that can be read. */
  readonly maxOutputTokens: number | undefined
  /** How many answers were asked for; undefined when none was, or none that can be read. */
  readonly candidates: number | undefined
  /** They are the most that may come: the model makes as many as it likes, one after the other. Absent: no. */
  readonly candidatesUncertain?: boolean
  readonly previousResponseId: string | undefined
  /** The client wants nothing of the answer kept (`store: false`). Responses only. */
  readonly forget: boolean
  /** Any top-level `background` that is not plainly off: upstreams read "true" and 1 as yes. Responses only. */
  readonly background: boolean
  /** Where `stream_options` stands, for `inject.ts`. Chat only. */
  readonly streamOptions: StreamOptionsPlace
  /** Bytes of the body, and how many of them are images, sound and files written into it (they are no prompt text). */
  readonly bodyBytes: number
  readonly mediaBytes: number
  readonly mediaCount: number
  /** Things that are each read with what is repeated, and its bytes. */
  readonly items: number
  readonly repeatedBytes: number
  /** Unicode code points to turn into speech, and their bytes. */
  readonly spokenCharacters: number
  readonly spokenBytes: number
  readonly extras: RequestExtras
  /** Items that are only named, in order. Responses only. */
  readonly references: readonly ItemReference[]
  /** Members of objects and items of arrays, at every depth, and the body itself: what building the document costs. */
  readonly values: number
  /** Of a body that is a form; absent: it is JSON. */
  readonly form?: ScannedForm
  /** Seconds of sound in its files, where its kind of call is about them. */
  readonly soundSeconds?: number
}

export interface ScannedForm {
  /** As it came: the boundary is in it. */
  readonly contentType: string
  readonly files: readonly FormFile[]
  /** The short ones by their names; of several of one name the last. */
  readonly fields: ReadonlyMap<string, string>
  /** Names of fields that are too long to be among them. */
  readonly unread: readonly string[]
}

/** Where the content of a file stands. */
export interface FormFile extends Span {
  /** Of its field, without the brackets of lists. */
  readonly name: string
}

export interface RefusedRequest {
  readonly kind: 'refused'
  readonly code: 40000 | 40002
  readonly message: string
}

export interface StreamOptionsPlace {
  /** Just behind the body's opening brace. */
  readonly rootStart: number
  /** The last top-level `stream_options`, if any. */
  readonly value: StreamOptionsValue | undefined
}

export interface StreamOptionsValue extends Span {
  readonly kind: JsonKind
  /** Nothing but white space between its braces. */
  readonly empty: boolean
  readonly includeUsage: ValuePlace | undefined
}

export interface ValuePlace extends Span {
  readonly kind: JsonKind
}
