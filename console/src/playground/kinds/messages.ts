import {
  NO_REPLY,
  type Parameters,
  type Reply,
  type Tool,
  type ToolCall,
  type Turn,
} from '../conversation.ts'
import { type JsonRecord, parseJson, recordOf, recordsOf, textOf } from '../../parts/values/json.ts'
import { anthropicSnippet } from '../snippets.ts'
import type { ConversationKind } from './kind.ts'

/** The protocol requires a maximum in every request. */
const CAP = 4_096

export const MESSAGES: ConversationKind = {
  form: 'conversation',
  id: 'messages',
  label: 'Messages',
  path: '/v1/messages',
  library: 'Anthropic',
  snippet: anthropicSnippet,
  request: ({ model, turns, parameters, tools }) => ({
    path: '/v1/messages',
    body: {
      model,
      max_tokens: parameters.cap ?? CAP,
      ...(parameters.system === '' ? {} : { system: parameters.system }),
      messages: turns.reduce(withTurn, []),
      ...(tools.length === 0 ? {} : { tools: tools.map(toolOf) }),
      ...settingsOf(parameters),
      ...(parameters.stream ? { stream: true } : {}),
    },
  }),
  readEvent: (reply, event) => {
    switch (textOf(event['type'])) {
      case 'content_block_start':
        return withBlock(reply, recordOf(event['content_block']), 'empty')
      case 'content_block_delta':
        return withDelta(reply, recordOf(event['delta']))
      case 'error':
        return { ...reply, failure: textOf(recordOf(event['error'])['message']) }
      default:
        return reply
    }
  },
  readWhole: (answer) =>
    recordsOf(answer['content']).reduce((reply, block) => withBlock(reply, block, 'whole'), NO_REPLY),
}

/** Results of several tool calls are sent as one user message. */
function withTurn(messages: readonly JsonRecord[], turn: Turn): readonly JsonRecord[] {
  const last = messages.at(-1)
  const role = turn.by === 'model' ? 'assistant' : 'user'
  const content = blocksOf(turn)
  if (last?.['role'] !== role) return [...messages, { role, content }]
  return [...messages.slice(0, -1), { role, content: [...recordsOf(last['content']), ...content] }]
}

function blocksOf(turn: Turn): readonly JsonRecord[] {
  const text = turn.by === 'tool' || turn.text === '' ? [] : [{ type: 'text', text: turn.text }]
  switch (turn.by) {
    case 'person':
      return [
        ...turn.pictures.map(({ type, base64 }) => ({
          type: 'image',
          source: { type: 'base64', media_type: type, data: base64 },
        })),
        ...text,
      ]
    case 'model':
      return [...text, ...turn.calls.map(callOf)]
    case 'tool':
      return [{ type: 'tool_result', tool_use_id: turn.call.id, content: turn.text }]
  }
}

const callOf = ({ id, name, input }: ToolCall): JsonRecord => ({
  type: 'tool_use',
  id,
  name,
  input: recordOf(parseJson(input)),
})

const toolOf = ({ name, description, parameters }: Tool): JsonRecord => ({
  name,
  description,
  input_schema: parameters,
})

function settingsOf({ temperature, topP }: Parameters): JsonRecord {
  return {
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
  }
}

/** In a stream a block starts with an empty object as input. */
function withBlock(reply: Reply, block: JsonRecord, begun: 'empty' | 'whole'): Reply {
  switch (textOf(block['type'])) {
    case 'text':
      return { ...reply, text: reply.text + textOf(block['text']) }
    case 'thinking':
      return { ...reply, thoughts: reply.thoughts + textOf(block['thinking']) }
    case 'tool_use': {
      const input = begun === 'whole' ? JSON.stringify(block['input'] ?? {}) : ''
      const call = { id: textOf(block['id']), name: textOf(block['name']), input }
      return { ...reply, calls: [...reply.calls, call] }
    }
    default:
      return reply
  }
}

function withDelta(reply: Reply, delta: JsonRecord): Reply {
  const last = reply.calls.at(-1)
  const piece = textOf(delta['partial_json'])
  return {
    ...reply,
    text: reply.text + textOf(delta['text']),
    thoughts: reply.thoughts + textOf(delta['thinking']),
    calls:
      last === undefined || piece === ''
        ? reply.calls
        : [...reply.calls.slice(0, -1), { ...last, input: last.input + piece }],
  }
}
