/**
 * The client's name for a dropped or refused setting. Encoders see only the canonical form, so they name canonical
 * fields; `Gw-Dropped-Fields` names paths of the body that the client sent.
 */
import type { ProtocolId } from '../catalogue.ts'

type Paths = Readonly<Record<ProtocolId, string>>

/** Canonical field → path in each client protocol's body. */
const PATHS = {
  system: row('messages', 'instructions', 'system', 'systemInstruction'),
  turns: row('messages', 'input', 'messages', 'contents'),
  maxOutputTokens: row('max_tokens', 'max_output_tokens', 'max_tokens', 'generationConfig.maxOutputTokens'),
  temperature: row('temperature', 'temperature', 'temperature', 'generationConfig.temperature'),
  topP: row('top_p', 'top_p', 'top_p', 'generationConfig.topP'),
  topK: row('top_k', 'top_k', 'top_k', 'generationConfig.topK'),
  presencePenalty: row(
    'presence_penalty',
    'presence_penalty',
    'presence_penalty',
    'generationConfig.presencePenalty',
  ),
  frequencyPenalty: row(
    'frequency_penalty',
    'frequency_penalty',
    'frequency_penalty',
    'generationConfig.frequencyPenalty',
  ),
  seed: row('seed', 'seed', 'seed', 'generationConfig.seed'),
  stop: row('stop', 'stop', 'stop_sequences', 'generationConfig.stopSequences'),
  candidates: row('n', 'n', 'n', 'generationConfig.candidateCount'),
  logprobs: row('logprobs', 'top_logprobs', 'logprobs', 'generationConfig.responseLogprobs'),
  verbosity: row('verbosity', 'text.verbosity', 'verbosity', 'verbosity'),
  output: row('response_format', 'text.format', 'output_config.format', 'generationConfig.responseMimeType'),
  outputStrict: row(
    'response_format.json_schema.strict',
    'text.format.strict',
    'output_config.format',
    'generationConfig.responseJsonSchema',
  ),
  reasoning: row('reasoning_effort', 'reasoning', 'thinking', 'generationConfig.thinkingConfig'),
  reasoningSummary: row(
    'reasoning_effort',
    'reasoning.summary',
    'thinking.display',
    'generationConfig.thinkingConfig.includeThoughts',
  ),
  toolChoice: row('tool_choice', 'tool_choice', 'tool_choice', 'toolConfig'),
  parallelToolCalls: row(
    'parallel_tool_calls',
    'parallel_tool_calls',
    'tool_choice.disable_parallel_tool_use',
    'toolConfig',
  ),
  toolStrict: row('tools[].function.strict', 'tools[].strict', 'tools[].strict', 'tools[]'),
  user: row('user', 'user', 'metadata.user_id', 'labels'),
  metadata: row('metadata', 'metadata', 'metadata', 'labels'),
  serviceTier: row('service_tier', 'service_tier', 'service_tier', 'serviceTier'),
  promptCacheKey: row('prompt_cache_key', 'prompt_cache_key', 'prompt_cache_key', 'cachedContent'),
  cacheAll: row('cache_control', 'cache_control', 'cache_control', 'cachedContent'),
  cache: row(
    'messages[].content[].cache_control',
    'input[].content[].prompt_cache_breakpoint',
    'messages[].content[].cache_control',
    'cachedContent',
  ),
  systemCache: row(
    'messages[].content[].cache_control',
    'input[].content[].prompt_cache_breakpoint',
    'system[].cache_control',
    'cachedContent',
  ),
  toolCache: row('tools[].cache_control', 'tools[]', 'tools[].cache_control', 'cachedContent'),
  store: row('store', 'store', 'store', 'store'),
  previousResponseId: row(
    'previous_response_id',
    'previous_response_id',
    'previous_response_id',
    'previous_response_id',
  ),
  reasoningHistory: row(
    'messages[].reasoning_content',
    'input[]',
    'messages[].content[].thinking',
    'contents[].parts[].thought',
  ),
  signatures: row(
    'messages[].tool_calls[].extra_content',
    'input[].encrypted_content',
    'messages[].content[].signature',
    'contents[].parts[].thoughtSignature',
  ),
  opaqueHistory: row('messages[].content[]', 'input[]', 'messages[].content[]', 'contents[].parts[]'),
  toolErrors: row(
    'messages[].is_error',
    'input[].is_error',
    'messages[].content[].is_error',
    'contents[].parts[]',
  ),
  imageDetail: row(
    'messages[].content[].image_url.detail',
    'input[].content[].detail',
    'messages[].content[]',
    'generationConfig.mediaResolution',
  ),
  media: row('messages[].content[]', 'input[].content[]', 'messages[].content[]', 'contents[].parts[]'),
  filename: row(
    'messages[].content[].file.filename',
    'input[].content[].filename',
    'messages[].content[].title',
    'contents[].parts[].inlineData.displayName',
  ),
} as const satisfies Record<string, Paths>

export type CanonicalField = keyof typeof PATHS

/** The client's path of a canonical field; any other name (`tools[2]`) is the same in every protocol. */
export function clientPath(protocol: ProtocolId, field: string): string {
  return isCanonicalField(field) ? PATHS[field][protocol] : field
}

/** Paths of everything that was dropped, each once, in the order of appearance. */
export function clientPaths(protocol: ProtocolId, fields: readonly string[]): readonly string[] {
  return [...new Set(fields.map((field) => clientPath(protocol, field)))]
}

function isCanonicalField(field: string): field is CanonicalField {
  return Object.hasOwn(PATHS, field)
}

function row(chat: string, responses: string, messages: string, gemini: string): Paths {
  return { chat, responses, messages, gemini }
}
