import type { ProtocolId } from '../catalogue.ts'

/** What a field of a request body means to the gateway. `…-inside` counts with the last `…-holder` around it. */
export type RequestRole =
  | 'root'
  | 'model'
  | 'stream'
  | 'user'
  | 'user-holder'
  | 'user-inside'
  | 'output-cap'
  | 'caps-holder'
  | 'output-cap-inside'
  | 'candidates'
  | 'candidates-inside'
  | 'previous-response'
  | 'store'
  | 'stream-options'
  | 'include-usage'
  | 'media'

/**
 * The fields of each protocol the gateway looks at (contract §1.4; reference §1). Media fields are only measured, so
 * that a picture's base64 is not taken for prompt text when the hold is sized. Gemini takes both spellings of a name.
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
    'messages[].content[].image_url.url': 'media',
    'messages[].content[].input_audio.data': 'media',
    'messages[].content[].file.file_data': 'media',
  },
  responses: {
    model: 'model',
    stream: 'stream',
    user: 'user',
    max_output_tokens: 'output-cap',
    previous_response_id: 'previous-response',
    store: 'store',
    'input[].content[].image_url': 'media',
    'input[].content[].file_data': 'media',
    'input[].output[].image_url': 'media',
    'input[].output[].file_data': 'media',
    'input[].encrypted_content': 'media',
  },
  messages: {
    model: 'model',
    stream: 'stream',
    metadata: 'user-holder',
    'metadata.user_id': 'user-inside',
    max_tokens: 'output-cap',
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
    'contents[].parts[].inlineData.data': 'media',
    'contents[].parts[].inline_data.data': 'media',
    'contents[].parts[].thoughtSignature': 'media',
  },
} as const satisfies Record<ProtocolId, Readonly<Record<string, RequestRole>>>
