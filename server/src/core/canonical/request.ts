/**
 * A conversation in no vendor's format: what every protocol's `decodeRequest` returns and `encodeRequest` takes. Blocks
 * keep their order, tool arguments stay the raw text the model wrote, and nothing here is parsed twice.
 */
import type { JsonObject, JsonValue } from '../json.ts'

export interface CanonicalRequest {
  /** System and developer instructions that lead the conversation, in order. */
  readonly system: readonly SystemPart[]
  readonly turns: readonly Turn[]
  readonly tools: readonly Tool[]
  readonly toolChoice: ToolChoice | undefined
  /** false: at most one tool call in an answer. */
  readonly parallelToolCalls: boolean | undefined
  /** The client's own output cap, tokens; undefined: it named none. */
  readonly maxOutputTokens: number | undefined
  readonly sampling: Sampling
  readonly stop: readonly string[]
  readonly output: OutputFormat
  readonly reasoning: ReasoningRequest | undefined
  readonly stream: boolean
  /** Chat only: the client asked for the extra usage chunk. */
  readonly includeUsage: boolean
  readonly candidates: number | undefined
  readonly logprobs: { readonly top: number } | undefined
  readonly verbosity: 'low' | 'medium' | 'high' | undefined
  /** Opaque end-user id. */
  readonly user: string | undefined
  readonly metadata: JsonObject | undefined
  readonly serviceTier: string | undefined
  readonly promptCacheKey: string | undefined
  /** Cache the whole prefix, without a mark of its own (messages top-level `cache_control`). */
  readonly cacheAll: CacheMark | undefined
  /** Responses state: what the client asked to keep or to continue. */
  readonly state: { readonly store: boolean | undefined; readonly previousResponseId: string | undefined }
}

export interface CacheMark {
  readonly ttl: '5m' | '1h' | '30m'
}

export interface SystemPart {
  readonly text: string
  /** It came as the responses protocol's `instructions`: answers echo it, a stored turn does not keep it. */
  readonly instructions?: true
  readonly cache?: CacheMark
}

export interface Sampling {
  readonly temperature: number | undefined
  readonly topP: number | undefined
  readonly topK: number | undefined
  readonly presencePenalty: number | undefined
  readonly frequencyPenalty: number | undefined
  readonly seed: number | undefined
}

export type OutputFormat =
  | { readonly kind: 'text' }
  | { readonly kind: 'json' }
  | {
      readonly kind: 'json-schema'
      readonly name: string | undefined
      readonly description: string | undefined
      readonly schema: JsonValue
      readonly strict: boolean | undefined
    }

export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const
export type Effort = (typeof EFFORTS)[number]

export interface ReasoningRequest {
  readonly effort: Effort | undefined
  /** Tokens, if the client named a budget. -1: the model decides. */
  readonly budgetTokens: number | undefined
  /** The client wants to see the reasoning or a summary of it. */
  readonly expose: boolean | undefined
  readonly summary: 'auto' | 'concise' | 'detailed' | undefined
}

/** Messages of one role in a row. Tool results stand in turns of role `tool`. */
export interface Turn {
  readonly role: 'system' | 'user' | 'assistant' | 'tool'
  readonly parts: readonly Part[]
}

export type Part =
  | TextPart
  | MediaPart
  | ToolCallPart
  | ToolResultPart
  | ReasoningPart
  | RefusalPart
  | OpaquePart

export interface TextPart {
  readonly type: 'text'
  readonly text: string
  readonly cache?: CacheMark
}

export type MediaSource =
  | { readonly kind: 'base64'; readonly mediaType: string; readonly data: string }
  | { readonly kind: 'url'; readonly url: string; readonly mediaType: string | undefined }
  | { readonly kind: 'file-id'; readonly id: string }
  | { readonly kind: 'text'; readonly text: string }

/** An image, a sound or a document. */
export interface MediaPart {
  readonly type: 'media'
  readonly media: 'image' | 'audio' | 'file'
  readonly source: MediaSource
  readonly detail: 'auto' | 'low' | 'high' | 'original' | undefined
  readonly filename: string | undefined
  readonly cache?: CacheMark
}

export interface ToolCallPart {
  readonly type: 'tool-call'
  readonly id: string
  readonly name: string
  /** Grouping of tools the responses protocol has; undefined elsewhere. */
  readonly namespace: string | undefined
  readonly kind: 'function' | 'custom'
  /** Raw text as the model wrote it; JSON for functions, free text for custom tools. May be invalid. */
  readonly arguments: string
  /** A thought signature, which must be replayed with the call. */
  readonly signature: Signature | undefined
  readonly cache?: CacheMark
}

export interface ToolResultPart {
  readonly type: 'tool-result'
  readonly callId: string
  readonly kind: 'function' | 'custom'
  readonly content: readonly (TextPart | MediaPart | ToolReferencePart)[]
  readonly isError: boolean
  readonly cache?: CacheMark
}

/** A tool that a deferred-tools client found and now loads (messages protocol). */
export interface ToolReferencePart {
  readonly type: 'tool-reference'
  readonly toolName: string
}

export interface ReasoningPart {
  readonly type: 'reasoning'
  /** `summary` is written for people, `raw` is the model's own reasoning, `redacted` is only a blob. */
  readonly kind: 'summary' | 'raw' | 'redacted'
  readonly text: string
  readonly signature: Signature | undefined
}

/**
 * A blob that only its issuer understands; `issuer` undefined: it came without an envelope, in the protocol's own
 * field.
 */
export interface Signature {
  readonly issuer: string | undefined
  readonly id: string | undefined
  readonly data: string
  /** The protocol a bare blob came in: only that protocol may replay it. Absent if it had an envelope. */
  readonly protocol?: 'chat' | 'responses' | 'messages' | 'gemini'
}

export interface RefusalPart {
  readonly type: 'refusal'
  readonly text: string
}

/** A part that only one protocol has; kept for that protocol, dropped for every other. */
export interface OpaquePart {
  readonly type: 'opaque'
  readonly protocol: 'chat' | 'responses' | 'messages' | 'gemini'
  readonly json: JsonValue
}

export type Tool = FunctionTool | CustomTool | HostedTool

export interface FunctionTool {
  readonly type: 'function'
  readonly name: string
  readonly namespace: string | undefined
  readonly description: string | undefined
  /** JSON Schema; undefined: no parameters. */
  readonly parameters: JsonValue | undefined
  readonly strict: boolean | undefined
  readonly cache?: CacheMark
  /**
   * A tool the client runs whose schema is defined by its type in its protocol (messages `bash_20250124`): as the
   * client wrote it.
   */
  readonly native?: { readonly protocol: 'messages'; readonly json: JsonObject }
}

/** A tool that takes free text, perhaps constrained by a grammar. */
export interface CustomTool {
  readonly type: 'custom'
  readonly name: string
  readonly namespace: string | undefined
  readonly description: string | undefined
  readonly grammar: { readonly syntax: string; readonly definition: string } | undefined
}

/** A tool the provider runs itself. */
export interface HostedTool {
  readonly type: 'hosted'
  readonly name:
    | 'web-search'
    | 'code-interpreter'
    | 'url-context'
    | 'file-search'
    | 'image-generation'
    | 'other'
  readonly protocol: 'chat' | 'responses' | 'messages' | 'gemini'
  /** As the client wrote it. */
  readonly json: JsonObject
}

export type ToolChoice =
  | { readonly kind: 'none' | 'required' }
  /**
   * `hosted`: the client demanded this provider tool, which not every chain has, so the choice is left to the model.
   */
  | { readonly kind: 'auto'; readonly hosted?: HostedTool['name'] }
  | { readonly kind: 'tool'; readonly name: string }
  | { readonly kind: 'allowed'; readonly mode: 'auto' | 'required'; readonly names: readonly string[] }
