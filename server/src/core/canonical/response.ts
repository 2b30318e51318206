/** A whole answer, and the parts of a streamed one, in no vendor's format. */
import type { JsonValue } from '../json.ts'
import type { Signature } from './request.ts'
import type { Usage } from './usage.ts'

export type FinishReason =
  | 'stop'
  | 'stop-sequence'
  | 'length'
  | 'tool-calls'
  | 'content-filter'
  | 'refusal'
  | 'context-window'
  | 'other'

export interface Finish {
  readonly reason: FinishReason
  /** The upstream's own word. */
  readonly raw: string | undefined
  readonly stopSequence: string | undefined
  /** Why the model refused, when it said so. */
  readonly explanation: string | undefined
}

/** An answer: one or several candidates. */
export interface CanonicalResponse {
  readonly id: string
  /** Unix seconds; undefined: the upstream did not say. */
  readonly createdAt: number | undefined
  readonly candidates: readonly Candidate[]
  readonly usage: Usage | undefined
  readonly serviceTier: string | undefined
  /** The upstream failed though its status was 200 (a failed response, a malformed call): the answer is not usable. */
  readonly failure?: UpstreamError
}

export interface Candidate {
  readonly index: number
  readonly blocks: readonly Block[]
  readonly finish: Finish
}

export type Block = TextBlock | RefusalBlock | ReasoningBlock | ToolCallBlock | MediaBlock | OpaqueBlock

export interface TextBlock {
  readonly type: 'text'
  readonly text: string
  readonly citations: readonly Citation[]
  readonly logprobs: JsonValue | undefined
}

export interface RefusalBlock {
  readonly type: 'refusal'
  readonly text: string
}

export interface ReasoningBlock {
  readonly type: 'reasoning'
  readonly kind: 'summary' | 'raw' | 'redacted'
  readonly text: string
  readonly signature: Signature | undefined
}

export interface ToolCallBlock {
  readonly type: 'tool-call'
  readonly id: string
  readonly name: string
  readonly namespace: string | undefined
  readonly kind: 'function' | 'custom'
  readonly arguments: string
  readonly signature: Signature | undefined
}

/** A generated image or sound. */
export interface MediaBlock {
  readonly type: 'media'
  readonly mediaType: string
  readonly data: string
}

export interface OpaqueBlock {
  readonly type: 'opaque'
  readonly protocol: 'chat' | 'responses' | 'messages' | 'gemini'
  readonly json: JsonValue
}

/** Positions are UTF-16 code units of the block's text. */
export interface Citation {
  readonly url: string
  readonly title: string | undefined
  readonly startIndex: number | undefined
  readonly endIndex: number | undefined
}

/**
 * One part of a streamed answer. Invariants: `start` first; every block opens once and closes once, before exactly one
 * `finish` per candidate; one `end` or one `error` last. Blocks of several candidates and parallel tools may overlap.
 */
export type StreamPart =
  | { readonly type: 'start'; readonly id: string; readonly createdAt: number | undefined }
  | {
      readonly type: 'block-start'
      readonly block: number
      readonly candidate: number
      readonly kind: BlockStart
    }
  | { readonly type: 'text-delta'; readonly block: number; readonly text: string }
  /** Raw argument text of a tool call. */
  | { readonly type: 'arguments-delta'; readonly block: number; readonly text: string }
  | { readonly type: 'signature'; readonly block: number; readonly signature: Signature }
  | { readonly type: 'citation'; readonly block: number; readonly citation: Citation }
  | { readonly type: 'logprobs'; readonly block: number; readonly logprobs: JsonValue }
  | { readonly type: 'block-end'; readonly block: number }
  /** Counters so far; later ones replace earlier ones (`mergeUsage`). */
  | { readonly type: 'usage'; readonly usage: Usage }
  | { readonly type: 'finish'; readonly candidate: number; readonly finish: Finish }
  | { readonly type: 'ping' }
  | { readonly type: 'end' }
  | { readonly type: 'error'; readonly error: UpstreamError }

/** What a block is when it opens; its text follows as deltas. Block numbers count from 0 in order of first appearance. */
export type BlockStart =
  | { readonly type: 'text' }
  | { readonly type: 'refusal' }
  | { readonly type: 'reasoning'; readonly kind: 'summary' | 'raw' | 'redacted' }
  | {
      readonly type: 'tool-call'
      readonly id: string
      readonly name: string
      readonly namespace: string | undefined
      readonly kind: 'function' | 'custom'
    }
  | { readonly type: 'media'; readonly mediaType: string; readonly data: string }
  | {
      readonly type: 'opaque'
      readonly protocol: 'chat' | 'responses' | 'messages' | 'gemini'
      readonly json: JsonValue
    }

/** An upstream's own failure, in fields that every protocol's error format has. */
export interface UpstreamError {
  /** HTTP status, or the one its type stands for when it came inside a stream; undefined: there is neither. */
  readonly status: number | undefined
  /** The upstream's own `error.type` (or `status` word of Gemini). */
  readonly type: string | undefined
  readonly code: string | undefined
  readonly message: string
  /** The untouched body or event, parsed. */
  readonly raw: JsonValue
  /** The call's id, if the failure is the gateway's own; `code` is then the gateway's. */
  readonly requestId?: string
}
