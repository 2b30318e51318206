/** What the output of a response is made of. */
import type { JsonObject } from '../../../../core/json.ts'
import { LISTED_TOOLS, RESPONSE_TOOLS } from './responses-tools.ts'
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

const status = among(
  'in_progress',
  'completed',
  'incomplete',
  'failed',
  'searching',
  'interpreting',
  'generating',
  'calling',
)

const annotation = either(
  typed('url_citation', { url: text }, { start_index: whole, end_index: whole, title: text }),
  typed('file_citation', { file_id: text, filename: text, index: whole }),
  typed('container_file_citation', {
    container_id: text,
    file_id: text,
    filename: text,
    start_index: whole,
    end_index: whole,
  }),
  typed('file_path', { file_id: text, index: whole }),
)

const logprob = { token: text, logprob: decimal }
export const TOKEN_LOGPROBS = list(
  closed(logprob, {
    bytes: maybe(list(count)),
    top_logprobs: list(closed(logprob, { bytes: maybe(list(count)) })),
  }),
)

const outputText = typed(
  'output_text',
  { text, annotations: list(named('ResponseAnnotation')) },
  { logprobs: maybe(TOKEN_LOGPROBS) },
)
const refusal = typed('refusal', { refusal: text })
const reasoningText = typed('reasoning_text', { text })
export const SUMMARY_TEXT = typed('summary_text', { text })

const caller = maybe(closed({ type: among('direct', 'program') }, { call_id: text, caller_id: text }))
const byTool = { status, caller, created_by: text }

const item = (type: string, required: JsonObject, optional: JsonObject = {}): JsonObject =>
  typed(type, { id: text, ...required }, optional)

/** Some vendors include the call's name. */
const vendorCall = { arguments: text, call_id: text, name: text }

const shellOutput = closed(
  {
    stdout: text,
    stderr: text,
    outcome: either(typed('exit', { exit_code: whole }), typed('timeout')),
  },
  { created_by: text },
)
export const SHELL_OUTPUT = list(shellOutput)

const coordinates = { x: whole, y: whole }
const keys = maybe(list(text))
const action = either(
  typed('click', { button: text, ...coordinates }, { keys }),
  typed('double_click', coordinates, { keys }),
  typed('drag', { path: list(closed(coordinates)) }, { keys }),
  typed('keypress', { keys: list(text) }),
  typed('move', coordinates, { keys }),
  typed('screenshot'),
  typed('scroll', { ...coordinates, scroll_x: whole, scroll_y: whole }, { keys }),
  typed('type', { text }),
  typed('wait'),
)
const safetyChecks = list(closed({ id: text }, { code: maybe(text), message: maybe(text) }))

const breakpoint = maybe(closed({ mode: text }, { ttl: text }))
const inputPart = either(
  typed('input_text', { text }, { prompt_cache_breakpoint: breakpoint }),
  typed(
    'input_image',
    {},
    {
      detail: maybe(text),
      image_url: maybe(text),
      file_id: maybe(text),
      prompt_cache_breakpoint: breakpoint,
    },
  ),
  typed(
    'input_file',
    {},
    {
      detail: text,
      file_data: maybe(text),
      file_id: maybe(text),
      file_url: maybe(text),
      filename: maybe(text),
      prompt_cache_breakpoint: breakpoint,
    },
  ),
)
const toolOutput = either(text, list(inputPart))

const reasoning = item(
  'reasoning',
  { summary: list(SUMMARY_TEXT) },
  { content: maybe(list(reasoningText)), encrypted_content: maybe(text), status: maybe(status) },
)

const message = item(
  'message',
  { role: exactly('assistant'), status, content: list(either(outputText, refusal)) },
  { phase: maybe(among('commentary', 'final_answer')) },
)

const CLIENT_CALLS = [
  item(
    'function_call',
    { call_id: text, name: text, arguments: text },
    { namespace: text, async: flag, ...byTool },
  ),
  item(
    'custom_tool_call',
    { call_id: text, name: text, input: text },
    { namespace: text, async: flag, ...byTool },
  ),
  item(
    'function_call_output',
    { output: toolOutput },
    { call_id: text, name: text, namespace: text, ...byTool },
  ),
  item('custom_tool_call_output', { call_id: text, output: toolOutput }, byTool),
]

const SEARCHES = [
  item(
    'web_search_call',
    { status },
    {
      action: either(
        typed(
          'search',
          {},
          {
            query: text,
            queries: list(text),
            sources: maybe(list(typed('url', { url: text }))),
          },
        ),
        typed('open_page', {}, { url: maybe(text) }),
        typed('find_in_page', {}, { url: text, pattern: text }),
      ),
      ...vendorCall,
    },
  ),
  item(
    'file_search_call',
    { status, queries: list(text) },
    {
      results: maybe(
        list(
          closed(
            {},
            {
              attributes: maybe(mapOf(either(text, decimal, flag))),
              file_id: text,
              filename: text,
              score: decimal,
              text,
            },
          ),
        ),
      ),
    },
  ),
  item('x_search_call', { status }, vendorCall),
  item('collections_search_call', { status }, vendorCall),
  item('tool_search_call', { arguments: anyJson }, { call_id: maybe(text), execution: text, ...byTool }),
  item('tool_search_output', { tools: RESPONSE_TOOLS }, { call_id: maybe(text), execution: text, ...byTool }),
  item('additional_tools', { role: text, tools: RESPONSE_TOOLS }),
]

const CODE = [
  item(
    'code_interpreter_call',
    { status },
    {
      code: maybe(text),
      container_id: text,
      outputs: maybe(list(either(typed('logs', { logs: text }), typed('image', { url: text })))),
      ...vendorCall,
    },
  ),
  item('program', { call_id: text, code: text, fingerprint: text }, { status }),
  item('program_output', { call_id: text, result: text }, { status }),
  item(
    'shell_call',
    {
      call_id: text,
      action: closed({ commands: list(text) }, { max_output_length: maybe(count), timeout_ms: maybe(count) }),
    },
    {
      environment: maybe(
        either(
          typed('local', {}, { skills: list(anyObject) }),
          typed('container_reference', { container_id: text }),
        ),
      ),
      ...byTool,
    },
  ),
  item(
    'shell_call_output',
    { call_id: text, output: SHELL_OUTPUT },
    { max_output_length: maybe(count), ...byTool },
  ),
  item(
    'local_shell_call',
    {
      call_id: text,
      action: typed(
        'exec',
        { command: list(text), env: mapOf(text) },
        { timeout_ms: maybe(count), user: maybe(text), working_directory: maybe(text) },
      ),
    },
    { status },
  ),
  item('local_shell_call_output', { output: text }, { status: maybe(status) }),
  item(
    'apply_patch_call',
    {
      call_id: text,
      operation: either(
        typed('create_file', { path: text, diff: text }),
        typed('update_file', { path: text, diff: text }),
        typed('delete_file', { path: text }),
      ),
    },
    byTool,
  ),
  item('apply_patch_call_output', { call_id: text }, { output: maybe(text), ...byTool }),
]

const IMAGES_AND_SCREENS = [
  item(
    'image_generation_call',
    { status },
    {
      result: maybe(text),
      action: maybe(text),
      background: maybe(text),
      output_format: maybe(text),
      prompt: maybe(text),
      quality: maybe(text),
      revised_prompt: maybe(text),
      size: maybe(text),
      error: maybe(
        closed(
          { message: text },
          {
            type: text,
            code: maybe(text),
            param: maybe(text),
            moderation_details: maybe(closed({ categories: list(text), moderation_stage: text })),
          },
        ),
      ),
      svg_usage: maybe(mapOf(either(count, text))),
    },
  ),
  item(
    'computer_call',
    { call_id: text, pending_safety_checks: safetyChecks },
    { action, actions: list(action), status },
  ),
  item(
    'computer_call_output',
    {
      call_id: text,
      output: typed('computer_screenshot', {}, { file_id: maybe(text), image_url: maybe(text) }),
    },
    { acknowledged_safety_checks: safetyChecks, ...byTool },
  ),
]

const MCP = [
  item('mcp_list_tools', { server_label: text, tools: LISTED_TOOLS }, { error: maybe(anyJson) }),
  item(
    'mcp_call',
    { server_label: text, name: text, arguments: text },
    {
      approval_request_id: maybe(text),
      output: maybe(text),
      error: maybe(
        either(
          text,
          typed('mcp_protocol_error', { code: whole, message: text }),
          typed('mcp_tool_execution_error', { content: anyJson }),
          typed('http_error', { code: whole, message: text }),
        ),
      ),
      status,
    },
  ),
  item('mcp_approval_request', { server_label: text, name: text, arguments: text }),
  item('mcp_approval_response', { approval_request_id: text, approve: flag }, { reason: maybe(text) }),
]

const outputItem = either(
  message,
  reasoning,
  ...CLIENT_CALLS,
  ...SEARCHES,
  ...CODE,
  ...IMAGES_AND_SCREENS,
  ...MCP,
  item('compaction', { encrypted_content: text }, { created_by: text }),
)

export const ITEMS: JsonObject = {
  ResponseItem: described('One item of a response’s output.', outputItem),
  ResponseAnnotation: described('Where a text comes from.', annotation),
}

/** A part of a message or of reasoning, as streams announce it. */
export const CONTENT_PART = either(outputText, refusal, reasoningText)
export const INPUT_PART = inputPart
