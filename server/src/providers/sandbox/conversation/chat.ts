/** The sandbox in chat completions: reads the request, writes whole answers and streams. */
import type { OfflineChunk } from '../../../core/offline-answer.ts'
import type { JsonObject, JsonValue } from '../../../core/json.ts'
import type { Reply, ReplyCall } from './compose.ts'
import {
  AUTO,
  object,
  objects,
  positive,
  type Prompt,
  type PromptFormat,
  type PromptToolChoice,
  type PromptTool,
  strings,
  text,
  textOf,
  type ToolResult,
  wordsBelow,
} from './prompt.ts'
import type { Stamp, Voice } from './voice.ts'
import { pace } from './pace.ts'
import { piecesOf } from '../tokens.ts'

export const chatVoice: Voice = {
  readPrompt,
  whole,
  stream,
  count: () => undefined,
  error: (message, status, code) => ({
    error: { message, type: status < 500 ? 'invalid_request_error' : 'server_error', param: null, code },
  }),
}

function readPrompt(body: JsonObject): Prompt {
  const messages = objects(body['messages'])
  const lastUser = messages.findLastIndex((message) => message['role'] === 'user')
  const content = messages[lastUser]?.['content']
  return {
    read: [...wordsBelow(body['messages']), ...wordsBelow(body['tools'])],
    lastUserText: textOf(content),
    attachments: objects(content).filter((part) => part['type'] !== 'text').length,
    toolResults: resultsIn(messages, lastUser),
    tools: objects(body['tools']).flatMap(toolOf),
    toolChoice: choiceOf(body['tool_choice']),
    parallelToolCalls: body['parallel_tool_calls'] !== false,
    maxOutputTokens: positive(body['max_completion_tokens']) ?? positive(body['max_tokens']),
    stop: strings(body['stop']),
    format: formatOf(object(body['response_format'])),
    reasoning: body['reasoning_effort'] !== 'none',
    stream: body['stream'] === true,
  }
}

function resultsIn(messages: readonly JsonObject[], lastUser: number): readonly ToolResult[] {
  const names = new Map<string, string>()
  for (const call of messages.flatMap((message) => objects(message['tool_calls']))) {
    names.set(text(call['id']), text(object(call['function'] ?? call['custom'])['name']))
  }
  return messages
    .slice(lastUser + 1)
    .filter((message) => message['role'] === 'tool')
    .map((message) => ({
      name: names.get(text(message['tool_call_id'])) ?? 'a tool',
      text: textOf(message['content']),
    }))
}

function toolOf(tool: JsonObject): readonly PromptTool[] {
  const custom = tool['type'] === 'custom'
  const inner = object(tool[custom ? 'custom' : 'function'])
  const name = text(inner['name'])
  return name === '' ? [] : [{ name, kind: custom ? 'custom' : 'function', schema: inner['parameters'] }]
}

function choiceOf(choice: JsonValue | undefined): PromptToolChoice {
  if (choice === 'none' || choice === 'required') return { kind: choice }
  const given = object(choice)
  const name = text(object(given['function'] ?? given['custom'])['name'])
  return name === '' ? AUTO : { kind: 'tool', name }
}

function formatOf(format: JsonObject): PromptFormat {
  if (format['type'] === 'json_object') return { kind: 'json' }
  if (format['type'] !== 'json_schema') return { kind: 'text' }
  return { kind: 'json-schema', schema: object(format['json_schema'])['schema'] ?? {} }
}

function whole(reply: Reply, stamp: Stamp): JsonObject {
  const message = {
    role: 'assistant',
    content: reply.calls.length > 0 ? null : reply.text,
    refusal: null,
    annotations: [],
    ...(reply.reasoning === undefined ? {} : { reasoning_content: reply.reasoning }),
    ...(reply.calls.length === 0
      ? {}
      : {
          tool_calls: reply.calls.map((call, index) => ({
            id: callId(stamp, index),
            ...callBody(call, call.input),
          })),
        }),
  }
  return {
    ...head(reply, stamp, 'chat.completion'),
    choices: [{ index: 0, message, logprobs: null, finish_reason: FINISH[reply.finish] }],
    usage: usageOf(reply),
  }
}

function* stream(reply: Reply, stamp: Stamp, body: JsonObject): Generator<OfflineChunk> {
  const includeUsage = object(body['stream_options'])['include_usage'] === true
  const shared = head(reply, stamp, 'chat.completion.chunk')
  const line = (delta: JsonObject, finish: string | null = null): string =>
    data({
      ...shared,
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
      ...(includeUsage ? { usage: null } : {}),
    })
  yield pace(line({ role: 'assistant', content: '', refusal: null }))
  for (const piece of piecesOf(reply.reasoning ?? '')) yield pace(line({ reasoning_content: piece }))
  for (const piece of piecesOf(reply.text)) yield pace(line({ content: piece }))
  for (const [index, call] of reply.calls.entries()) {
    yield pace(line({ tool_calls: [{ index, id: callId(stamp, index), ...callBody(call, '') }] }))
    for (const piece of piecesOf(call.input))
      yield pace(line({ tool_calls: [{ index, ...callPiece(call, piece) }] }))
  }
  yield pace(line({}, FINISH[reply.finish]))
  if (includeUsage) yield pace(data({ ...shared, choices: [], usage: usageOf(reply) }))
  yield pace('data: [DONE]\n\n')
}

function data(value: JsonObject): string {
  return `data: ${JSON.stringify(value)}\n\n`
}

const FINISH = {
  stop: 'stop',
  'stop-sequence': 'stop',
  length: 'length',
  'tool-calls': 'tool_calls',
} as const

function head(reply: Reply, stamp: Stamp, kind: string): JsonObject {
  return {
    id: `chatcmpl-${stamp.id}`,
    object: kind,
    created: stamp.createdAt,
    model: reply.model,
    service_tier: 'default',
    system_fingerprint: 'fp_sandbox',
  }
}

function callId(stamp: Stamp, index: number): string {
  return `call_${stamp.id}_${index}`
}

function callBody({ name, kind }: ReplyCall, input: string): JsonObject {
  if (kind === 'custom') return { type: 'custom', custom: { name, input } }
  return { type: 'function', function: { name, arguments: input } }
}

/** Later deltas of a call contain only the arguments. */
function callPiece({ kind }: ReplyCall, piece: string): JsonObject {
  return kind === 'custom' ? { custom: { input: piece } } : { function: { arguments: piece } }
}

function usageOf({ usage }: Reply): JsonObject {
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoning,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  }
}
