/** The sandbox in the responses protocol, with the full event order its clients need. */
import type { JsonObject, JsonValue } from '../../../core/json.ts'
import type { OfflineChunk } from '../../../core/offline-answer.ts'
import type { Reply } from './compose.ts'
import { pace } from './pace.ts'
import {
  AUTO,
  object,
  objects,
  positive,
  strings,
  type Prompt,
  type PromptFormat,
  type PromptTool,
  type PromptToolChoice,
  text,
  textOf,
  type ToolResult,
  wordsBelow,
} from './prompt.ts'
import { piecesOf } from '../tokens.ts'
import type { Stamp, Voice } from './voice.ts'

export const responsesVoice: Voice = {
  readPrompt,
  whole,
  stream,
  count: (inputTokens) => ({ object: 'response.input_tokens', input_tokens: inputTokens }),
  error: (message, status, code) => ({
    error: { message, type: status < 500 ? 'invalid_request_error' : 'server_error', param: null, code },
  }),
}

function readPrompt(body: JsonObject): Prompt {
  const items = itemsOf(body['input'])
  const lastUser = items.findLastIndex((item) => item['role'] === 'user')
  const content = items[lastUser]?.['content']
  return {
    read: [...wordsBelow(body['instructions']), ...wordsBelow(body['input']), ...wordsBelow(body['tools'])],
    lastUserText: textOf(content),
    attachments: objects(content).filter((part) => part['type'] !== 'input_text').length,
    toolResults: resultsIn(items, lastUser),
    tools: objects(body['tools']).flatMap(toolOf),
    toolChoice: choiceOf(body['tool_choice']),
    parallelToolCalls: body['parallel_tool_calls'] !== false,
    maxOutputTokens: positive(body['max_output_tokens']),
    stop: [],
    format: formatOf(object(object(body['text'])['format'])),
    reasoning: object(body['reasoning'])['effort'] !== 'none',
    stream: body['stream'] === true,
  }
}

function itemsOf(input: JsonValue | undefined): readonly JsonObject[] {
  return typeof input === 'string' ? [{ role: 'user', content: input }] : objects(input)
}

function resultsIn(items: readonly JsonObject[], lastUser: number): readonly ToolResult[] {
  const calls = items.filter((item) => text(item['name']) !== '')
  const names = new Map(calls.map((item) => [text(item['call_id']), text(item['name'])]))
  return items
    .slice(lastUser + 1)
    .filter((item) => text(item['type']).endsWith('call_output'))
    .map((item) => ({ name: names.get(text(item['call_id'])) ?? 'a tool', text: textOf(item['output']) }))
}

function toolOf(tool: JsonObject): readonly PromptTool[] {
  const name = text(tool['name'])
  if (tool['type'] === 'custom') return [{ name, kind: 'custom', schema: undefined }]
  return tool['type'] === 'function' ? [{ name, kind: 'function', schema: tool['parameters'] }] : []
}

function choiceOf(choice: JsonValue | undefined): PromptToolChoice {
  if (choice === 'none' || choice === 'required') return { kind: choice }
  const name = text(object(choice)['name'])
  return name === '' ? AUTO : { kind: 'tool', name }
}

function formatOf(format: JsonObject): PromptFormat {
  if (format['type'] === 'json_object') return { kind: 'json' }
  return format['type'] === 'json_schema'
    ? { kind: 'json-schema', schema: format['schema'] ?? {} }
    : { kind: 'text' }
}

function whole(reply: Reply, stamp: Stamp, body: JsonObject): JsonObject {
  const items = itemsFor(reply, stamp, body)
  return responseObject(reply, stamp, body, { ...endOf(reply), output: items, usage: usageOf(reply) })
}

function* stream(reply: Reply, stamp: Stamp, body: JsonObject): Generator<OfflineChunk> {
  let sequence = 0
  const event = (type: string, payload: JsonObject): OfflineChunk => {
    const json = JSON.stringify({ type, sequence_number: sequence, ...payload })
    sequence += 1
    return pace(`event: ${type}\ndata: ${json}\n\n`)
  }
  const items = itemsFor(reply, stamp, body)
  const running = responseObject(reply, stamp, body, RUNNING)
  yield event('response.created', { response: running })
  yield event('response.in_progress', { response: running })
  for (const [index, item] of items.entries()) {
    for (const [type, payload] of eventsOfItem(item)) yield event(type, { output_index: index, ...payload })
  }
  const ended = endOf(reply)
  const last = responseObject(reply, stamp, body, { ...ended, output: items, usage: usageOf(reply) })
  yield event(ended['status'] === 'completed' ? 'response.completed' : 'response.incomplete', {
    response: last,
  })
}

type ItemEvent = readonly [type: string, payload: JsonObject]

/** Opening, growth and closing of one output item, in the order the original sends them. */
function* eventsOfItem(item: JsonObject): Generator<ItemEvent> {
  switch (text(item['type'])) {
    case 'reasoning':
      yield* eventsOfReasoning(item)
      return
    case 'message':
      yield* eventsOfMessage(item)
      return
    case 'function_call':
      yield* eventsOfCall(item, { event: 'response.function_call_arguments', member: 'arguments' })
      return
    case 'custom_tool_call':
      yield* eventsOfCall(item, { event: 'response.custom_tool_call_input', member: 'input' })
      return
  }
}

function* eventsOfReasoning(item: JsonObject): Generator<ItemEvent> {
  yield ['response.output_item.added', { item: { ...item, status: 'in_progress', summary: [] } }]
  const place = { item_id: text(item['id']), summary_index: 0 }
  const part = object(objects(item['summary'])[0])
  yield ['response.reasoning_summary_part.added', { ...place, part: { ...part, text: '' } }]
  for (const delta of piecesOf(text(part['text']))) {
    yield ['response.reasoning_summary_text.delta', { ...place, delta }]
  }
  yield ['response.reasoning_summary_text.done', { ...place, text: text(part['text']) }]
  yield ['response.reasoning_summary_part.done', { ...place, part }]
  yield ['response.output_item.done', { item }]
}

function* eventsOfMessage(item: JsonObject): Generator<ItemEvent> {
  yield ['response.output_item.added', { item: { ...item, status: 'in_progress', content: [] } }]
  const place = { item_id: text(item['id']), content_index: 0 }
  const part = object(objects(item['content'])[0])
  yield ['response.content_part.added', { ...place, part: { ...part, text: '' } }]
  for (const delta of piecesOf(text(part['text']))) {
    yield ['response.output_text.delta', { ...place, delta, logprobs: [] }]
  }
  yield ['response.output_text.done', { ...place, text: text(part['text']), logprobs: [] }]
  yield ['response.content_part.done', { ...place, part }]
  yield ['response.output_item.done', { item }]
}

function* eventsOfCall(
  item: JsonObject,
  names: { readonly event: string; readonly member: 'arguments' | 'input' },
): Generator<ItemEvent> {
  yield ['response.output_item.added', { item: { ...item, status: 'in_progress', [names.member]: '' } }]
  const place = { item_id: text(item['id']) }
  const input = text(item[names.member])
  for (const delta of piecesOf(input)) yield [`${names.event}.delta`, { ...place, delta }]
  yield [`${names.event}.done`, { ...place, [names.member]: input }]
  yield ['response.output_item.done', { item }]
}

function itemsFor(reply: Reply, stamp: Stamp, body: JsonObject): readonly JsonObject[] {
  const status = reply.finish === 'length' ? 'incomplete' : 'completed'
  const items: JsonObject[] = []
  if (reply.reasoning !== undefined) {
    const encrypted = strings(body['include']).includes('reasoning.encrypted_content')
    items.push({
      id: `rs_${stamp.id}`,
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: reply.reasoning }],
      ...(encrypted ? { encrypted_content: SEALED_REASONING } : {}),
    })
  }
  for (const [index, call] of reply.calls.entries()) {
    const ids = {
      id: `${call.kind === 'custom' ? 'ctc' : 'fc'}_${stamp.id}_${index}`,
      call_id: `call_${stamp.id}_${index}`,
    }
    items.push(
      call.kind === 'custom'
        ? { ...ids, type: 'custom_tool_call', status, name: call.name, input: call.input }
        : { ...ids, type: 'function_call', status, name: call.name, arguments: call.input },
    )
  }
  if (reply.calls.length === 0) {
    const part = { type: 'output_text', text: reply.text, annotations: [], logprobs: [] }
    items.push({ id: `msg_${stamp.id}`, type: 'message', status, role: 'assistant', content: [part] })
  }
  return items
}

/** In place of a provider's encrypted content: opaque to clients, and only read by the sandbox. */
const SEALED_REASONING = 'c2FuZGJveC1yZWFzb25pbmc='

const RUNNING: JsonObject = { status: 'in_progress', completed_at: null, output: [], usage: null }

function endOf(reply: Reply): JsonObject {
  return reply.finish === 'length'
    ? { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }
    : { status: 'completed' }
}

/** Every member the open schema of a response object requires, the client's settings echoed. */
function responseObject(reply: Reply, stamp: Stamp, body: JsonObject, state: JsonObject): JsonObject {
  const reasoning = object(body['reasoning'])
  const format = object(body['text'])
  return {
    id: `resp_${stamp.id}`,
    object: 'response',
    created_at: stamp.createdAt,
    completed_at: state['status'] === 'completed' ? stamp.createdAt : null,
    background: false,
    error: null,
    incomplete_details: null,
    instructions: body['instructions'] ?? null,
    max_output_tokens: body['max_output_tokens'] ?? null,
    max_tool_calls: body['max_tool_calls'] ?? null,
    model: reply.model,
    parallel_tool_calls: body['parallel_tool_calls'] ?? true,
    previous_response_id: body['previous_response_id'] ?? null,
    prompt_cache_key: body['prompt_cache_key'] ?? null,
    reasoning: { effort: reasoning['effort'] ?? null, summary: reasoning['summary'] ?? null },
    safety_identifier: body['safety_identifier'] ?? null,
    service_tier: 'default',
    store: body['store'] ?? true,
    temperature: body['temperature'] ?? 1,
    text: { format: { type: 'text' }, verbosity: 'medium', ...format },
    tool_choice: body['tool_choice'] ?? 'auto',
    tools: body['tools'] ?? [],
    top_logprobs: body['top_logprobs'] ?? 0,
    top_p: body['top_p'] ?? 1,
    presence_penalty: 0,
    frequency_penalty: 0,
    truncation: body['truncation'] ?? 'disabled',
    user: body['user'] ?? null,
    metadata: body['metadata'] ?? {},
    ...state,
  }
}

function usageOf({ usage }: Reply): JsonObject {
  return {
    input_tokens: usage.input,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: usage.input + usage.output,
  }
}
