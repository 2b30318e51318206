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
  /** Every value that names the model as a resource (`models/{id}`): replaced likewise. */
  readonly resourceSpans: readonly Span[]
  /** `true`; `false`, `null` and an absent field mean no, and any other value is refused. */
  readonly stream: boolean
  /** Opaque end-user id for the log, cut to a bounded length; only where it is a string. */
  readonly user: string | undefined
  /** The client's own output cap, tokens; undefined if there is none that can be read. */
  readonly maxOutputTokens: number | undefined
  /** Number of answers requested; undefined if there is no number that can be read. */
  readonly candidates: number | undefined
  /** `candidates` is an upper bound: the model decides how many it makes, one after the other. Absent: no. */
  readonly candidatesUncertain?: boolean
  readonly previousResponseId: string | undefined
  /** The client wants nothing of the answer kept (`store: false`). Responses only. */
  readonly forget: boolean
  /** Any top-level `background` that is not clearly off: upstreams read "true" and 1 as yes. Responses only. */
  readonly background: boolean
  /** Where `stream_options` is, for `inject.ts`. Chat only. */
  readonly streamOptions: StreamOptionsPlace
  /** Bytes of the body, and how many of them are inline images, sound and files (not prompt text). */
  readonly bodyBytes: number
  readonly mediaBytes: number
  readonly mediaCount: number
  /** Number of items that are each read with what is repeated, and the bytes of the repeated part. */
  readonly items: number
  readonly repeatedBytes: number
  /** Unicode code points to turn into speech, and their bytes. */
  readonly spokenCharacters: number
  readonly spokenBytes: number
  readonly extras: RequestExtras
  /** Items that are only referenced, in order. Responses only. */
  readonly references: readonly ItemReference[]
  /** Members of objects and items of arrays, at every depth, and the body itself: what building the document costs. */
  readonly values: number
  /** Set for a body that is a form; absent: it is JSON. */
  readonly form?: ScannedForm
  /** Seconds of sound in its files, for kinds of calls that process sound. */
  readonly soundSeconds?: number
}

export interface ScannedForm {
  /** As received, boundary included. */
  readonly contentType: string
  readonly files: readonly FormFile[]
  /** Short fields by name; of several with one name the last. */
  readonly fields: ReadonlyMap<string, string>
  /** Names of fields that are too long for that. */
  readonly unread: readonly string[]
}

/** The position of a file's content. */
export interface FormFile extends Span {
  /** Name of its field, without the brackets of lists. */
  readonly name: string
}

export interface RefusedRequest {
  readonly kind: 'refused'
  readonly code: 40000 | 40002
  readonly message: string
}

export interface StreamOptionsPlace {
  /** Directly after the body's opening brace. */
  readonly rootStart: number
  /** The last top-level `stream_options`, if any. */
  readonly value: StreamOptionsValue | undefined
}

export interface StreamOptionsValue extends Span {
  readonly kind: JsonKind
  /** There is only white space between its braces. */
  readonly empty: boolean
  readonly includeUsage: ValuePlace | undefined
}

export interface ValuePlace extends Span {
  readonly kind: JsonKind
}
