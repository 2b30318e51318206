/** The sandbox in the messages protocol. */
import type { JsonObject, JsonValue } from '../../../core/json.ts'
import type { OfflineChunk } from '../../../core/offline-answer.ts'
import type { Reply } from './compose.ts'
import { pace } from './pace.ts'
import {
  AUTO,
  object,
  objects,
  positive,
  type Prompt,
  type PromptFormat,
  type PromptToolChoice,
  strings,
  text,
  textOf,
  type ToolResult,
  wordsBelow,
} from './prompt.ts'
import { piecesOf } from '../tokens.ts'
import type { Stamp, Voice } from './voice.ts'

export const messagesVoice: Voice = {
  readPrompt,
  whole: (reply, stamp) => ({
    ...head(reply, stamp),
    content: blocksOf(reply, stamp),
    stop_reason: STOP_REASONS[reply.finish],
    stop_sequence: reply.stopSequence ?? null,
    usage: usageOf(reply),
  }),
  stream,
  count: (inputTokens) => ({ input_tokens: inputTokens }),
  error: (message, status, _code, stamp) => ({
    type: 'error',
    error: { type: ERROR_TYPES[status] ?? 'invalid_request_error', message },
    request_id: `req_${stamp.id}`,
  }),
}

const ERROR_TYPES: Readonly<Record<number, string>> = { 404: 'not_found_error', 413: 'request_too_large' }

function readPrompt(body: JsonObject): Prompt {
  const messages = objects(body['messages'])
  const lastUser = messages.findLastIndex(
    (message) => message['role'] === 'user' && hasWords(message['content']),
  )
  const lastResults = messages.findLastIndex((message) => resultBlocks(message).length > 0)
  const content = messages[lastUser]?.['content']
  return {
    read: [...wordsBelow(body['system']), ...wordsBelow(body['messages']), ...wordsBelow(body['tools'])],
    lastUserText: textOf(content),
    attachments: objects(content).filter((block) => ['image', 'document'].includes(text(block['type'])))
      .length,
    toolResults: lastResults >= lastUser ? resultsOf(messages, lastResults) : [],
    tools: objects(body['tools'])
      .filter((tool) => text(tool['name']) !== '')
      .map((tool) => ({ name: text(tool['name']), kind: 'function', schema: tool['input_schema'] })),
    toolChoice: choiceOf(object(body['tool_choice'])),
    parallelToolCalls: object(body['tool_choice'])['disable_parallel_tool_use'] !== true,
    maxOutputTokens: positive(body['max_tokens']),
    stop: strings(body['stop_sequences']),
    format: formatOf(object(object(body['output_config'])['format'])),
    reasoning: object(body['thinking'])['type'] !== 'disabled',
    stream: body['stream'] === true,
  }
}

/** A user message with only tool results is not a question. */
function hasWords(content: JsonValue | undefined): boolean {
  return typeof content === 'string' || objects(content).some((block) => block['type'] !== 'tool_result')
}

function resultBlocks(message: JsonObject | undefined): readonly JsonObject[] {
  return objects(message?.['content']).filter((block) => block['type'] === 'tool_result')
}

function resultsOf(messages: readonly JsonObject[], at: number): readonly ToolResult[] {
  const uses = messages
    .flatMap((message) => objects(message['content']))
    .filter((block) => block['type'] === 'tool_use')
  const names = new Map(uses.map((block) => [text(block['id']), text(block['name'])]))
  return resultBlocks(messages[at]).map((block) => ({
    name: names.get(text(block['tool_use_id'])) ?? 'a tool',
    text: textOf(block['content']),
  }))
}

function choiceOf(choice: JsonObject): PromptToolChoice {
  switch (text(choice['type'])) {
    case 'any':
      return { kind: 'required' }
    case 'none':
      return { kind: 'none' }
    case 'tool':
      return { kind: 'tool', name: text(choice['name']) }
  }
  return AUTO
}

function formatOf(format: JsonObject): PromptFormat {
  return format['type'] === 'json_schema'
    ? { kind: 'json-schema', schema: format['schema'] ?? {} }
    : { kind: 'text' }
}

const STOP_REASONS = {
  stop: 'end_turn',
  'stop-sequence': 'stop_sequence',
  length: 'max_tokens',
  'tool-calls': 'tool_use',
} as const

function head(reply: Reply, stamp: Stamp): JsonObject {
  return { id: `msg_${stamp.id}`, type: 'message', role: 'assistant', model: reply.model }
}

/** In place of a provider's signature: opaque to clients. */
const SIGNATURE = 'c2FuZGJveC1zaWduYXR1cmU='

function blocksOf(reply: Reply, stamp: Stamp): readonly JsonObject[] {
  return [
    ...(reply.reasoning === undefined
      ? []
      : [{ type: 'thinking', thinking: reply.reasoning, signature: SIGNATURE }]),
    ...(reply.text === '' ? [] : [{ type: 'text', text: reply.text }]),
    ...reply.calls.map((call, index) => ({
      type: 'tool_use',
      id: `toolu_${stamp.id}_${index}`,
      name: call.name,
      input: call.json,
    })),
  ]
}

function* stream(reply: Reply, stamp: Stamp): Generator<OfflineChunk> {
  const message = { ...head(reply, stamp), content: [], stop_reason: null, stop_sequence: null }
  yield event({
    type: 'message_start',
    message: { ...message, usage: { ...usageOf(reply), output_tokens: 1 } },
  })
  yield event({ type: 'ping' })
  for (const [index, block] of blocksOf(reply, stamp).entries()) {
    const opened = openingOf(block)
    yield event({ type: 'content_block_start', index, content_block: opened.block })
    for (const delta of opened.deltas) yield event({ type: 'content_block_delta', index, delta })
    yield event({ type: 'content_block_stop', index })
  }
  const delta = { stop_reason: STOP_REASONS[reply.finish], stop_sequence: reply.stopSequence ?? null }
  yield event({ type: 'message_delta', delta, usage: usageOf(reply) })
  yield event({ type: 'message_stop' })
}

/** A block's opening, and the deltas that complete it. */
function openingOf(block: JsonObject): {
  readonly block: JsonObject
  readonly deltas: readonly JsonObject[]
} {
  switch (text(block['type'])) {
    case 'thinking':
      return {
        block: { type: 'thinking', thinking: '', signature: '' },
        deltas: [
          ...piecesOf(text(block['thinking'])).map((thinking) => ({ type: 'thinking_delta', thinking })),
          { type: 'signature_delta', signature: text(block['signature']) },
        ],
      }
    case 'tool_use':
      return {
        block: { ...block, input: {} },
        deltas: ['', ...piecesOf(JSON.stringify(block['input']))].map((piece) => ({
          type: 'input_json_delta',
          partial_json: piece,
        })),
      }
  }
  return {
    block: { type: 'text', text: '' },
    deltas: piecesOf(text(block['text'])).map((piece) => ({ type: 'text_delta', text: piece })),
  }
}

function event(payload: JsonObject): OfflineChunk {
  return pace(`event: ${text(payload['type'])}\ndata: ${JSON.stringify(payload)}\n\n`)
}

function usageOf({ usage }: Reply): JsonObject {
  return {
    input_tokens: usage.input,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
    output_tokens: usage.output,
    output_tokens_details: { thinking_tokens: usage.reasoning },
    service_tier: 'standard',
  }
}
