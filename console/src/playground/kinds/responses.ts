import {
  NO_REPLY,
  type Parameters,
  type Reply,
  type Tool,
  type ToolCall,
  type Turn,
} from '../conversation.ts'
import { type JsonRecord, recordOf, recordsOf, textOf } from '../../parts/values/json.ts'
import { openAiSnippet } from '../snippets.ts'
import type { ConversationKind } from './kind.ts'

export const RESPONSES: ConversationKind = {
  form: 'conversation',
  id: 'responses',
  label: 'Responses',
  path: '/v1/responses',
  library: 'OpenAI',
  snippet: openAiSnippet('responses.create'),
  request: ({ model, turns, parameters, tools }) => ({
    path: '/v1/responses',
    body: {
      model,
      ...(parameters.system === '' ? {} : { instructions: parameters.system }),
      input: turns.flatMap(itemsOf),
      ...(tools.length === 0 ? {} : { tools: tools.map(toolOf) }),
      ...settingsOf(parameters),
      ...(parameters.stream ? { stream: true } : {}),
    },
  }),
  readEvent: (reply, event) => {
    switch (textOf(event['type'])) {
      case 'response.output_text.delta':
        return { ...reply, text: reply.text + textOf(event['delta']) }
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        return { ...reply, thoughts: reply.thoughts + textOf(event['delta']) }
      case 'response.output_item.done':
        return withItem(reply, recordOf(event['item']))
      case 'response.failed':
        return { ...reply, failure: textOf(recordOf(recordOf(event['response'])['error'])['message']) }
      case 'error':
        return { ...reply, failure: textOf(event['message']) || textOf(recordOf(event['error'])['message']) }
      default:
        return reply
    }
  },
  readWhole: (answer) => {
    const items = recordsOf(answer['output'])
    const reply = items.reduce(withItem, NO_REPLY)
    const joined = (item: string, list: string, part: string): string =>
      items
        .filter(({ type }) => type === item)
        .flatMap((each) => recordsOf(each[list]))
        .filter(({ type }) => type === part)
        .map(({ text }) => textOf(text))
        .join('')
    return {
      ...reply,
      text: joined('message', 'content', 'output_text'),
      thoughts: joined('reasoning', 'summary', 'summary_text'),
    }
  },
}

function itemsOf(turn: Turn): readonly JsonRecord[] {
  switch (turn.by) {
    case 'person':
      return [{ role: 'user', content: turn.pictures.length === 0 ? turn.text : partsOf(turn) }]
    case 'model':
      return [
        ...(turn.text === '' ? [] : [{ role: 'assistant', content: turn.text }]),
        ...turn.calls.map(callOf),
      ]
    case 'tool':
      return [{ type: 'function_call_output', call_id: turn.call.id, output: turn.text }]
  }
}

function partsOf({ text, pictures }: Extract<Turn, { readonly by: 'person' }>): readonly JsonRecord[] {
  return [
    ...(text === '' ? [] : [{ type: 'input_text', text }]),
    ...pictures.map(({ type, base64 }) => ({
      type: 'input_image',
      detail: 'auto',
      image_url: `data:${type};base64,${base64}`,
    })),
  ]
}

const callOf = ({ id, name, input }: ToolCall): JsonRecord => ({
  type: 'function_call',
  call_id: id,
  name,
  arguments: input,
})

const toolOf = (tool: Tool): JsonRecord => ({ type: 'function', ...tool, strict: false })

function settingsOf({ temperature, topP, cap }: Parameters): JsonRecord {
  return {
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
    ...(cap === undefined ? {} : { max_output_tokens: cap }),
  }
}

/** Tool calls are read when their item is complete. */
function withItem(reply: Reply, item: JsonRecord): Reply {
  if (item['type'] !== 'function_call') return reply
  const call = { id: textOf(item['call_id']), name: textOf(item['name']), input: textOf(item['arguments']) }
  return { ...reply, calls: [...reply.calls, call] }
}
