/**
 * Chat completions on the wire: the objects the gateway writes. Input is read field by field with checks, because every
 * vendor of this protocol sends its own variant of it (docs/protocols.md#chat).
 */
import type { JsonObject, JsonValue } from '../../json.ts'

export interface ChatUsage extends JsonObject {
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly total_tokens: number
  readonly prompt_tokens_details: JsonObject
  readonly completion_tokens_details: JsonObject
}

export type ChatFinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter'

export interface ChatChoice extends JsonObject {
  readonly index: number
  readonly message: JsonObject
  readonly logprobs: JsonValue
  readonly finish_reason: ChatFinishReason
}
