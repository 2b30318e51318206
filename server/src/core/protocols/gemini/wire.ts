/**
 * The Gemini protocol on the wire: only the fields this gateway reads or writes (docs/protocols.md#gemini). Type
 * aliases, not interfaces, so that they count as JSON.
 */
import type { JsonObject } from '../../json.ts'
import type { Maybe } from '../read-json.ts'

export type WireContent = {
  readonly role: 'user' | 'model'
  readonly parts: readonly JsonObject[]
}

export type WireUsage = {
  readonly promptTokenCount: number
  readonly cachedContentTokenCount?: number
  readonly candidatesTokenCount: number
  readonly thoughtsTokenCount?: number
  readonly totalTokenCount: number
}

/**
 * Placeholder for the missing thought signature of calls made by another vendor's model: the documented way to make
 * Gemini 3 skip the check. Gemini's own clients write it into their history too.
 */
export const NO_SIGNATURE = 'skip_thought_signature_validator'

/**
 * A member by its name. Google's servers accept every name in both spellings, `systemInstruction` and
 * `system_instruction`, and clients use both.
 */
export function member(object: JsonObject | undefined, name: MemberName): Maybe {
  return object === undefined ? undefined : (object[name] ?? object[SNAKE_NAMES[name]])
}

/** Every camel-case member that a client may send, with its snake-case name. */
const SNAKE_NAMES = {
  systemInstruction: 'system_instruction',
  generationConfig: 'generation_config',
  toolConfig: 'tool_config',
  safetySettings: 'safety_settings',
  cachedContent: 'cached_content',
  serviceTier: 'service_tier',
  inlineData: 'inline_data',
  fileData: 'file_data',
  mimeType: 'mime_type',
  fileUri: 'file_uri',
  displayName: 'display_name',
  functionCall: 'function_call',
  functionResponse: 'function_response',
  thoughtSignature: 'thought_signature',
  functionDeclarations: 'function_declarations',
  parametersJsonSchema: 'parameters_json_schema',
  functionCallingConfig: 'function_calling_config',
  allowedFunctionNames: 'allowed_function_names',
  topP: 'top_p',
  topK: 'top_k',
  candidateCount: 'candidate_count',
  maxOutputTokens: 'max_output_tokens',
  stopSequences: 'stop_sequences',
  responseLogprobs: 'response_logprobs',
  presencePenalty: 'presence_penalty',
  frequencyPenalty: 'frequency_penalty',
  responseMimeType: 'response_mime_type',
  responseSchema: 'response_schema',
  responseJsonSchema: 'response_json_schema',
  responseModalities: 'response_modalities',
  thinkingConfig: 'thinking_config',
  includeThoughts: 'include_thoughts',
  thinkingBudget: 'thinking_budget',
  thinkingLevel: 'thinking_level',
  googleSearch: 'google_search',
  googleSearchRetrieval: 'google_search_retrieval',
  codeExecution: 'code_execution',
  urlContext: 'url_context',
  fileSearch: 'file_search',
} as const

export type MemberName = keyof typeof SNAKE_NAMES

/** The camel-case spelling of a name in either spelling. */
export function camelName(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase())
}

/** An address only Google can read. */
export function isGoogleFile(uri: string): boolean {
  return uri.startsWith('gs://') || /^https:\/\/[a-z-]+\.googleapis\.com\/.*files\//.test(uri)
}
