/**
 * The contract of a vendor's video API: a pure state machine. `submit` returns what to send, `step` reads each answer
 * and returns what to do next; the request pipeline sends, waits, stores and bills. Nothing here sends, signs, waits or
 * reads a clock (docs/architecture.md#codec--dialect).
 */
import type { Auth, HttpRequest } from '../core/http-request.ts'
import type { ForwardModelId } from '../core/ids.ts'
import type { JsonObject, JsonValue } from '../core/json.ts'
import type { FailureClass, UpstreamFailure } from '../core/routing/failure.ts'
import type { VideoRequest } from '../core/video/request.ts'

export interface VideoDialect {
  /** How this vendor’s requests are signed. */
  readonly auth: Auth
  /** The forms in which this upstream accepts an image; the request pipeline fetches or publishes images accordingly. */
  readonly imageForms: readonly ImageForm[]
  /** The vendor's default in seconds: billed, shown and sent (docs/reference/contract.md#D-video-18). */
  defaultSeconds(model: ForwardModelId, request: VideoRequest): number
  /** The create call. Images of `request` are already in a form of `imageForms`. */
  submit(input: VideoSubmit): VideoSubmission
  /** Reads the answer to the create call: any status from 200 to 299. */
  accepted(reply: VideoReply, context: VideoContext): VideoStep
  /** Reads the answer to a poll or to any later request returned by a step: any status from 200 to 299. */
  step(reply: VideoReply, context: VideoContext): VideoStep
  /** A refused create call or poll: any other status. */
  classify(failure: UpstreamFailure): FailureClass
  /**
   * Reads a refused poll first, if a vendor reports the end of a task by the status of an answer; undefined: it says
   * nothing about the task, and `classify` is used.
   */
  verdict?(reply: VideoReply, context: VideoContext): VideoStep | undefined
  /**
   * Looks up a task whose create call got no answer, if the vendor supports look-ups by the gateway's task id; absent:
   * it does not, and the task stays unknown. Its answer is read by `step`.
   */
  find?(context: VideoContext): HttpRequest | undefined
  /** A new link for a finished task whose link has expired, if the vendor renews it. Its answer is read by `step`. */
  renew?(context: VideoContext): HttpRequest | undefined
  /** Answers without a network. Only the sandbox has it. */
  respond?(request: HttpRequest, context: { readonly taskId: string; readonly at: number }): VideoReply
}

/** `url`: a public address. `bytes`: raw, for base64, a data address or a form part. */
export type ImageForm = 'url' | 'bytes'

export interface VideoSubmit extends Omit<VideoContext, 'state'> {
  readonly request: VideoRequest
  /**
   * The declared seconds when they are a number, else `defaultSeconds`; undefined: `request.seconds` is sent unchanged.
   */
  readonly seconds: number | undefined
}

/** What every form of a task's requests may use. */
export interface VideoContext {
  /** Without a trailing slash. */
  readonly baseUrl: string
  /** The credential's values of `Provider.publicFields`, those that are set. */
  readonly fields: Readonly<Record<string, string>>
  readonly forwardModelId: ForwardModelId
  /** The gateway's id of the task: sent if the vendor stores a caller's reference. */
  readonly taskId: string
  /** What the state machine kept since its last step (upstream id, mode path, …); JSON, stored between steps. */
  readonly state: JsonObject
}

export interface VideoSubmission {
  /** The whole request; multipart bodies are bytes with their boundary in `content-type`. */
  readonly request: HttpRequest
  readonly state: JsonObject
  /** Fields of the client's request that this vendor does not support, under the client's names. */
  readonly dropped: readonly string[]
}

export interface VideoReply {
  readonly status: number
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** undefined: not JSON. */
  readonly body: JsonValue | undefined
  /** The body as received; absent: it was made here. */
  readonly bytes?: Uint8Array
}

export type VideoStep =
  | {
      readonly kind: 'poll'
      /** Sent after `afterMs`; the caller adds jitter, growth and the vendor's own wait hints. */
      readonly request: HttpRequest
      readonly afterMs: number
      readonly status: 'queued' | 'in_progress'
      /** 0 to 100, if the vendor reports it. */
      readonly progress?: number | undefined
      readonly state: JsonObject
    }
  | {
      readonly kind: 'done'
      readonly result: VideoResult
      /**
       * Length of the video, if the vendor reports it; used for the log's `seconds_produced` if the file does not
       * contain it.
       */
      readonly secondsProduced?: number | undefined
      /** `<width>x<height>` if the vendor reports it. */
      readonly size?: string | undefined
      readonly state: JsonObject
    }
  /** The vendor reports that the task failed. `body` is what the client sees under `upstream_body`. */
  | { readonly kind: 'failed'; readonly failure: VideoFailure; readonly state: JsonObject }
  /** The answer cannot be read; it is polled again a few times, then the task fails as an upstream failure. */
  | { readonly kind: 'unreadable'; readonly detail: string }

export type VideoResult =
  /** A public link. `lastsMs`: how long the vendor keeps it; under 24 h the request pipeline stores the bytes. */
  | { readonly kind: 'link'; readonly url: string; readonly lastsMs: number }
  /** Bytes behind a request that needs the credential. */
  | { readonly kind: 'download'; readonly request: HttpRequest }
  | { readonly kind: 'base64'; readonly data: string; readonly mediaType: string }

export interface VideoFailure {
  readonly class: 'moderation' | 'invalid' | 'rate' | 'quota' | 'auth' | 'upstream' | 'expired' | 'cancelled'
  readonly code: string
  readonly message: string
  readonly body: JsonValue | undefined
}
