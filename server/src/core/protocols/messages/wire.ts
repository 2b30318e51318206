/**
 * The messages protocol on the wire: only the fields this gateway reads or writes (docs/protocols.md#messages). Type
 * aliases, not interfaces, so that they count as JSON.
 */
import type { JsonObject } from '../../json.ts'

export type WireCacheControl = {
  readonly type: 'ephemeral'
  readonly ttl?: '5m' | '1h'
}

/** Every counter the official client reads; it fails on a `message_delta` without `output_tokens`. */
export type WireUsage = {
  readonly input_tokens: number
  readonly cache_creation_input_tokens: number
  readonly cache_read_input_tokens: number
  readonly cache_creation: {
    readonly ephemeral_5m_input_tokens: number
    readonly ephemeral_1h_input_tokens: number
  }
  readonly output_tokens: number
  readonly output_tokens_details?: { readonly thinking_tokens: number }
  readonly service_tier?: string
}

export type WireMessageRole = 'user' | 'assistant' | 'system'

export type WireMessage = {
  readonly role: WireMessageRole
  readonly content: readonly JsonObject[]
}

export type WireStopReason =
  | 'end_turn'
  | 'stop_sequence'
  | 'max_tokens'
  | 'tool_use'
  | 'refusal'
  | 'model_context_window_exceeded'

export type WireStopDetails = {
  readonly type: 'refusal'
  readonly category: null
  readonly explanation: string | null
}

/** Blocks that only this protocol has: the provider's own tools and features. */
const OPAQUE_BLOCKS: ReadonlySet<string> = new Set([
  'server_tool_use',
  'mcp_tool_use',
  'mcp_tool_result',
  'mcp_tool_listing',
  'compaction',
  'fallback',
  'tool_addition',
  'tool_removal',
  'container_upload',
])

/** `web_search_tool_result` and its kind are recognised by pattern, so that future ones are included. */
export function isOpaqueBlock(type: string): boolean {
  return OPAQUE_BLOCKS.has(type) || type.endsWith('_tool_result')
}

/**
 * The tool that replaces structured output if the model does not support it
 * (docs/protocols.md#structured-output-without-support). Request and answer share its name: a call of it is decoded as
 * text.
 */
export const JSON_OUTPUT_TOOL = 'gateway_json_output'
