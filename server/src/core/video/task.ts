/**
 * A video task as stored (docs/reference/contract.md#3, #D-video-12): an order that outlives its request, its process
 * and its instance.
 */
import type { ErrorCode } from '../errors/catalogue.ts'
import type { AccountId, CallId, ChainId, KeyId, ModelId, VendorCode } from '../ids.ts'
import type { JsonObject, JsonValue } from '../json.ts'

/** What a task makes: a video, or the answer of a `background: true` call of the responses protocol. */
export type TaskKind = 'video' | 'response'

export type VideoStatus = 'queued' | 'in_progress' | 'completed' | 'failed'

/** One task. Everything the poller of any instance needs to continue it. */
export interface VideoTask {
  /** `video_` and an opaque suffix. */
  readonly id: string
  readonly kind: TaskKind
  readonly keyId: KeyId
  readonly accountId: AccountId
  /** The open call that holds its money, windows and slot. */
  readonly callId: CallId
  readonly status: VideoStatus
  /**
   * `intent`: written, nothing sent. `sent`: the create call left. `running`: the vendor has it. `unknown`: the create
   * call got no answer and is never sent again. `fetching`: finished upstream, bytes being downloaded. `ended`.
   */
  readonly phase: 'intent' | 'sent' | 'running' | 'unknown' | 'fetching' | 'ended'
  readonly modelId: ModelId
  readonly chainId: ChainId | undefined
  readonly vendorCode: VendorCode | undefined
  readonly byok: boolean
  /** State of the vendor's state machine. */
  readonly state: JsonObject
  /** The next request to send and when, JSON of an `HttpRequest`; undefined: none. */
  readonly next: JsonObject | undefined
  /** Epoch ms when the poller looks at it again. */
  readonly dueAt: number
  /** Polls so far, and failures in a row. */
  readonly polls: number
  readonly failuresInRow: number
  readonly progress: number
  /** Epoch ms. */
  readonly createdAt: number
  readonly completedAt: number | undefined
  readonly expiresAt: number
  /** Shown as `seconds`; billed. */
  readonly seconds: string
  readonly secondsBilled: number
  readonly secondsProduced: number | undefined
  readonly size: string
  readonly prompt: string
  /** The provider's own link where it is public. */
  readonly url: string | undefined
  /** Key of the stored bytes. */
  readonly blob: string | undefined
  readonly blobBytes: number | undefined
  /** Lower-case hex. */
  readonly blobSha256: string | undefined
  readonly error: VideoTaskError | undefined
  /** Short and free of secrets: the vendor's last answer, for operators. */
  readonly lastAnswer: string | undefined
  /** Everything else the request pipeline needs to end the call: attempts so far, dropped fields, price terms, description. */
  readonly detail: JsonObject
}

export interface VideoTaskError {
  /** HTTP status and body of the synchronous answer. */
  readonly status: number
  readonly code: string
  readonly message: string
  readonly body: JsonValue | undefined
  /** Set where the error is the gateway's own: `body` is then what the vendor said, under `upstream_body`. */
  readonly gatewayCode?: ErrorCode
  /** Sent as `Retry-After` where waiting helps. */
  readonly retryAfterMs?: number | undefined
  /** A vendor had the task, or may have had it: a repeated order gets this result instead of starting anew. */
  readonly accepted?: boolean
}

/** What may change of a task; absent: unchanged. */
export type VideoTaskPatch = Partial<
  Omit<VideoTask, 'id' | 'kind' | 'keyId' | 'accountId' | 'callId' | 'createdAt'>
>
