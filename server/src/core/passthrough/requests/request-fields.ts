import type { ProtocolId } from '../../catalogue.ts'

/**
 * What a field of a request body means to the gateway. A field with a role `…-inside` belongs to the last `…-holder`
 * around it.
 */
export type RequestRole =
  | 'root'
  | 'model'
  /** The model as a resource, `models/{id}`, in a form whose path names it: one for each of many requests. */
  | 'model-resource'
  | 'stream'
  | 'user'
  | 'user-holder'
  | 'user-inside'
  | 'output-cap'
  | 'caps-holder'
  | 'output-cap-inside'
  | 'candidates'
  /** The most answers there may be: the model decides how many it makes. */
  | 'candidates-most'
  /** The model decides how many answers it makes, unless the value is `disabled`. */
  | 'candidates-open'
  | 'candidates-inside'
  | 'previous-response'
  | 'store'
  | 'background'
  | 'stream-options'
  | 'include-usage'
  | 'message'
  /** Type, role and id of an item of the conversation. */
  | 'item-type'
  | 'item-role'
  | 'item-id'
  | 'media'
  /** A field that costs extra at some vendor; named by the last part of its path. */
  | 'extra-cost-field'
  /** A tool's type; tools that are not the client's own run at the vendor. */
  | 'tool-type'
  /** A tool, and how often it may be used at most. */
  | 'tool'
  | 'tool-uses'
  /** How often all of the vendor's tools together may be used. */
  | 'tool-uses-cap'
  /** A tool of the vendor's own; named by the last part of its path. */
  | 'hosted-tool'
  /** Something that the model reads although it is not in the request: a file, a kept conversation, a cache. */
  | 'unseen-input'
  /** One of several items, each of which the model reads together with what is `repeated`. */
  | 'item'
  | 'repeated'
  /** A text to turn into speech: its characters are charged. */
  | 'spoken'
  /** The type of a piece of content; the length of a document is unknown here. */
  | 'content-type'

/**
 * The fields of each protocol the gateway looks at (docs/reference/contract.md#1-32). Media fields are only measured,
 * so that a picture's base64 is not taken for prompt text when the hold is sized. Gemini accepts both spellings of a
 * name.
 */
export const REQUEST_FIELDS = {
  chat: {
    model: 'model',
    stream: 'stream',
    user: 'user',
    max_tokens: 'output-cap',
    max_completion_tokens: 'output-cap',
    n: 'candidates',
    stream_options: 'stream-options',
    'stream_options.include_usage': 'include-usage',
    'messages[]': 'message',
    'messages[].content[].image_url.url': 'media',
    'messages[].content[].input_audio.data': 'media',
    'messages[].content[].file.file_data': 'media',
    'messages[].content[].type': 'content-type',
    service_tier: 'extra-cost-field',
    speed: 'extra-cost-field',
    inference_geo: 'extra-cost-field',
    web_search_options: 'hosted-tool',
    search_parameters: 'hosted-tool',
    enable_search: 'hosted-tool',
    plugins: 'hosted-tool',
    'tools[]': 'tool',
    'tools[].type': 'tool-type',
  },
  responses: {
    model: 'model',
    stream: 'stream',
    user: 'user',
    max_output_tokens: 'output-cap',
    previous_response_id: 'previous-response',
    store: 'store',
    background: 'background',
    max_tool_calls: 'tool-uses-cap',
    'input[]': 'message',
    'input[].content[].image_url': 'media',
    'input[].content[].file_data': 'media',
    'input[].output[].image_url': 'media',
    'input[].output[].file_data': 'media',
    'input[].encrypted_content': 'media',
    conversation: 'unseen-input',
    prompt: 'unseen-input',
    'input[].content[].type': 'content-type',
    'input[].content[].file_id': 'media',
    'input[].output[].type': 'content-type',
    'input[].output[].file_id': 'media',
    'input[].type': 'item-type',
    'input[].role': 'item-role',
    'input[].id': 'item-id',
    service_tier: 'extra-cost-field',
    speed: 'extra-cost-field',
    inference_geo: 'extra-cost-field',
    search_parameters: 'hosted-tool',
    plugins: 'hosted-tool',
    'tools[]': 'tool',
    'tools[].type': 'tool-type',
  },
  messages: {
    model: 'model',
    stream: 'stream',
    metadata: 'user-holder',
    'metadata.user_id': 'user-inside',
    max_tokens: 'output-cap',
    'messages[]': 'message',
    'messages[].content[].type': 'content-type',
    'messages[].content[].source.url': 'media',
    'messages[].content[].source.file_id': 'media',
    'messages[].content[].content[].type': 'content-type',
    'messages[].content[].content[].source.url': 'media',
    'messages[].content[].content[].source.file_id': 'media',
    container: 'unseen-input',
    mcp_servers: 'hosted-tool',
    service_tier: 'extra-cost-field',
    speed: 'extra-cost-field',
    inference_geo: 'extra-cost-field',
    'tools[]': 'tool',
    'tools[].type': 'tool-type',
    'tools[].max_uses': 'tool-uses',
    'messages[].content[].source.data': 'media',
    'messages[].content[].content[].source.data': 'media',
    'messages[].content[].signature': 'media',
  },
  gemini: {
    generationConfig: 'caps-holder',
    'generationConfig.maxOutputTokens': 'output-cap-inside',
    'generationConfig.max_output_tokens': 'output-cap-inside',
    'generationConfig.candidateCount': 'candidates-inside',
    'generationConfig.candidate_count': 'candidates-inside',
    generation_config: 'caps-holder',
    'generation_config.maxOutputTokens': 'output-cap-inside',
    'generation_config.max_output_tokens': 'output-cap-inside',
    'generation_config.candidateCount': 'candidates-inside',
    'generation_config.candidate_count': 'candidates-inside',
    'contents[]': 'message',
    'contents[].parts[].inlineData.data': 'media',
    'contents[].parts[].inline_data.data': 'media',
    'contents[].parts[].thoughtSignature': 'media',
    'contents[].parts[].inlineData.mimeType': 'content-type',
    'contents[].parts[].inline_data.mime_type': 'content-type',
    'contents[].parts[].inlineData.mime_type': 'content-type',
    'contents[].parts[].inline_data.mimeType': 'content-type',
    'contents[].parts[].fileData': 'unseen-input',
    'contents[].parts[].file_data': 'unseen-input',
    cachedContent: 'unseen-input',
    cached_content: 'unseen-input',
    serviceTier: 'extra-cost-field',
    service_tier: 'extra-cost-field',
    'tools[].googleSearch': 'hosted-tool',
    'tools[].google_search': 'hosted-tool',
    'tools[].googleSearchRetrieval': 'hosted-tool',
    'tools[].google_search_retrieval': 'hosted-tool',
    'tools[].enterpriseWebSearch': 'hosted-tool',
    'tools[].enterprise_web_search': 'hosted-tool',
    'tools[].googleMaps': 'hosted-tool',
    'tools[].google_maps': 'hosted-tool',
    'tools[].urlContext': 'hosted-tool',
    'tools[].url_context': 'hosted-tool',
    'tools[].codeExecution': 'hosted-tool',
    'tools[].code_execution': 'hosted-tool',
    'tools[].fileSearch': 'hosted-tool',
    'tools[].file_search': 'hosted-tool',
  },
} as const satisfies Record<ProtocolId, Readonly<Record<string, RequestRole>>>
