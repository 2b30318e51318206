/** Answers of the responses protocol: the response, and the events of its stream. */
import type { JsonObject } from '../../../../core/json.ts'
import {
  CONTENT_PART,
  INPUT_PART,
  ITEMS,
  SHELL_OUTPUT,
  SUMMARY_TEXT,
  TOKEN_LOGPROBS,
} from './responses-items.ts'
import { RESPONSE_TOOL_CHOICE, RESPONSE_TOOLS, TOOLS } from './responses-tools.ts'
import {
  among,
  anyJson,
  anyObject,
  closed,
  count,
  decimal,
  described,
  either,
  exactly,
  flag,
  list,
  mapOf,
  maybe,
  named,
  text,
  typed,
  whole,
} from './words.ts'

const usage = closed(
  { input_tokens: count, output_tokens: count, total_tokens: count },
  {
    input_tokens_details: closed(
      { cached_tokens: count },
      {
        cache_write_tokens: count,
        cache_write_tokens_details: maybe(mapOf(count)),
        text_tokens: count,
        image_tokens: count,
        audio_tokens: count,
      },
    ),
    output_tokens_details: closed({ reasoning_tokens: count }, { text_tokens: count, image_tokens: count }),
    num_sources_used: count,
    num_server_side_tools_used: count,
    cost_in_usd_ticks: count,
    server_side_tool_usage_details: maybe(mapOf(count)),
    context_details: maybe(mapOf(count)),
  },
)

const format = either(
  typed('text'),
  typed('json_object'),
  typed(
    'json_schema',
    { name: text, schema: described('As the client sent it.', anyObject) },
    { description: maybe(text), strict: maybe(flag) },
  ),
)

const failure = closed(
  { code: maybe(text), message: text },
  {
    type: maybe(text),
    param: maybe(text),
    request_id: text,
    misalignment: maybe(anyObject),
  },
)

const filtered = closed({ filtered: flag }, { severity: text, detected: flag })
const contentFilter = closed(
  { blocked: flag, source_type: text },
  {
    content_filter_raw: maybe(anyJson),
    content_filter_results: mapOf(filtered),
    content_filter_offsets: mapOf(whole),
  },
)

const tokensOfImages = { image_tokens: count, text_tokens: count }
const toolUsage = closed(
  {},
  {
    image_gen: closed(
      { input_tokens: count, output_tokens: count, total_tokens: count },
      {
        input_tokens_details: closed(tokensOfImages, { cached_tokens_details: maybe(mapOf(count)) }),
        output_tokens_details: closed(tokensOfImages),
      },
    ),
    web_search: closed({ num_requests: count }),
  },
)

const moderated = either(
  typed('moderation_results', { model: text, results: list(anyObject) }),
  typed('error', { code: text, message: text }),
)

const cacheDiagnostics = either(
  typed('cache_miss', { cache_missed_tokens: count, reason: text }, { comparison_reusable_tokens: count }),
  closed({ type: among('cache_hit', 'comparison_response_not_found', 'unavailable') }),
)

/** Settings of the request, repeated. */
const settings = {
  background: maybe(flag),
  conversation: maybe(closed({ id: text })),
  frequency_penalty: maybe(decimal),
  instructions: maybe(either(text, list(anyObject))),
  max_output_tokens: maybe(count),
  max_tool_calls: maybe(count),
  metadata: maybe(mapOf(text)),
  parallel_tool_calls: flag,
  presence_penalty: maybe(decimal),
  previous_response_id: maybe(text),
  prompt: maybe(anyObject),
  prompt_cache_key: maybe(text),
  prompt_cache_options: maybe(closed({ mode: text }, { ttl: text, comparison_response_id: maybe(text) })),
  prompt_cache_retention: maybe(text),
  reasoning: maybe(
    closed(
      {},
      {
        effort: maybe(text),
        summary: maybe(text),
        generate_summary: maybe(text),
        context: maybe(text),
        mode: text,
      },
    ),
  ),
  safety_identifier: maybe(text),
  service_tier: maybe(text),
  store: maybe(flag),
  temperature: maybe(decimal),
  text: closed({}, { format, verbosity: maybe(text) }),
  tool_choice: RESPONSE_TOOL_CHOICE,
  tools: RESPONSE_TOOLS,
  top_logprobs: maybe(count),
  top_p: maybe(decimal),
  truncation: maybe(text),
  user: maybe(text),
}

/** Further fields of vendors. */
const surroundings = {
  access_programs: maybe(anyObject),
  billing: closed({ payer: text }),
  content_filters: maybe(list(contentFilter)),
  image: closed({ context_compression: text }),
  input: list(anyObject),
  moderation: maybe(closed({ input: moderated, output: moderated })),
  prompt_cache_diagnostics: cacheDiagnostics,
  tool_usage: toolUsage,
}

const response = closed(
  {
    id: text,
    object: exactly('response'),
    created_at: whole,
    status: among('queued', 'in_progress', 'completed', 'incomplete', 'failed', 'cancelled'),
    model: text,
    output: list(named('ResponseItem')),
  },
  {
    completed_at: maybe(whole),
    error: maybe(failure),
    incomplete_details: maybe(closed({}, { reason: text })),
    usage: maybe(usage),
    ...settings,
    ...surroundings,
  },
)

type Names = readonly string[]

/** An event of this name with the common fields. */
const event = (name: string, required: JsonObject, optional: JsonObject = {}): JsonObject =>
  typed(`response.${name}`, required, { sequence_number: count, ...optional })
/** Events that differ only in name. */
const alike = (names: Names, required: JsonObject, optional: JsonObject = {}): JsonObject =>
  closed(
    { type: among(...names.map((name) => `response.${name}`)), ...required },
    { sequence_number: count, ...optional },
  )

const inOutput = { item_id: text, output_index: count }
const inContent = { ...inOutput, content_index: count }
const inSummary = { ...inOutput, summary_index: count }
const obfuscation = { obfuscation: text }
const shellCommand = { output_index: count, command_index: count }

const LIFE = ['created', 'queued', 'in_progress', 'completed', 'incomplete', 'failed', 'cancelled']
const PROGRESS = [
  ...['in_progress', 'interpreting', 'completed'].map((state) => `code_interpreter_call.${state}`),
  ...['in_progress', 'searching', 'completed'].map((state) => `file_search_call.${state}`),
  ...['in_progress', 'searching', 'completed'].map((state) => `web_search_call.${state}`),
  ...['in_progress', 'generating', 'completed'].map((state) => `image_generation_call.${state}`),
  ...['in_progress', 'completed', 'failed'].map((state) => `mcp_call.${state}`),
  ...['in_progress', 'completed', 'failed'].map((state) => `mcp_list_tools.${state}`),
  'compaction.compacting',
]

const nestedError = closed(
  { message: text },
  { type: maybe(text), param: maybe(text), code: maybe(text), request_id: text },
)

const streamEvent = either(
  alike(LIFE, { response: named('Response') }),
  alike(['output_item.added', 'output_item.done'], { output_index: count, item: named('ResponseItem') }),
  alike(['content_part.added', 'content_part.done'], { ...inContent, part: CONTENT_PART }),
  event(
    'output_text.delta',
    { ...inContent, delta: text },
    { logprobs: maybe(TOKEN_LOGPROBS), ...obfuscation },
  ),
  event('output_text.done', { ...inContent, text }, { logprobs: maybe(TOKEN_LOGPROBS) }),
  event('output_text.annotation.added', {
    ...inContent,
    annotation_index: count,
    annotation: maybe(named('ResponseAnnotation')),
  }),
  alike(['refusal.delta', 'reasoning_text.delta'], { ...inContent, delta: text }, obfuscation),
  event('refusal.done', { ...inContent, refusal: text }),
  event('reasoning_text.done', { ...inContent, text }),
  alike(
    ['reasoning_summary_part.added', 'reasoning_summary_part.done'],
    { ...inSummary, part: SUMMARY_TEXT },
    { status: text },
  ),
  event('reasoning_summary_text.delta', { ...inSummary, delta: text }, obfuscation),
  event('reasoning_summary_text.done', { ...inSummary, text }),
  alike(
    [
      'function_call_arguments.delta',
      'custom_tool_call_input.delta',
      'mcp_call_arguments.delta',
      'code_interpreter_call_code.delta',
    ],
    { ...inOutput, delta: text },
    obfuscation,
  ),
  alike(
    ['function_call_arguments.done', 'mcp_call_arguments.done'],
    { ...inOutput, arguments: text },
    { name: text },
  ),
  event('custom_tool_call_input.done', { ...inOutput, input: text }),
  event('code_interpreter_call_code.done', { ...inOutput, code: text }),
  alike(
    ['shell_call_command.added', 'shell_call_command.done'],
    { ...shellCommand, command: text },
    { item_id: text },
  ),
  event('shell_call_command.delta', { ...shellCommand, delta: text }, { item_id: text, ...obfuscation }),
  event('shell_call_output_content.delta', {
    ...inOutput,
    command_index: count,
    delta: closed({}, { stdout: text, stderr: text }),
  }),
  event('shell_call_output_content.done', { ...inOutput, command_index: count, output: SHELL_OUTPUT }),
  event(
    'image_generation_call.partial_image',
    { ...inOutput, partial_image_index: count, partial_image_b64: text },
    { background: text, output_format: text, quality: text, size: text },
  ),
  alike(PROGRESS, inOutput),
  alike(['audio.delta', 'audio.transcript.delta'], { delta: text }),
  alike(['audio.done', 'audio.transcript.done'], {}),
  typed(
    'error',
    { code: maybe(text), message: text, param: maybe(text) },
    { sequence_number: count, error: nestedError },
  ),
  typed('error', { error: nestedError }, { sequence_number: count }),
)

/** The client's input, with the type, the id and the status that it may have omitted. */
const inputItem = either(
  named('ResponseItem'),
  typed(
    'message',
    {
      id: text,
      role: among('user', 'system', 'developer', 'assistant'),
      status: text,
      content: list(either(INPUT_PART, CONTENT_PART)),
    },
    { phase: maybe(text) },
  ),
)

export const RESPONSES_ANSWERS: JsonObject = {
  Response: described('A response object.', response),
  ResponseEvent: described('What the `data:` of one event of a responses stream holds.', streamEvent),
  ...ITEMS,
  ...TOOLS,
}

export const RESPONSES_WHOLE = named('Response')
export const RESPONSES_EVENT = named('ResponseEvent')
export const RESPONSES_COUNT = closed({ input_tokens: count }, { object: exactly('response.input_tokens') })
export const RESPONSES_DELETED = closed({
  id: text,
  object: exactly('response'),
  deleted: exactly(true),
})
export const RESPONSES_INPUT = closed({
  object: exactly('list'),
  data: list(inputItem),
  first_id: maybe(text),
  last_id: maybe(text),
  has_more: flag,
})
