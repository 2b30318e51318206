/** What the task code needs of an upstream that makes a video or a response. */
import type { CredentialSecret, Vendor } from '../../../core/catalogue.ts'
import type { JsonObject } from '../../../core/json.ts'
import type { VideoContext, VideoDialect, VideoReply, VideoStep } from '../../../providers/video.ts'

/** A response is over, however it ended: the object as the upstream gave it. */
export interface AnsweredStep {
  readonly kind: 'answered'
  readonly response: JsonObject
  /** The same as it came; undefined: it was made here. */
  readonly bytes: Uint8Array | undefined
  readonly state: JsonObject
}

export type TaskStep = VideoStep | AnsweredStep

export interface TaskDialect extends Pick<VideoDialect, 'auth' | 'classify' | 'find' | 'respond'> {
  accepted(reply: VideoReply, context: VideoContext): TaskStep
  step(reply: VideoReply, context: VideoContext): TaskStep
  verdict?(reply: VideoReply, context: VideoContext): TaskStep | undefined
}

/** Who makes a task, with the credential it belongs to. */
export interface TaskVendor {
  readonly vendor: Vendor
  readonly dialect: TaskDialect
  readonly secret: CredentialSecret
  /** Without a slash at its end. */
  readonly baseUrl: string
  readonly fields: Readonly<Record<string, string>>
}

export type FoundTaskVendor =
  | ({ readonly kind: 'found' } & TaskVendor)
  | { readonly kind: 'missing'; readonly reason: string }
