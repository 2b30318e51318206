import {
  NO_REPLY,
  type Parameters,
  type Reply,
  replaced,
  type Tool,
  type ToolCall,
  type Turn,
} from '../conversation.ts'
import { type JsonRecord, recordOf, recordsOf, textOf } from '../../parts/values/json.ts'
import { openAiSnippet } from '../snippets.ts'
import type { ConversationKind } from './kind.ts'

export const CHAT: ConversationKind = {
  form: 'conversation',
  id: 'chat',
  label: 'Chat',
  path: '/v1/chat/completions',
  library: 'OpenAI',
  snippet: openAiSnippet('chat.completions.create'),
  request: ({ model, turns, parameters, tools }) => ({
    path: '/v1/chat/completions',
    body: {
      model,
      messages: [
        ...(parameters.system === '' ? [] : [{ role: 'system', content: parameters.system }]),
        ...turns.map(messageOf),
      ],
      ...(tools.length === 0 ? {} : { tools: tools.map(toolOf) }),
      ...settingsOf(parameters),
      ...(parameters.stream ? { stream: true, stream_options: { include_usage: true } } : {}),
    },
  }),
  readEvent: (reply, event) => {
    const [choice] = recordsOf(event['choices'])
    const failure = textOf(recordOf(event['error'])['message'])
    if (failure !== '') return { ...reply, failure }
    const delta = recordOf(choice?.['delta'])
    return {
      ...reply,
      text: reply.text + textOf(delta['content']),
      thoughts: reply.thoughts + thoughtsOf(delta),
      calls: recordsOf(delta['tool_calls']).reduce(withPiece, reply.calls),
    }
  },
  readWhole: (answer) => {
    const [choice] = recordsOf(answer['choices'])
    const message = recordOf(choice?.['message'])
    return {
      ...NO_REPLY,
      text: textOf(message['content']),
      thoughts: thoughtsOf(message),
      calls: recordsOf(message['tool_calls']).reduce(withPiece, NO_REPLY.calls),
    }
  },
}

function messageOf(turn: Turn): JsonRecord {
  switch (turn.by) {
    case 'person':
      return { role: 'user', content: turn.pictures.length === 0 ? turn.text : partsOf(turn) }
    case 'model':
      return {
        role: 'assistant',
        content: turn.text === '' && turn.calls.length > 0 ? null : turn.text,
        ...(turn.calls.length === 0 ? {} : { tool_calls: turn.calls.map(callOf) }),
      }
    case 'tool':
      return { role: 'tool', tool_call_id: turn.call.id, content: turn.text }
  }
}

function partsOf({ text, pictures }: Extract<Turn, { readonly by: 'person' }>): readonly JsonRecord[] {
  return [
    ...(text === '' ? [] : [{ type: 'text', text }]),
    ...pictures.map(({ type, base64 }) => ({
      type: 'image_url',
      image_url: { url: `data:${type};base64,${base64}` },
    })),
  ]
}

const callOf = ({ id, name, input }: ToolCall): JsonRecord => ({
  id,
  type: 'function',
  function: { name, arguments: input },
})

const toolOf = (tool: Tool): JsonRecord => ({ type: 'function', function: { ...tool } })

function settingsOf({ temperature, topP, cap }: Parameters): JsonRecord {
  return {
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
    ...(cap === undefined ? {} : { max_completion_tokens: cap }),
  }
}

/** Vendors use two names for the reasoning text. */
function thoughtsOf(message: JsonRecord): string {
  return textOf(message['reasoning_content']) || textOf(message['reasoning'])
}

/** A tool call arrives in pieces: first its name, then parts of its input. */
function withPiece(calls: Reply['calls'], piece: JsonRecord, place: number): Reply['calls'] {
  const at = typeof piece['index'] === 'number' ? piece['index'] : place
  const known = calls[at] ?? { id: '', name: '', input: '' }
  const part = recordOf(piece['function'])
  return replaced(calls, at, {
    id: textOf(piece['id']) || known.id,
    name: known.name + textOf(part['name']),
    input: known.input + textOf(part['arguments']),
  })
}
