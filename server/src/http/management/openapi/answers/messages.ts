/**
 * Answers of the messages protocol. Blocks of a vendor's own tools are passed on unchanged; the arguments of a tool are
 * defined by its declaration.
 */
import type { JsonObject } from '../../../../core/json.ts'
import { UPSTREAM_BODY } from './errors.ts'
import {
  among,
  anyObject,
  closed,
  count,
  described,
  either,
  exactly,
  flag,
  list,
  maybe,
  named,
  text,
  typed,
  whole,
} from './words.ts'

const caller = either(
  typed('direct'),
  closed({
    type: among('code_execution_20250825', 'code_execution_20260120', 'code_execution_20260521'),
    tool_id: text,
  }),
)

const inDocument = { cited_text: text, document_index: count, document_title: maybe(text) }
const citation = either(
  typed(
    'char_location',
    { ...inDocument, start_char_index: count, end_char_index: count },
    { file_id: maybe(text) },
  ),
  typed(
    'page_location',
    { ...inDocument, start_page_number: count, end_page_number: count },
    { file_id: maybe(text) },
  ),
  typed(
    'content_block_location',
    { ...inDocument, start_block_index: count, end_block_index: count },
    { file_id: maybe(text) },
  ),
  typed('web_search_result_location', {
    cited_text: text,
    encrypted_index: text,
    title: maybe(text),
    url: text,
  }),
  typed('search_result_location', {
    cited_text: text,
    search_result_index: count,
    source: text,
    start_block_index: count,
    end_block_index: count,
    title: maybe(text),
  }),
)

const textBlock = typed('text', { text }, { citations: maybe(list(citation)) })
const failed = (type: string): JsonObject => typed(type, { error_code: text }, { error_message: maybe(text) })

/** The result of a vendor's tool. */
const result = (type: string, ...contents: readonly JsonObject[]): JsonObject =>
  typed(type, { tool_use_id: text, content: either(...contents) }, { caller })

const outputs = (type: string): JsonObject => list(typed(type, { file_id: text }))

const document = typed(
  'document',
  {
    source: either(
      typed('text', { media_type: text, data: text }),
      typed('base64', { media_type: text, data: text }),
    ),
    title: maybe(text),
  },
  { citations: maybe(closed({ enabled: flag })) },
)

const resultBlocks = [
  result(
    'web_search_tool_result',
    failed('web_search_tool_result_error'),
    list(
      typed('web_search_result', {
        title: text,
        url: text,
        encrypted_content: text,
        page_age: maybe(text),
      }),
    ),
  ),
  result(
    'web_fetch_tool_result',
    failed('web_fetch_tool_result_error'),
    typed('web_fetch_result', { url: text, content: document, retrieved_at: maybe(text) }),
  ),
  result(
    'advisor_tool_result',
    failed('advisor_tool_result_error'),
    typed('advisor_result', { text }, { stop_reason: maybe(text) }),
    typed('advisor_redacted_result', { encrypted_content: text }, { stop_reason: maybe(text) }),
  ),
  result(
    'code_execution_tool_result',
    failed('code_execution_tool_result_error'),
    typed(
      'code_execution_result',
      { stdout: text, stderr: text, return_code: whole, content: outputs('code_execution_output') },
      { abort_reason: maybe(text) },
    ),
    typed(
      'encrypted_code_execution_result',
      {
        encrypted_stdout: text,
        stderr: text,
        return_code: whole,
        content: outputs('code_execution_output'),
      },
      { abort_reason: maybe(text) },
    ),
  ),
  result(
    'bash_code_execution_tool_result',
    failed('bash_code_execution_tool_result_error'),
    typed(
      'bash_code_execution_result',
      { stdout: text, stderr: text, return_code: whole, content: outputs('bash_code_execution_output') },
      { abort_reason: maybe(text) },
    ),
  ),
  result(
    'text_editor_code_execution_tool_result',
    failed('text_editor_code_execution_tool_result_error'),
    typed('text_editor_code_execution_view_result', {
      file_type: among('text', 'image', 'pdf'),
      content: text,
      num_lines: maybe(count),
      start_line: maybe(count),
      total_lines: maybe(count),
    }),
    typed('text_editor_code_execution_create_result', { is_file_update: flag }),
    typed('text_editor_code_execution_str_replace_result', {
      lines: maybe(list(text)),
      old_start: maybe(count),
      old_lines: maybe(count),
      new_start: maybe(count),
      new_lines: maybe(count),
    }),
  ),
  result(
    'tool_search_tool_result',
    failed('tool_search_tool_result_error'),
    typed('tool_search_tool_search_result', {
      tool_references: list(typed('tool_reference', { tool_name: text })),
    }),
  ),
  typed('mcp_tool_result', {
    tool_use_id: text,
    is_error: flag,
    content: either(text, list(textBlock)),
  }),
]

const changedTool = either(
  typed('tool_reference', { name: text }),
  typed('mcp_tool_reference', { name: text, server_name: text }),
  typed('mcp_toolset_reference', { server_name: text }),
  typed('tool_definition', { definition: anyObject }),
)
const toolChanges = [
  typed('tool_addition', { tool: changedTool }),
  typed('tool_removal', { tool: changedTool }),
]

const toolInput = described('The arguments, as the tool of the client has them.', anyObject)

const block = either(
  textBlock,
  typed('thinking', { thinking: text }, { signature: text }),
  typed('redacted_thinking', { data: text }),
  typed('tool_use', { id: text, name: text, input: toolInput }, { caller, toolset_name: maybe(text) }),
  typed('server_tool_use', { id: text, name: text, input: anyObject }, { caller }),
  typed('mcp_tool_use', { id: text, name: text, input: anyObject, server_name: text }),
  typed('mcp_tool_listing', {
    mcp_server_name: text,
    tools: list(closed({ name: text, input_schema: anyObject }, { description: text })),
  }),
  typed('container_upload', { file_id: text }),
  typed(
    'compaction',
    { content: maybe(text) },
    {
      encrypted_content: maybe(text),
      signature: maybe(text),
      tool_changes: maybe(list(either(...toolChanges))),
    },
  ),
  typed(
    'fallback',
    { from: closed({ model: text }), to: closed({ model: text }) },
    { trigger: typed('refusal', { category: maybe(text) }) },
  ),
  ...toolChanges,
  ...resultBlocks,
)

const cacheCreation = closed({ ephemeral_5m_input_tokens: count, ephemeral_1h_input_tokens: count })

const iteration = closed(
  {
    type: among('message', 'compaction', 'advisor_message', 'fallback_message'),
    input_tokens: count,
    output_tokens: count,
    cache_read_input_tokens: count,
    cache_creation_input_tokens: count,
  },
  { model: maybe(text), cache_creation: maybe(cacheCreation) },
)

const fallbackCredit = closed({
  status: either(
    typed('redeemed'),
    typed('not_applied', { reason: text }, { remove_to_redeem: maybe(list(text)) }),
  ),
})

const usageWords = {
  cache_creation_input_tokens: maybe(count),
  cache_read_input_tokens: maybe(count),
  cache_creation: maybe(cacheCreation),
  output_tokens_details: maybe(closed({ thinking_tokens: count })),
  server_tool_use: maybe(closed({ web_search_requests: count }, { web_fetch_requests: count })),
  iterations: maybe(list(iteration)),
  service_tier: maybe(text),
  inference_geo: maybe(text),
  speed: maybe(text),
  fallback_credit: maybe(fallbackCredit),
}

const stop = {
  stop_reason: maybe(
    among(
      'end_turn',
      'max_tokens',
      'stop_sequence',
      'tool_use',
      'pause_turn',
      'compaction',
      'refusal',
      'model_context_window_exceeded',
    ),
  ),
}
const stopWords = {
  stop_sequence: maybe(text),
  stop_details: maybe(
    typed(
      'refusal',
      { category: maybe(text), explanation: maybe(text) },
      {
        recommended_model: maybe(text),
        fallback_credit_token: maybe(text),
        fallback_has_prefill_claim: maybe(flag),
      },
    ),
  ),
}

const container = maybe(
  closed(
    { id: text, expires_at: text },
    { skills: maybe(list(closed({ type: text, skill_id: text, version: text }))) },
  ),
)

const contextManagement = maybe(
  closed({
    applied_edits: list(
      either(
        typed('clear_tool_uses_20250919', { cleared_tool_uses: count, cleared_input_tokens: count }),
        typed('clear_thinking_20251015', { cleared_thinking_turns: count, cleared_input_tokens: count }),
      ),
    ),
  }),
)

const transformations = maybe(
  list(closed({ type: among('thinking_dropped', 'thinking_mismatch_allowed'), path: text, reason: text })),
)

const message = typed(
  'message',
  {
    id: text,
    role: exactly('assistant'),
    model: text,
    content: list(named('ContentBlock')),
    ...stop,
    usage: closed({ input_tokens: count, output_tokens: count }, usageWords),
  },
  {
    ...stopWords,
    container,
    context_management: contextManagement,
    input_transformations: transformations,
    diagnostics: maybe(
      closed({ cache_miss_reason: maybe(closed({ type: text }, { cache_missed_input_tokens: count })) }),
    ),
  },
)

const delta = either(
  typed('text_delta', { text }),
  typed('input_json_delta', { partial_json: text }),
  typed('thinking_delta', { thinking: text }, { estimated_tokens: maybe(count) }),
  typed('signature_delta', { signature: text }),
  typed('citations_delta', { citation }),
  typed('compaction_delta', { content: maybe(text) }, { encrypted_content: maybe(text) }),
)

const event = either(
  typed('message_start', { message: named('Message') }),
  typed('content_block_start', { index: count, content_block: named('ContentBlock') }),
  typed('content_block_delta', { index: count, delta }),
  typed('content_block_stop', { index: count }),
  typed(
    'message_delta',
    {
      delta: closed(stop, { ...stopWords, container }),
      usage: closed({ output_tokens: count }, { input_tokens: maybe(count), ...usageWords }),
    },
    { context_management: contextManagement, input_transformations: transformations },
  ),
  typed('message_stop'),
  typed('ping'),
  named('MessagesError'),
)

const error = typed(
  'error',
  {
    error: closed({ type: text, message: text }, { code: text, request_id: text, details: maybe(anyObject) }),
  },
  { request_id: maybe(text), ...UPSTREAM_BODY },
)

export const MESSAGES_ANSWERS: JsonObject = {
  Message: described('A message of the messages protocol.', message),
  ContentBlock: described('One block of a message.', block),
  MessageEvent: described('What the `data:` of one event of a messages stream holds.', event),
  MessagesError: described('An error in the form of the messages protocol, in a body as in an event.', error),
}

export const MESSAGES_WHOLE = named('Message')
export const MESSAGES_EVENT = named('MessageEvent')
export const MESSAGES_COUNT = closed(
  { input_tokens: count },
  { context_management: maybe(closed({ original_input_tokens: count })) },
)
