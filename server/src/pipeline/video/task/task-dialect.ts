/** What the task code needs to know about an upstream that makes videos or responses. */
import type { CredentialSecret, Vendor } from '../../../core/catalogue.ts'
import type { JsonObject } from '../../../core/json.ts'
import type { VideoContext, VideoDialect, VideoReply, VideoStep } from '../../../providers/video.ts'

/** A response has ended, in whatever way: the object as the upstream sent it. */
export interface AnsweredStep {
  readonly kind: 'answered'
  readonly response: JsonObject
  /** The same as received bytes; undefined: it was made here. */
  readonly bytes: Uint8Array | undefined
  readonly state: JsonObject
}

export type TaskStep = VideoStep | AnsweredStep

export interface TaskDialect extends Pick<VideoDialect, 'auth' | 'classify' | 'find' | 'respond'> {
  accepted(reply: VideoReply, context: VideoContext): TaskStep
  step(reply: VideoReply, context: VideoContext): TaskStep
  verdict?(reply: VideoReply, context: VideoContext): TaskStep | undefined
}

/** The vendor of a task, with the credential the task belongs to. */
export interface TaskVendor {
  readonly vendor: Vendor
  readonly dialect: TaskDialect
  readonly secret: CredentialSecret
  /** Without a trailing slash. */
  readonly baseUrl: string
  readonly fields: Readonly<Record<string, string>>
}

export type FoundTaskVendor =
  | ({ readonly kind: 'found' } & TaskVendor)
  | { readonly kind: 'missing'; readonly reason: string }
