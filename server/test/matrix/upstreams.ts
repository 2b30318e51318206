/** What an upstream of each protocol says, in its own wire form: whole answers, streams and errors. */
import type { Answerer } from '../gateway/scripted-upstream.ts'
import { answerJson, answerStream } from '../gateway/scripted-upstream.ts'
import type { Protocol } from './cells.ts'

type Fields = Readonly<Record<string, unknown>>

export interface Said {
  readonly text?: string
  readonly thought?: string
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly input: Fields }[]
  readonly end?: 'stop' | 'length' | 'refusal' | 'stop-sequence'
  readonly cached?: boolean
  /** Streams break off with this after the text. */
  readonly error?: string
}

/** 100 tokens went in, 60 of them from the cache where it was hit; 20 came out. */
export const COUNTS = { input: 100, cached: 60, output: 20 }
export const SIGNATURE = 'c2lnbmVkIGJ5IG1l'

export function says(upstream: Protocol, said: Said): Answerer {
  return (request, response) => {
    const streams = request.path.includes('stream') || request.body.includes('"stream":true')
    return (streams ? answerStream(STREAMS[upstream](said)) : answerJson(WHOLE[upstream](said)))(
      request,
      response,
    )
  }
}

export function refuses(upstream: Protocol, status: number, message: string): Answerer {
  const bodies: Readonly<Record<Protocol, Fields>> = {
    chat: { error: { message, type: 'invalid_request_error', param: null, code: null } },
    responses: { error: { message, type: 'invalid_request_error', param: null, code: null } },
    messages: { type: 'error', error: { type: 'invalid_request_error', message }, request_id: 'req_1' },
    gemini: { error: { code: status, message, status: 'INVALID_ARGUMENT' } },
  }
  return answerJson(bodies[upstream], status)
}

const sse = (data: unknown): string => `data: ${JSON.stringify(data)}\n\n`
const named = (data: Fields & { readonly type: string }): string => `event: ${data.type}\n${sse(data)}`

const WHOLE: Readonly<Record<Protocol, (said: Said) => Fields>> = {
  chat: (said) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'up',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: said.end === 'refusal' ? null : (said.text ?? null),
          refusal: said.end === 'refusal' ? (said.text ?? '') : null,
          ...(said.thought === undefined ? {} : { reasoning_content: said.thought }),
          ...(said.calls === undefined ? {} : { tool_calls: said.calls.map((call) => chatCall(call)) }),
        },
        logprobs: null,
        finish_reason: chatEnd(said),
      },
    ],
    usage: chatUsage(said),
  }),
  responses: (said) => responseObject(said, 'completed', responseItems(said)),
  messages: (said) => ({
    ...messageHead(said),
    content: messageBlocks(said),
    stop_reason: messagesEnd(said),
    stop_sequence: said.end === 'stop-sequence' ? 'END' : null,
    usage: messagesUsage(said),
  }),
  gemini: (said) => ({
    candidates: [
      { index: 0, content: { role: 'model', parts: geminiParts(said) }, finishReason: geminiEnd(said) },
    ],
    usageMetadata: geminiUsage(said),
    modelVersion: 'up',
    responseId: 'g-1',
  }),
}

const STREAMS: Readonly<Record<Protocol, (said: Said) => readonly string[]>> = {
  chat: (said) => {
    const chunk = (delta: Fields, finish: string | null = null, more: Fields = {}): string =>
      sse({
        id: 'chatcmpl-1',
        object: 'chat.completion.chunk',
        created: 1_700_000_000,
        model: 'up',
        choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
        ...more,
      })
    const calls = (said.calls ?? []).flatMap((call, index) => {
      const { id, type, function: made } = chatCall(call)
      return [
        chunk({ tool_calls: [{ index, id, type, function: { name: made.name, arguments: '' } }] }),
        ...halves(made.arguments).map((text) =>
          chunk({ tool_calls: [{ index, function: { arguments: text } }] }),
        ),
      ]
    })
    const words = halves(said.text ?? '').map((content) =>
      chunk(said.end === 'refusal' ? { refusal: content } : { content }),
    )
    return [
      chunk({ role: 'assistant', content: '' }),
      ...(said.thought === undefined ? [] : [chunk({ reasoning_content: said.thought })]),
      ...words,
      ...calls,
      ...(said.error === undefined
        ? [
            chunk({}, chatEnd(said)),
            sse({
              id: 'chatcmpl-1',
              object: 'chat.completion.chunk',
              created: 1,
              model: 'up',
              choices: [],
              usage: chatUsage(said),
            }),
            'data: [DONE]\n\n',
          ]
        : [sse({ error: { message: said.error, type: 'server_error', param: null, code: null } })]),
    ]
  },
  responses: (said) => {
    let number = -1
    const event = (type: string, fields: Fields): string => {
      number += 1
      return named({ type, sequence_number: number, ...fields })
    }
    const items = responseItems(said)
    const done = said.end === 'length' ? 'response.incomplete' : 'response.completed'
    return [
      event('response.created', { response: responseObject(said, 'in_progress', []) }),
      event('response.in_progress', { response: responseObject(said, 'in_progress', []) }),
      ...items.flatMap((item, output_index) => itemEvents(item, output_index, event)),
      ...(said.error === undefined
        ? [event(done, { response: responseObject(said, 'completed', items) })]
        : [
            event('error', {
              error: { type: 'server_error', code: 'server_error', message: said.error, param: null },
            }),
            event('response.failed', {
              response: {
                ...responseObject(said, 'failed', []),
                error: { code: 'server_error', message: said.error },
              },
            }),
          ]),
    ]
  },
  messages: (said) => [
    named({
      type: 'message_start',
      message: {
        ...messageHead(said),
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { ...messagesUsage(said), output_tokens: 1 },
      },
    }),
    named({ type: 'ping' }),
    ...messageBlocks(said).flatMap((block, index) => blockEvents(block, index)),
    ...(said.error === undefined
      ? [
          named({
            type: 'message_delta',
            delta: {
              stop_reason: messagesEnd(said),
              stop_sequence: said.end === 'stop-sequence' ? 'END' : null,
            },
            usage: { output_tokens: COUNTS.output },
          }),
          named({ type: 'message_stop' }),
        ]
      : [named({ type: 'error', error: { type: 'api_error', message: said.error } })]),
  ],
  gemini: (said) => {
    const chunk = (parts: readonly unknown[], more: Fields = {}): string =>
      `data: ${JSON.stringify({ candidates: [{ index: 0, content: { role: 'model', parts }, ...more }], usageMetadata: geminiUsage(said), modelVersion: 'up', responseId: 'g-1' })}\r\n\r\n`
    const parts = geminiParts(said)
    const words = halves(said.text ?? '').map((text) => ({ text }))
    const others = parts.filter((part) => part['thought'] === true || 'functionCall' in part)
    const ordered = [
      ...others.filter((part) => 'thought' in part),
      ...words,
      ...others.filter((part) => 'functionCall' in part),
    ]
    return [
      ...ordered.map((part) => chunk([part])),
      said.error === undefined
        ? chunk([{ text: '' }], { finishReason: geminiEnd(said) })
        : `data: ${JSON.stringify({ error: { code: 500, message: said.error, status: 'INTERNAL' } })}\r\n\r\n`,
    ]
  },
}

function halves(text: string): readonly string[] {
  const middle = Math.ceil(text.length / 2)
  return [text.slice(0, middle), text.slice(middle)].filter((half) => half !== '')
}

type Call = NonNullable<Said['calls']>[number]

function chatCall({ id, name, input }: Call) {
  return { id, type: 'function', function: { name, arguments: JSON.stringify(input) } }
}

function chatEnd({ calls, end }: Said): string {
  if (calls !== undefined) return 'tool_calls'
  return end === 'length' ? 'length' : 'stop'
}

function chatUsage({ cached }: Said): Fields {
  return {
    prompt_tokens: COUNTS.input,
    completion_tokens: COUNTS.output,
    total_tokens: COUNTS.input + COUNTS.output,
    prompt_tokens_details: { cached_tokens: cached === true ? COUNTS.cached : 0 },
  }
}

function responseItems(said: Said): readonly Fields[] {
  const part =
    said.end === 'refusal'
      ? { type: 'refusal', refusal: said.text ?? '' }
      : { type: 'output_text', text: said.text ?? '', annotations: [], logprobs: [] }
  return [
    ...(said.thought === undefined
      ? []
      : [
          {
            type: 'reasoning',
            id: 'rs_1',
            summary: [{ type: 'summary_text', text: said.thought }],
            encrypted_content: SIGNATURE,
          },
        ]),
    ...(said.text === undefined
      ? []
      : [{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [part] }]),
    ...(said.calls ?? []).map(({ id, name, input }) => ({
      type: 'function_call',
      id: `fc_${id}`,
      call_id: id,
      name,
      arguments: JSON.stringify(input),
      status: 'completed',
    })),
  ]
}

function responseObject(said: Said, status: string, output: readonly Fields[]): Fields {
  const ended = status === 'completed'
  const isCut = ended && said.end === 'length'
  return {
    id: 'resp_1',
    object: 'response',
    created_at: 1_700_000_000,
    status: isCut ? 'incomplete' : status,
    error: null,
    incomplete_details: isCut ? { reason: 'max_output_tokens' } : null,
    model: 'up',
    output,
    parallel_tool_calls: true,
    tools: [],
    usage: ended
      ? {
          input_tokens: COUNTS.input,
          input_tokens_details: { cached_tokens: said.cached === true ? COUNTS.cached : 0 },
          output_tokens: COUNTS.output,
          output_tokens_details: { reasoning_tokens: 0 },
          total_tokens: COUNTS.input + COUNTS.output,
        }
      : null,
  }
}

type Event = (type: string, fields: Fields) => string

function itemEvents(item: Fields, output_index: number, event: Event): readonly string[] {
  const place = { output_index, item_id: item['id'] }
  const added = (fields: Fields): string =>
    event('response.output_item.added', { output_index, item: { ...item, status: 'in_progress', ...fields } })
  const done = event.bind(undefined, 'response.output_item.done', { output_index, item })
  switch (item['type']) {
    case 'function_call': {
      const written = String(item['arguments'])
      const deltas = () =>
        halves(written).map((delta) => event('response.function_call_arguments.delta', { ...place, delta }))
      return [
        added({ arguments: '' }),
        ...deltas(),
        event('response.function_call_arguments.done', { ...place, arguments: written }),
        done(),
      ]
    }
    case 'reasoning': {
      const [summary] = item['summary'] as readonly { readonly text: string }[]
      const at = { ...place, summary_index: 0 }
      return [
        added({ summary: [], encrypted_content: undefined }),
        event('response.reasoning_summary_part.added', { ...at, part: { type: 'summary_text', text: '' } }),
        event('response.reasoning_summary_text.delta', { ...at, delta: summary?.text }),
        event('response.reasoning_summary_text.done', { ...at, text: summary?.text }),
        event('response.reasoning_summary_part.done', { ...at, part: summary }),
        done(),
      ]
    }
    default: {
      const [part] = item['content'] as readonly Fields[]
      const kind = part?.['type'] === 'refusal' ? 'refusal' : 'text'
      const text = String(part?.[kind])
      const type = kind === 'refusal' ? 'response.refusal' : 'response.output_text'
      const at = { ...place, content_index: 0 }
      return [
        added({ content: [] }),
        event('response.content_part.added', { ...at, part: { ...part, [kind]: '' } }),
        ...halves(text).map((delta) => event(`${type}.delta`, { ...at, delta, logprobs: [] })),
        event(`${type}.done`, { ...at, [kind]: text, logprobs: [] }),
        event('response.content_part.done', { ...at, part }),
        done(),
      ]
    }
  }
}

function messageHead(_said: Said): Fields {
  return { id: 'msg_1', type: 'message', role: 'assistant', model: 'up' }
}

function messageBlocks(said: Said): readonly Fields[] {
  return [
    ...(said.thought === undefined
      ? []
      : [{ type: 'thinking', thinking: said.thought, signature: SIGNATURE }]),
    ...(said.text === undefined ? [] : [{ type: 'text', text: said.text }]),
    ...(said.calls ?? []).map((call) => ({ type: 'tool_use', ...call })),
  ]
}

function blockEvents(block: Fields, index: number): readonly string[] {
  const delta = (fields: Fields): string => named({ type: 'content_block_delta', index, delta: fields })
  const start = (content_block: Fields): string =>
    named({ type: 'content_block_start', index, content_block })
  const stop = named({ type: 'content_block_stop', index })
  switch (block['type']) {
    case 'thinking':
      return [
        start({ type: 'thinking', thinking: '', signature: '' }),
        delta({ type: 'thinking_delta', thinking: block['thinking'] }),
        delta({ type: 'signature_delta', signature: block['signature'] }),
        stop,
      ]
    case 'tool_use': {
      const pieces = ['', ...halves(JSON.stringify(block['input']))]
      return [
        start({ ...block, input: {} }),
        ...pieces.map((partial_json) => delta({ type: 'input_json_delta', partial_json })),
        stop,
      ]
    }
    default:
      return [
        start({ type: 'text', text: '' }),
        ...halves(String(block['text'])).map((text) => delta({ type: 'text_delta', text })),
        stop,
      ]
  }
}

function messagesEnd({ calls, end = 'stop' }: Said): string {
  if (calls !== undefined) return 'tool_use'
  return { stop: 'end_turn', length: 'max_tokens', refusal: 'refusal', 'stop-sequence': 'stop_sequence' }[end]
}

function messagesUsage({ cached }: Said): Fields {
  const read = cached === true ? COUNTS.cached : 0
  return {
    input_tokens: COUNTS.input - read,
    cache_read_input_tokens: read,
    cache_creation_input_tokens: 0,
    output_tokens: COUNTS.output,
  }
}

function geminiParts(said: Said): readonly Fields[] {
  const signed = said.thought === undefined ? {} : { thoughtSignature: SIGNATURE }
  return [
    ...(said.thought === undefined ? [] : [{ text: said.thought, thought: true }]),
    ...(said.text === undefined ? [] : [{ text: said.text, ...(said.calls === undefined ? signed : {}) }]),
    ...(said.calls ?? []).map(({ name, input }, index) => ({
      functionCall: { name, args: input },
      ...(index === 0 ? signed : {}),
    })),
  ]
}

function geminiEnd({ end }: Said): string {
  if (end === 'length') return 'MAX_TOKENS'
  return end === 'refusal' ? 'SAFETY' : 'STOP'
}

function geminiUsage({ cached }: Said): Fields {
  return {
    promptTokenCount: COUNTS.input,
    candidatesTokenCount: COUNTS.output,
    totalTokenCount: COUNTS.input + COUNTS.output,
    ...(cached === true ? { cachedContentTokenCount: COUNTS.cached } : {}),
  }
}
