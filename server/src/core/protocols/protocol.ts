/**
 * What a wire language offers: a codec both ways between its own JSON and the canonical form. Pure and
 * synchronous; the same folder serves clients and upstreams (docs/architecture.md#codec--dialect).
 */
import type { ProtocolId } from '../catalogue.ts'
import type { CanonicalRequest, Effort, MediaPart } from '../canonical/request.ts'
import type { CanonicalResponse, StreamPart, UpstreamError } from '../canonical/response.ts'
import type { ModelId } from '../ids.ts'
import type { JsonObject, JsonValue } from '../json.ts'

export interface Protocol {
  readonly id: ProtocolId
  /** Where a request says which model it is for, and whether to stream. */
  readonly modelPlace: 'body' | 'path'
  /**
   * The header its clients send their key in instead of a bearer, and at which address it is read
   * (docs/reference/contract.md#D-addresses-17, #D-addresses-30).
   */
  readonly keyHeader?: { readonly name: string; readonly at: 'both-addresses' | 'gateway-address' }
  /**
   * Headers of its clients that change what a request means, lower case: they are forwarded to an upstream of the same
   * protocol.
   */
  readonly forwardedHeaders: readonly string[]
  /** The answer to a request to count tokens. */
  readonly encodeTokenCount: (tokens: number) => JsonObject
  /** Answers are kept under their ids, to be read again and continued from. */
  readonly keepsAnswers: boolean
  /** Client JSON → canonical. Refuses what has no meaning, naming the field. */
  readonly decodeRequest: (body: JsonObject) => Decoded<CanonicalRequest>
  /** Canonical → upstream JSON, limited to what the chain supports; names what had to be dropped. */
  readonly encodeRequest: (request: CanonicalRequest, target: EncodeTarget) => Encoded | Refused
  /** The part must be sent inline: this upstream would not fetch its address. */
  readonly needsInline: (part: MediaPart, capabilities: Capabilities) => boolean
  /** Upstream JSON of a 200 answer → canonical. */
  readonly decodeResponse: (body: JsonValue) => CanonicalResponse
  /** Canonical → client JSON. */
  readonly encodeResponse: (response: CanonicalResponse, context: ReplyContext) => JsonObject
  /** An upstream's non-2xx body (or in-stream error) in canonical form. */
  readonly decodeError: (status: number | undefined, body: JsonValue) => UpstreamError
  /** An error in this protocol's own shape, for a whole answer. */
  readonly encodeError: (error: UpstreamError) => JsonObject
  readonly streamDecoder: () => StreamDecoder
  readonly streamEncoder: (context: ReplyContext) => StreamEncoder
}

export type Decoded<Value> =
  | {
      readonly kind: 'decoded'
      readonly value: Value /** JSON paths without a counterpart in the canonical form. */
      readonly dropped: readonly string[]
    }
  | Refused

/** The request has no meaning in this form: 400/40000 naming the field, or a protocol's own recovery error. */
export interface Refused {
  readonly kind: 'refused'
  readonly field: string
  readonly message: string
  /** Extra members of `error` that the client's SDK recovers from. */
  readonly details?: JsonObject
}

export interface Encoded {
  readonly kind: 'encoded'
  readonly body: JsonObject
  /** JSON paths of the client's request that had no counterpart (`Gw-Dropped-Fields`). */
  readonly dropped: readonly string[]
  /**
   * Stop sequences the upstream cannot take: the caller that cuts the answer at them (`canonical/stop-sequences.ts`)
   * removes `stop` from `dropped`. Absent: none.
   */
  readonly cutAt?: readonly string[]
}

export interface EncodeTarget {
  /** The upstream's own model name. */
  readonly forwardModelId: string
  /** The model's own output maximum, used if the protocol requires a cap and the client gave none. */
  readonly maxOutputTokens: number | undefined
  readonly capabilities: Capabilities
  /** Issuer of signatures this chain accepts back (`core/canonical/envelope.ts`). */
  readonly issuer: string
}

/** What a chain's model can do, as data. Provider folders give defaults, chains may differ. */
export interface Capabilities {
  /** A system message in the middle of the conversation keeps its role. */
  readonly midSystem: boolean
  readonly systemRole: 'system' | 'developer'
  /** A trailing assistant message is continued. */
  readonly prefill: boolean
  /** `none`: temperature, top_p and top_k are refused upstream; `one`: only one of temperature and top_p. */
  readonly sampling: 'all' | 'one' | 'none'
  readonly temperatureMax: number
  readonly topK: boolean
  readonly penalties: boolean
  readonly seed: boolean
  readonly logprobs: boolean
  /** Stop sequences it takes; 0: none. */
  readonly stopMax: number
  readonly candidates: boolean
  readonly outputTokensMin: number
  readonly outputTokensField: 'max_tokens' | 'max_completion_tokens'
  readonly reasoning: 'none' | 'effort' | 'budget' | 'adaptive' | 'level' | 'toggle'
  readonly efforts: readonly Effort[]
  /** Reasoning text must be sent back with the history (`reasoning_content`). */
  readonly replayReasoning: boolean
  /** Name of the field that carries reasoning text in this dialect of chat. */
  readonly reasoningField: 'reasoning_content' | 'reasoning'
  /**
   * Chat vendors that only turn reasoning on and off, or give it a budget: the field for it. Absent: `thinking{type}`.
   */
  readonly reasoningSwitch?: 'thinking' | 'enable_thinking'
  readonly forcedToolWithReasoning: boolean
  /** Accepts a choice that forces a tool call, reasoning or not. Absent: it does. */
  readonly forcedTools?: boolean
  readonly parallelToolCalls: boolean
  readonly strictTools: boolean
  readonly customTools: boolean
  readonly toolNameMax: number
  readonly toolIdMax: number
  readonly jsonObject: boolean
  readonly jsonSchema: boolean
  readonly schemaDialect: 'json-schema' | 'anthropic' | 'openapi-subset'
  readonly images: 'url' | 'inline' | 'none'
  readonly documents: 'url' | 'inline' | 'none'
  readonly audio: boolean
  readonly imagesInToolResults: boolean
  readonly cacheMarks: 'none' | 'anthropic' | 'breakpoint'
  readonly hostedTools: readonly string[]
  /** The vendor bills all searches of one answer as one. Absent: each. */
  readonly searchesAsOne?: boolean
  readonly includeUsage: boolean
  readonly user: boolean
  readonly verbosity: boolean
  readonly serviceTier: boolean
  readonly metadata: boolean
  /** Takes `prompt_cache_key`. Absent: it does not. */
  readonly promptCacheKey?: boolean
}

export interface ReplyContext {
  /** Platform id of the model actually used. */
  readonly model: ModelId
  /** Id for the answer where the client protocol wants its own prefix; opaque, unique. */
  readonly responseId: string
  /** Unix seconds. */
  readonly createdAt: number
  /** The client's request, whose settings responses objects echo. */
  readonly request: CanonicalRequest
  /** Local estimate of input tokens for `message_start`. */
  readonly inputTokensEstimate: number
  /** Tags signatures for the way back. */
  readonly issuer: string
  /** Responses only: what every state of the object repeats of the request, as written; absent: it is made of `request`. */
  readonly echo?: string
  /** Gemini only: without `alt=sse` a stream is one JSON array. Absent: SSE. */
  readonly framing?: 'sse' | 'json-array'
}

/** One SSE event of the upstream, framed. `event` is empty where the protocol sends none. */
export interface SseEvent {
  readonly event: string
  readonly data: string
  /** The parsed data of a long event, read while it arrived; `data` is then empty. */
  readonly json?: JsonValue
}

/**
 * `push` returns the parts of one event in order; `end` says what a closed connection means: nothing, or an error part.
 */
export interface StreamDecoder {
  push(event: SseEvent): readonly StreamPart[]
  end(): readonly StreamPart[]
}

/** `push` returns the text to send, framing included; empty if there is nothing to send for a part yet. */
export interface StreamEncoder {
  push(part: StreamPart): string
  /** JSON text of the whole answer, once it has ended well, where the protocol repeats it at its end. */
  readonly whole?: string | undefined
  /** Sent after a while without other output; only after the first event. */
  keepAlive(): string
}
