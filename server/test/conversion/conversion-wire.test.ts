/** What crosses the wire when protocols differ: the request the upstream got, and the answer the client got. */
import { describe, expect, test } from 'vitest'
import { type Answer, postJson } from '../gateway/client.ts'
import { putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { type Answerer, answerJson, answerStream } from '../gateway/scripted-upstream.ts'
import { withGateway } from '../gateway/with-gateway.ts'

const PROTOCOLS = ['chat', 'responses', 'messages', 'gemini'] as const
type Name = (typeof PROTOCOLS)[number]
type Fields = Readonly<Record<string, unknown>>

/** A vendor for each protocol; `plain` takes every setting of its protocol, `thinks` is a reasoning model. */
const UPSTREAMS: Readonly<Record<Name, { vendor: string; plain: string; thinks: string }>> = {
  chat: { vendor: 'acme', plain: 'gpt-4.1', thinks: 'gpt-5.1' },
  responses: { vendor: 'acme', plain: 'gpt-4.1', thinks: 'gpt-5.1' },
  messages: { vendor: 'clay', plain: 'claude-3-5-sonnet-20241022', thinks: 'claude-opus-4-6' },
  gemini: { vendor: 'goo', plain: 'gemini-2.0-flash', thinks: 'gemini-2.5-flash' },
}

const { gateway, upstream } = await withGateway({
  upstreams: ['upstream'],
  catalogue: ({ upstream }) => [
    ...putVendor('acme', upstream.url, { kind: 'openai' }),
    ...putVendor('clay', upstream.url, { kind: 'anthropic' }),
    ...putVendor('goo', upstream.url, { kind: 'google' }),
    ...PROTOCOLS.flatMap((protocol) => {
      const { vendor, plain, thinks } = UPSTREAMS[protocol]
      const rows = { [`over-${protocol}`]: plain, [`thinks-${protocol}`]: thinks }
      return Object.entries(rows).flatMap(([model, forward]) => [
        putModel(model, { supportFeatures: ['text', 'image'] }),
        putChain({ model, vendor, protocol, forward }),
      ])
    }),
  ],
})

/** What an upstream says, in whichever protocol. */
interface Said {
  readonly text?: string
  readonly reasoning?: string
  readonly call?: boolean
  readonly end?: 'normal' | 'stop-sequence' | 'limit'
}

/** The smallest PNG. */
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='
const CALL = { id: 'call_abc', name: 'get_weather', arguments: '{"city":"Oslo"}' }
const COUNTS = { input: 11, output: 7 }

const WHOLE: Readonly<Record<Name, (said: Said) => Fields>> = {
  chat: ({ text = 'ok', reasoning, call, end }) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'up',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: call ? null : text,
          ...(reasoning === undefined ? {} : { reasoning_content: reasoning }),
          ...(call ? { tool_calls: [chatCall()] } : {}),
        },
        finish_reason: call ? 'tool_calls' : end === 'limit' ? 'length' : 'stop',
      },
    ],
    usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
  }),
  responses: (said) => responseObject(said, responseItems(said)),
  messages: ({ text = 'ok', reasoning, call, end }) => ({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'up',
    content: [
      ...(reasoning === undefined ? [] : [{ type: 'thinking', thinking: reasoning, signature: 'c2ln' }]),
      call
        ? { type: 'tool_use', id: CALL.id, name: CALL.name, input: JSON.parse(CALL.arguments) }
        : { type: 'text', text },
    ],
    stop_reason: messagesEnd(call, end),
    stop_sequence: end === 'stop-sequence' ? 'END' : null,
    usage: { input_tokens: 11, output_tokens: 7 },
  }),
  gemini: ({ text = 'ok', reasoning, call, end }) => ({
    candidates: [
      {
        index: 0,
        content: {
          role: 'model',
          parts: [
            ...(reasoning === undefined ? [] : [{ text: reasoning, thought: true }]),
            call
              ? { functionCall: { id: CALL.id, name: CALL.name, args: JSON.parse(CALL.arguments) } }
              : { text },
          ],
        },
        finishReason: end === 'limit' ? 'MAX_TOKENS' : 'STOP',
      },
    ],
    usageMetadata: { promptTokenCount: 11, candidatesTokenCount: 7, totalTokenCount: 18 },
    modelVersion: 'up',
    responseId: 'g-1',
  }),
}

function chatCall(): Fields {
  return { id: CALL.id, type: 'function', function: { name: CALL.name, arguments: CALL.arguments } }
}

function messagesEnd(call: boolean | undefined, end: Said['end']): string {
  if (call) return 'tool_use'
  return end === 'limit' ? 'max_tokens' : end === 'stop-sequence' ? 'stop_sequence' : 'end_turn'
}

function responseItems({ text = 'ok', reasoning, call }: Said): readonly Fields[] {
  return [
    ...(reasoning === undefined
      ? []
      : [{ type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: reasoning }] }]),
    call
      ? { type: 'function_call', id: 'fc_1', call_id: CALL.id, status: 'completed', ...callFields() }
      : {
          type: 'message',
          id: 'msg_1',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text, annotations: [] }],
        },
  ]
}

function callFields(): Fields {
  return { name: CALL.name, arguments: CALL.arguments }
}

function responseObject({ end }: Said, output: readonly Fields[]): Fields {
  return {
    id: 'resp_1',
    object: 'response',
    created_at: 1_700_000_000,
    model: 'up',
    status: end === 'limit' ? 'incomplete' : 'completed',
    incomplete_details: end === 'limit' ? { reason: 'max_output_tokens' } : null,
    error: null,
    output,
    usage: { input_tokens: 11, output_tokens: 7, total_tokens: 18 },
  }
}

const STREAM: Readonly<Record<Name, (said: Said) => readonly string[]>> = {
  chat: ({ text = 'ok', reasoning, call, end }) => {
    const chunk = (delta: Fields, finish_reason: string | null = null): string =>
      data({ ...CHUNK, choices: [{ index: 0, delta, finish_reason }] })
    return [
      chunk({ role: 'assistant', content: '' }),
      ...(reasoning === undefined ? [] : [chunk({ reasoning_content: reasoning })]),
      ...(call ? [chunk({ tool_calls: [{ index: 0, ...chatCall() }] })] : [chunk({ content: text })]),
      chunk({}, call ? 'tool_calls' : end === 'limit' ? 'length' : 'stop'),
      data({ ...CHUNK, choices: [], usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 } }),
      'data: [DONE]\n\n',
    ]
  },
  responses: (said) => {
    const items = responseItems(said)
    return [
      event('response.created', { response: { ...responseObject({}, []), status: 'in_progress' } }),
      ...items.flatMap((item, output_index) => [
        event('response.output_item.added', { output_index, item: emptied(item) }),
        ...itemDeltas(item, output_index),
        event('response.output_item.done', { output_index, item }),
      ]),
      event(said.end === 'limit' ? 'response.incomplete' : 'response.completed', {
        response: responseObject(said, items),
      }),
    ]
  },
  messages: ({ text = 'ok', reasoning, call, end }) => {
    const blocks = [
      ...(reasoning === undefined
        ? []
        : [
            {
              start: { type: 'thinking', thinking: '', signature: '' },
              delta: { type: 'thinking_delta', thinking: reasoning },
            },
          ]),
      call
        ? {
            start: { type: 'tool_use', id: CALL.id, name: CALL.name, input: {} },
            delta: { type: 'input_json_delta', partial_json: CALL.arguments },
          }
        : { start: { type: 'text', text: '' }, delta: { type: 'text_delta', text } },
    ]
    return [
      event('message_start', {
        message: {
          ...WHOLE.messages({}),
          content: [],
          stop_reason: null,
          usage: { input_tokens: 11, output_tokens: 1 },
        },
      }),
      ...blocks.flatMap(({ start, delta }, index) => [
        event('content_block_start', { index, content_block: start }),
        event('content_block_delta', { index, delta }),
        event('content_block_stop', { index }),
      ]),
      event('message_delta', {
        delta: { stop_reason: messagesEnd(call, end), stop_sequence: end === 'stop-sequence' ? 'END' : null },
        usage: { output_tokens: 7 },
      }),
      event('message_stop', {}),
    ]
  },
  gemini: (said) => [data(WHOLE.gemini(said))],
}

const CHUNK = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'up' }

function data(json: Fields): string {
  return `data: ${JSON.stringify(json)}\n\n`
}

function event(type: string, fields: Fields): string {
  return `event: ${type}\n${data({ type, sequence_number: 0, ...fields })}`
}

function emptied(item: Fields): Fields {
  return { ...item, status: 'in_progress', summary: [], content: [], arguments: '' }
}

function itemDeltas(item: Fields, output_index: number): readonly string[] {
  const place = { item_id: item['id'], output_index }
  switch (item['type']) {
    case 'reasoning': {
      const text = at(item, 'summary', 0, 'text')
      return [
        event('response.reasoning_summary_part.added', {
          ...place,
          summary_index: 0,
          part: { type: 'summary_text', text: '' },
        }),
        event('response.reasoning_summary_text.delta', { ...place, summary_index: 0, delta: text }),
      ]
    }
    case 'function_call':
      return [event('response.function_call_arguments.delta', { ...place, delta: item['arguments'] })]
    default:
      return [
        event('response.content_part.added', {
          ...place,
          content_index: 0,
          part: { type: 'output_text', text: '', annotations: [] },
        }),
        event('response.output_text.delta', {
          ...place,
          content_index: 0,
          delta: at(item, 'content', 0, 'text'),
          logprobs: [],
        }),
      ]
  }
}

function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  let found = value
  for (const step of path) {
    if (typeof found !== 'object' || found === null) return undefined
    found = Reflect.get(found, step)
  }
  return found
}

/** A text, or nothing where there is none. */
function word(value: unknown, ...path: readonly (string | number)[]): string {
  const found = at(value, ...path)
  return typeof found === 'string' ? found : ''
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

interface Call {
  readonly from: Name
  readonly to: Name
  readonly body: Fields
  readonly stream?: boolean
  readonly thinks?: boolean
  readonly said?: Said
  readonly answerer?: Answerer
  /** Of a Gemini stream's address. */
  readonly query?: string
}

interface Exchange {
  readonly answer: Answer
  /** The body the upstream received. */
  readonly sent: unknown
  readonly arrived: number
}

async function exchange({
  from,
  to,
  body,
  stream = false,
  thinks = false,
  ...rest
}: Call): Promise<Exchange> {
  const { said = {}, query = '?alt=sse' } = rest
  upstream.answer(rest.answerer ?? (stream ? answerStream(STREAM[to](said)) : answerJson(WHOLE[to](said))))
  const before = upstream.requests.length
  const model = `${thinks ? 'thinks' : 'over'}-${to}`
  const verb = stream ? `streamGenerateContent${query}` : 'generateContent'
  const answer = await postJson(
    gateway.baseUrl + (from === 'gemini' ? `/v1beta/models/${model}:${verb}` : PATHS[from]),
    from === 'gemini' ? body : { model, ...(stream ? { stream } : {}), ...body },
    { authorization: `Bearer ${gateway.key}` },
  )
  const request = upstream.requests.at(-1)
  const arrived = upstream.requests.length - before
  return { answer, sent: arrived === 0 ? undefined : request?.json(), arrived }
}

const PATHS = { chat: '/v1/chat/completions', responses: '/v1/responses', messages: '/v1/messages' } as const

/** As `exchange`, of a call that has to succeed. */
async function served(call: Call): Promise<Exchange> {
  const done = await exchange(call)
  expect(done.answer.status, done.answer.text).toBe(200)
  return done
}

const SCHEMA = {
  type: 'object',
  properties: { city: { type: 'string', description: 'a city' } },
  required: ['city'],
}
const TOOL = { name: CALL.name, description: 'The weather of a city.' }

const HELLO: Readonly<Record<Name, Fields>> = {
  chat: { messages: [{ role: 'user', content: 'Hello' }] },
  responses: { input: 'Hello' },
  messages: { max_tokens: 500, messages: [{ role: 'user', content: 'Hello' }] },
  gemini: { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] },
}

const TOOLS: Readonly<Record<Name, Fields>> = {
  chat: { tools: [{ type: 'function', function: { ...TOOL, parameters: SCHEMA } }] },
  responses: { tools: [{ type: 'function', ...TOOL, parameters: SCHEMA }] },
  messages: { tools: [{ ...TOOL, input_schema: SCHEMA }] },
  gemini: { tools: [{ functionDeclarations: [{ ...TOOL, parametersJsonSchema: SCHEMA }] }] },
}

const RESULT = { celsius: 21 }

/** The second turn of a tool's use: question, call, result. */
const HISTORY: Readonly<Record<Name, Fields>> = {
  chat: {
    messages: [
      { role: 'user', content: 'Weather?' },
      { role: 'assistant', content: null, tool_calls: [chatCall()] },
      { role: 'tool', tool_call_id: CALL.id, content: JSON.stringify(RESULT) },
    ],
  },
  responses: {
    input: [
      { role: 'user', content: 'Weather?' },
      { type: 'function_call', call_id: CALL.id, ...callFields() },
      { type: 'function_call_output', call_id: CALL.id, output: JSON.stringify(RESULT) },
    ],
  },
  messages: {
    max_tokens: 500,
    messages: [
      { role: 'user', content: 'Weather?' },
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: CALL.id, name: CALL.name, input: JSON.parse(CALL.arguments) }],
      },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: CALL.id, content: JSON.stringify(RESULT) }],
      },
    ],
  },
  gemini: {
    contents: [
      { role: 'user', parts: [{ text: 'Weather?' }] },
      {
        role: 'model',
        parts: [{ functionCall: { id: CALL.id, name: CALL.name, args: JSON.parse(CALL.arguments) } }],
      },
      {
        role: 'user',
        parts: [{ functionResponse: { id: CALL.id, name: CALL.name, response: RESULT } }],
      },
    ],
  },
}

const RECEIVED_TOOL: Readonly<Record<Name, (sent: unknown) => unknown>> = {
  chat: (sent) => toolOf(at(sent, 'tools', 0, 'function'), 'parameters'),
  responses: (sent) => toolOf(at(sent, 'tools', 0), 'parameters'),
  messages: (sent) => toolOf(at(sent, 'tools', 0), 'input_schema'),
  gemini: (sent) => toolOf(at(sent, 'tools', 0, 'functionDeclarations', 0), 'parametersJsonSchema'),
}

function toolOf(tool: unknown, schema: string): Fields {
  return { name: at(tool, 'name'), description: at(tool, 'description'), schema: at(tool, schema) }
}

interface Linked {
  readonly callId: unknown
  readonly name: unknown
  readonly arguments: unknown
  readonly resultId: unknown
  readonly result: unknown
}

/** Call and result in what an upstream received. */
const RECEIVED_CALL: Readonly<Record<Name, (sent: unknown) => Linked>> = {
  chat: (sent) => {
    const messages = list(at(sent, 'messages'))
    const call = messages.map((message) => at(message, 'tool_calls', 0)).find((found) => found !== undefined)
    const result = messages.find((message) => at(message, 'role') === 'tool')
    return {
      callId: at(call, 'id'),
      name: at(call, 'function', 'name'),
      arguments: parsed(at(call, 'function', 'arguments')),
      resultId: at(result, 'tool_call_id'),
      result: parsed(at(result, 'content')),
    }
  },
  responses: (sent) => {
    const items = list(at(sent, 'input'))
    const call = items.find((item) => at(item, 'type') === 'function_call')
    const result = items.find((item) => at(item, 'type') === 'function_call_output')
    return {
      callId: at(call, 'call_id'),
      name: at(call, 'name'),
      arguments: parsed(at(call, 'arguments')),
      resultId: at(result, 'call_id'),
      result: parsed(at(result, 'output')),
    }
  },
  messages: (sent) => {
    const blocks = list(at(sent, 'messages')).flatMap((message) => list(at(message, 'content')))
    const call = blocks.find((block) => at(block, 'type') === 'tool_use')
    const result = blocks.find((block) => at(block, 'type') === 'tool_result')
    const content = at(result, 'content')
    return {
      callId: at(call, 'id'),
      name: at(call, 'name'),
      arguments: at(call, 'input'),
      resultId: at(result, 'tool_use_id'),
      result: parsed(typeof content === 'string' ? content : at(content, 0, 'text')),
    }
  },
  gemini: (sent) => {
    const parts = list(at(sent, 'contents')).flatMap((content) => list(at(content, 'parts')))
    const call = parts.map((part) => at(part, 'functionCall')).find((found) => found !== undefined)
    const result = parts.map((part) => at(part, 'functionResponse')).find((found) => found !== undefined)
    return {
      callId: at(call, 'id'),
      name: at(call, 'name'),
      arguments: at(call, 'args'),
      resultId: at(result, 'id'),
      result: at(result, 'response'),
    }
  },
}

function parsed(text: unknown): unknown {
  return typeof text === 'string' ? JSON.parse(text) : text
}

/** `role: text` of every turn an upstream received, the system's first. */
const RECEIVED_TURNS: Readonly<Record<Name, (sent: unknown) => readonly string[]>> = {
  chat: (sent) =>
    list(at(sent, 'messages')).map((turn) => `${word(turn, 'role')}: ${textOf(at(turn, 'content'))}`),
  responses: (sent) => {
    const instructions = at(sent, 'instructions')
    const input = at(sent, 'input')
    return [
      ...(instructions === undefined ? [] : [`system: ${word(instructions)}`]),
      ...(typeof input === 'string' ? [`user: ${input}`] : []),
      ...list(input)
        .filter((item) => at(item, 'role') !== undefined)
        .map((item) => `${word(item, 'role')}: ${textOf(at(item, 'content'))}`),
    ]
  },
  messages: (sent) => [
    ...(at(sent, 'system') === undefined ? [] : [`system: ${textOf(at(sent, 'system'))}`]),
    ...list(at(sent, 'messages')).map((turn) => `${word(turn, 'role')}: ${textOf(at(turn, 'content'))}`),
  ],
  gemini: (sent) => [
    ...(at(sent, 'systemInstruction') === undefined
      ? []
      : [`system: ${textOf(at(sent, 'systemInstruction', 'parts'))}`]),
    ...list(at(sent, 'contents')).map(
      (turn) => `${word(turn, 'role').replace('model', 'assistant')}: ${textOf(at(turn, 'parts'))}`,
    ),
  ],
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  return list(content)
    .map((part) => word(part, 'text'))
    .join('')
}

/** Text, calls and end of a chat client's answer, whole or streamed. */
function heardByChat({ body, text }: Answer, stream: boolean): Fields {
  if (!stream) {
    const choice = at(body, 'choices', 0)
    return {
      text: at(choice, 'message', 'content') ?? '',
      reasoning: at(choice, 'message', 'reasoning_content') ?? '',
      call: at(choice, 'message', 'tool_calls', 0),
      finish: at(choice, 'finish_reason'),
    }
  }
  const chunks = events(text)
  const deltas = chunks.map((chunk) => at(chunk, 'choices', 0, 'delta'))
  const calls = deltas.flatMap((delta) => list(at(delta, 'tool_calls')))
  const joined = (...path: readonly string[]): string => deltas.map((delta) => word(delta, ...path)).join('')
  return {
    text: joined('content'),
    reasoning: joined('reasoning_content'),
    call:
      calls.length === 0
        ? undefined
        : {
            id: at(calls[0], 'id'),
            type: at(calls[0], 'type'),
            function: {
              name: at(calls[0], 'function', 'name'),
              arguments: calls.map((call) => word(call, 'function', 'arguments')).join(''),
            },
          },
    finish: chunks
      .map((chunk) => at(chunk, 'choices', 0, 'finish_reason'))
      .find((reason) => typeof reason === 'string'),
  }
}

function events(text: string): readonly unknown[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: ') && line !== 'data: [DONE]')
    .map((line): unknown => JSON.parse(line.slice('data: '.length)))
}

const PAIRS = PROTOCOLS.flatMap((from) => PROTOCOLS.map((to) => ({ from, to })))
const CONVERTED = PAIRS.filter(({ from, to }) => from !== to)
const BOTH_WAYS = PROTOCOLS.flatMap((to) => [false, true].map((stream) => ({ to, stream })))

describe.each(BOTH_WAYS)('a chat client of a $to upstream, stream $stream', ({ to, stream }) => {
  const ends: readonly { said: Said; finish: string; row: string }[] = [
    { row: 'a normal end [2.3-15]', said: { end: 'normal' }, finish: 'stop' },
    { row: 'the end at a stop sequence [2.3-16]', said: { end: 'stop-sequence' }, finish: 'stop' },
    { row: 'the end at the token limit [2.3-17]', said: { end: 'limit' }, finish: 'length' },
  ]
  test.each(ends)('$row is told', async ({ said, finish }) => {
    const { answer } = await served({ from: 'chat', to, stream, body: HELLO.chat, said })
    expect(heardByChat(answer, stream)).toMatchObject({ text: 'ok', finish })
  })

  test('a tool call is tool_calls [1-27] [2.3-18]', async () => {
    const { answer } = await served({
      from: 'chat',
      to,
      stream,
      body: { ...HELLO.chat, ...TOOLS.chat },
      said: { call: true },
    })
    const heard = heardByChat(answer, stream)
    expect(heard).toMatchObject({
      call: { type: 'function', function: { name: CALL.name } },
      finish: 'tool_calls',
    })
    expect(at(heard, 'call', 'id')).toBe(CALL.id)
    expect(parsed(at(heard, 'call', 'function', 'arguments'))).toEqual(parsed(CALL.arguments))
  })

  test('reasoning is reasoning_content [D-requests-55]', async () => {
    const { answer } = await served({
      from: 'chat',
      to,
      stream,
      thinks: true,
      body: { ...HELLO.chat, reasoning_effort: 'high' },
      said: { reasoning: 'let me think' },
    })
    expect(heardByChat(answer, stream)).toMatchObject({ reasoning: 'let me think', text: 'ok' })
  })

  test('usage is what the log says and what is billed [2.3-22]', async () => {
    const { answer } = await served({
      from: 'chat',
      to,
      stream,
      body: { ...HELLO.chat, ...(stream ? { stream_options: { include_usage: true } } : {}) },
    })
    const usage = stream ? at(events(answer.text).at(-1), 'usage') : answer.body['usage']
    expect(usage).toMatchObject({ prompt_tokens: COUNTS.input, completion_tokens: COUNTS.output })
    expect((await gateway.lastLog()).usage).toMatchObject(COUNTS)
  })
})

test.each(PROTOCOLS)('a chat stream over %s ends with data: [DONE] [4.1-38]', async (to) => {
  const { answer } = await served({ from: 'chat', to, stream: true, body: HELLO.chat })
  expect(answer.text.trimEnd().split('\n').at(-1)).toBe('data: [DONE]')
})

const TOOL_ROWS: Readonly<Record<Name, string>> = {
  chat: '[1-24]',
  responses: '[1-25]',
  messages: '[1-26]',
  gemini: '[D-addresses-31]',
}

describe.each(PAIRS)('a $from client of a $to upstream', ({ from, to }) => {
  test(`${TOOL_ROWS[from]} tool definitions reach the upstream in its own form`, async () => {
    const { sent } = await served({ from, to, body: { ...HELLO[from], ...TOOLS[from] } })
    expect(RECEIVED_TOOL[to](sent)).toEqual({ ...TOOL, schema: SCHEMA })
  })

  test('the call and the result of a history stay linked by the same id [1-30]', async () => {
    const { sent } = await served({ from, to, body: { ...HISTORY[from], ...TOOLS[from] } })
    const { resultId, ...call } = RECEIVED_CALL[to](sent)
    expect(call).toEqual({
      callId: CALL.id,
      name: CALL.name,
      arguments: parsed(CALL.arguments),
      result: RESULT,
    })
    expect(resultId).toBe(CALL.id)
  })
})

test.each(PROTOCOLS)('a tool call over %s reaches a responses client as function_call [1-28]', async (to) => {
  const { answer } = await served({
    from: 'responses',
    to,
    body: { ...HELLO.responses, ...TOOLS.responses },
    said: { call: true },
  })
  const call = list(answer.body['output']).find((item) => at(item, 'type') === 'function_call')
  expect([at(call, 'call_id'), at(call, 'name'), parsed(at(call, 'arguments'))]).toEqual([
    CALL.id,
    CALL.name,
    parsed(CALL.arguments),
  ])
})

test.each(PROTOCOLS)('a tool call over %s reaches a messages client as tool_use [1-29]', async (to) => {
  const { answer } = await served({
    from: 'messages',
    to,
    body: { ...HELLO.messages, ...TOOLS.messages },
    said: { call: true },
  })
  const call = list(answer.body['content']).find((block) => at(block, 'type') === 'tool_use')
  expect(call).toMatchObject({ id: CALL.id, name: CALL.name, input: parsed(CALL.arguments) })
  expect(answer.body['stop_reason']).toBe('tool_use')
})

test.each(PROTOCOLS)(
  'a tool call over %s reaches a Gemini client as functionCall [D-addresses-31]',
  async (to) => {
    const { answer } = await served({
      from: 'gemini',
      to,
      body: { ...HELLO.gemini, ...TOOLS.gemini },
      said: { call: true },
    })
    const parts = list(at(answer.body, 'candidates', 0, 'content', 'parts'))
    const call = parts.map((part) => at(part, 'functionCall')).find((found) => found !== undefined)
    expect(call).toMatchObject({ name: CALL.name, args: parsed(CALL.arguments) })
  },
)

describe.each(PROTOCOLS)('chat settings over %s', (to) => {
  const sentFor = async (fields: Fields): Promise<unknown> =>
    (await served({ from: 'chat', to, body: { ...HELLO.chat, ...fields } })).sent
  const inConfig = (sent: unknown): unknown => (to === 'gemini' ? at(sent, 'generationConfig') : sent)

  test('system, user and assistant turns arrive in their order [4.1-06] [4.1-07] [4.1-08] [4.1-09]', async () => {
    const sent = await sentFor({
      messages: [
        { role: 'system', content: 'Be brief' },
        { role: 'user', content: 'one' },
        { role: 'assistant', content: 'two' },
        { role: 'user', content: 'three' },
        { role: 'assistant', content: 'four' },
        { role: 'user', content: 'five' },
      ],
    })
    expect(RECEIVED_TURNS[to](sent)).toEqual([
      'system: Be brief',
      'user: one',
      'assistant: two',
      'user: three',
      'assistant: four',
      'user: five',
    ])
  })

  test('a tool message arrives as the result of its call [4.1-10]', async () => {
    const sent = await sentFor({ ...HISTORY.chat, ...TOOLS.chat })
    expect(RECEIVED_CALL[to](sent)).toMatchObject({ resultId: CALL.id, result: RESULT })
  })

  test('max_tokens is the cap under the upstream’s own name [4.1-13]', async () => {
    const cap = inConfig(await sentFor({ max_tokens: 321 }))
    // A chat upstream gets what its client wrote.
    const name = {
      chat: 'max_tokens',
      responses: 'max_output_tokens',
      messages: 'max_tokens',
      gemini: 'maxOutputTokens',
    }
    expect(at(cap, name[to])).toBe(321)
  })

  test('temperature and top_p arrive, both together [4.1-15] [4.1-16] [4.1-17]', async () => {
    const config = inConfig(await sentFor({ temperature: 0.4, top_p: 0.9 }))
    expect([at(config, 'temperature'), at(config, to === 'gemini' ? 'topP' : 'top_p')]).toEqual([0.4, 0.9])
  })

  const CHOICES: Readonly<Record<string, { choice: unknown; received: Readonly<Record<Name, unknown>> }>> = {
    'auto [4.1-21]': {
      choice: 'auto',
      received: { chat: 'auto', responses: 'auto', messages: { type: 'auto' }, gemini: { mode: 'AUTO' } },
    },
    'none [4.1-22]': {
      choice: 'none',
      received: { chat: 'none', responses: 'none', messages: { type: 'none' }, gemini: { mode: 'NONE' } },
    },
    'required [4.1-23]': {
      choice: 'required',
      received: {
        chat: 'required',
        responses: 'required',
        messages: { type: 'any' },
        gemini: { mode: 'ANY' },
      },
    },
    'one function by its name [4.1-24]': {
      choice: { type: 'function', function: { name: CALL.name } },
      received: {
        chat: { type: 'function', function: { name: CALL.name } },
        responses: { type: 'function', name: CALL.name },
        messages: { type: 'tool', name: CALL.name },
        gemini: { mode: 'ANY', allowedFunctionNames: [CALL.name] },
      },
    },
  }
  test.each(Object.entries(CHOICES))(
    'tool_choice %s [D-requests-27] [4.1-25]',
    async (_row, { choice, received }) => {
      const sent = await sentFor({ ...TOOLS.chat, tool_choice: choice })
      const arrived =
        to === 'gemini' ? at(sent, 'toolConfig', 'functionCallingConfig') : at(sent, 'tool_choice')
      expect(arrived).toEqual(received[to])
    },
  )

  test('parallel_tool_calls arrives where there is a counterpart, and is named where there is none [D-requests-28]', async () => {
    const { answer, sent } = await served({
      from: 'chat',
      to,
      body: { ...HELLO.chat, ...TOOLS.chat, tool_choice: 'auto', parallel_tool_calls: false },
    })
    const single = {
      chat: at(sent, 'parallel_tool_calls') === false,
      responses: at(sent, 'parallel_tool_calls') === false,
      messages: at(sent, 'tool_choice', 'disable_parallel_tool_use') === true,
      gemini: answer.headers.get('gw-dropped-fields') === 'parallel_tool_calls',
    }
    expect(single[to]).toBe(true)
  })

  test('response_format json_object arrives; without a counterpart the call goes on [4.1-26] [4.1-27] [4.1-28] [D-requests-29]', async () => {
    const { answer, sent } = await served({
      from: 'chat',
      to,
      body: { ...HELLO.chat, response_format: { type: 'json_object' } },
    })
    const asked: Readonly<Record<Name, unknown>> = {
      chat: at(sent, 'response_format'),
      responses: at(sent, 'text', 'format'),
      messages: answer.headers.get('gw-dropped-fields'),
      gemini: at(sent, 'generationConfig', 'responseMimeType'),
    }
    const wanted: Readonly<Record<Name, unknown>> = {
      chat: { type: 'json_object' },
      responses: { type: 'json_object' },
      messages: 'response_format',
      gemini: 'application/json',
    }
    expect(asked[to]).toEqual(wanted[to])
  })

  test('text and a data: image arrive as parts, with the same bytes and type [4.1-30] [4.1-31] [4.1-33]', async () => {
    const sent = await sentFor({
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}` } },
          ],
        },
      ],
    })
    const parts: Readonly<Record<Name, () => unknown>> = {
      chat: () => at(sent, 'messages', 0, 'content'),
      responses: () => at(sent, 'input', 0, 'content'),
      messages: () => at(sent, 'messages', 0, 'content'),
      gemini: () => at(sent, 'contents', 0, 'parts'),
    }
    const dataUrl = `data:image/png;base64,${PIXEL}`
    const wanted: Readonly<Record<Name, readonly unknown[]>> = {
      chat: [{ text: 'What is this?' }, { image_url: { url: dataUrl } }],
      responses: [
        { type: 'input_text', text: 'What is this?' },
        { type: 'input_image', image_url: dataUrl },
      ],
      messages: [
        { type: 'text', text: 'What is this?' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXEL } },
      ],
      gemini: [{ text: 'What is this?' }, { inlineData: { mimeType: 'image/png', data: PIXEL } }],
    }
    expect(parts[to]()).toMatchObject(wanted[to])
  })

  test('user is in the log [4.1-29]', async () => {
    await sentFor({ user: `end-user-of-${to}` })
    expect((await gateway.lastLog()).user).toBe(`end-user-of-${to}`)
  })
})

describe.each(PROTOCOLS)('responses settings over %s', (to) => {
  const sentFor = async (fields: Fields, thinks = false): Promise<unknown> =>
    (await served({ from: 'responses', to, thinks, body: { ...HELLO.responses, ...fields } })).sent

  test('input as a string is one user turn [4.2-05]', async () => {
    expect(RECEIVED_TURNS[to](await sentFor({ input: 'Hello' }))).toEqual(['user: Hello'])
  })

  test('items arrive in order behind the instructions [4.2-06] [4.2-08]', async () => {
    const sent = await sentFor({
      instructions: 'Be brief',
      input: [
        { role: 'user', content: 'one' },
        { role: 'assistant', content: [{ type: 'output_text', text: 'two', annotations: [] }] },
        { role: 'user', content: [{ type: 'input_text', text: 'three' }] },
      ],
    })
    expect(RECEIVED_TURNS[to](sent)).toEqual([
      'system: Be brief',
      'user: one',
      'assistant: two',
      'user: three',
    ])
  })

  test('function_call_output arrives as a tool result [4.2-07]', async () => {
    const sent = await sentFor({ ...HISTORY.responses, ...TOOLS.responses })
    expect(RECEIVED_CALL[to](sent)).toMatchObject({ resultId: CALL.id, result: RESULT })
  })

  test('max_output_tokens, temperature and top_p arrive under the upstream’s names [4.2-11] [4.2-15] [4.2-16]', async () => {
    const sent = await sentFor({ max_output_tokens: 321, temperature: 0.4, top_p: 0.9 })
    const wanted: Readonly<Record<Name, Fields>> = {
      chat: { max_completion_tokens: 321, temperature: 0.4, top_p: 0.9 },
      responses: { max_output_tokens: 321, temperature: 0.4, top_p: 0.9 },
      messages: { max_tokens: 321, temperature: 0.4, top_p: 0.9 },
      gemini: { generationConfig: { maxOutputTokens: 321, temperature: 0.4, topP: 0.9 } },
    }
    expect(sent).toMatchObject(wanted[to])
  })

  test('reasoning.effort arrives as a reasoning model’s own setting [4.2-13]', async () => {
    const sent = await sentFor({ reasoning: { effort: 'high' } }, true)
    const wanted: Readonly<Record<Name, Fields>> = {
      chat: { reasoning_effort: 'high' },
      responses: { reasoning: { effort: 'high' } },
      messages: { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
      gemini: { generationConfig: { thinkingConfig: { thinkingBudget: 24_576 } } },
    }
    expect(sent).toMatchObject(wanted[to])
  })

  test('user is in the log [4.2-17]', async () => {
    await sentFor({ user: `end-user-of-${to}` })
    expect((await gateway.lastLog()).user).toBe(`end-user-of-${to}`)
  })
})

test.each(PROTOCOLS)('messages with plain string content arrive over %s [4.3-09]', async (to) => {
  const { sent } = await served({
    from: 'messages',
    to,
    body: {
      max_tokens: 500,
      messages: [
        { role: 'user', content: 'one' },
        { role: 'assistant', content: 'two' },
        { role: 'user', content: 'three' },
      ],
    },
  })
  expect(RECEIVED_TURNS[to](sent)).toEqual(['user: one', 'assistant: two', 'user: three'])
})

/** Spelled as each protocol spells its fields. */
const UNKNOWN: Readonly<Record<Name, string>> = {
  chat: 'x_vendor_extra',
  responses: 'x_vendor_extra',
  messages: 'x_vendor_extra',
  gemini: 'xVendorExtra',
}

test.each(CONVERTED)(
  'a $from field no $to upstream has is dropped, and said so [1-31] [D-requests-30] [D-requests-31] [D-requests-32] [D-requests-33]',
  async ({ from, to }) => {
    const { answer, sent } = await served({
      from,
      to,
      body: { ...HELLO[from], [UNKNOWN[from]]: { deep: true } },
    })
    expect(JSON.stringify(sent)).not.toMatch(/vendor_?extra|"deep"/i)
    expect(answer.headers.get('gw-dropped-fields')?.split(/,\s*/)).toContain(UNKNOWN[from])
    expect((await gateway.lastLog()).droppedFields).toContain(UNKNOWN[from])
  },
)

test('several dropped fields are comma-separated paths of the client’s own body [D-requests-33]', async () => {
  const { answer, sent } = await served({
    from: 'gemini',
    to: 'messages',
    body: { ...HELLO.gemini, generationConfig: { seed: 7, presencePenalty: 0.5 } },
  })
  const dropped = ['generationConfig.presencePenalty', 'generationConfig.seed']
  expect((answer.headers.get('gw-dropped-fields') ?? '').split(/,\s*/).toSorted()).toEqual(dropped)
  expect([at(sent, 'seed'), at(sent, 'presence_penalty')]).toEqual([undefined, undefined])
  expect((await gateway.lastLog()).droppedFields.toSorted()).toEqual(dropped)
})

test.each(CONVERTED)('nothing dropped from $from to $to: no header [D-requests-34]', async ({ from, to }) => {
  const { answer } = await served({ from, to, body: HELLO[from] })
  expect(answer.headers.get('gw-dropped-fields')).toBeNull()
})

test.each(CONVERTED.filter(({ to }) => to === 'messages'))(
  'a missing cap of a $from client becomes the model’s maximum [D-requests-62]',
  async ({ from }) => {
    const { sent } = await served({ from, to: 'messages', body: HELLO[from] })
    expect(at(sent, 'max_tokens')).toBe(16_000)
  },
)

const CONVERSATION: Readonly<Record<Name, string>> = {
  chat: 'messages',
  responses: 'input',
  messages: 'messages',
  gemini: 'contents',
}

test.each(CONVERTED)(
  'a $from client of a $to upstream without a conversation: 400/40000 names the field [D-requests-63]',
  async ({ from, to }) => {
    const { answer, arrived } = await exchange({
      from,
      to,
      body: from === 'messages' ? { max_tokens: 5 } : {},
    })
    expect([answer.status, answer.body.code, arrived]).toEqual([400, 40000, 0])
    expect(answer.body.message).toContain(CONVERSATION[from])
  },
)

test.each(['chat', 'responses', 'gemini'] as const)(
  'a message thread towards %s is refused so that the client sends its history [D-requests-60]',
  async (to) => {
    const { answer, arrived } = await exchange({
      from: 'messages',
      to,
      body: { ...HELLO.messages, thread: { id: 'thread_1' } },
    })
    expect([answer.status, arrived]).toEqual([400, 0])
    expect(at(answer.body.error, 'details')).toMatchObject({ error_code: 'thread_unsupported_request' })
  },
)

const REFUSALS: Readonly<Record<Name, { body: Fields; type: string }>> = {
  chat: {
    body: {
      error: { message: 'no such luck', type: 'invalid_request_error', param: 'messages', code: null },
    },
    type: 'invalid_request_error',
  },
  responses: {
    body: {
      error: { message: 'no such luck', type: 'image_parse_error', param: 'input', code: 'bad_image' },
    },
    type: 'image_parse_error',
  },
  messages: {
    body: {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'no such luck' },
      request_id: 'req_1',
    },
    type: 'invalid_request_error',
  },
  gemini: {
    body: { error: { code: 400, message: 'no such luck', status: 'INVALID_ARGUMENT', details: [] } },
    type: 'INVALID_ARGUMENT',
  },
}

test.each(CONVERTED)(
  'a $to upstream’s error in the shape of $from, its own body beside it [D-errors-27] [D-errors-28] [D-errors-29]',
  async ({ from, to }) => {
    const { body, type } = REFUSALS[to]
    const { answer } = await exchange({ from, to, body: HELLO[from], answerer: answerJson(body, 400) })
    expect(answer.status).toBe(400)
    expect(answer.body['upstream_body']).toEqual(body)
    expect(answer.body.error?.message).toBe('no such luck')
    expect(answer.body.error?.type).toBe(type)
    if (from === 'messages') expect(answer.body['type']).toBe('error')
    if (from === 'gemini') expect(at(answer.body.error, 'status')).toBe('INVALID_ARGUMENT')
  },
)

test.each(PROTOCOLS)('a Gemini stream without alt=sse over %s is one JSON array', async (to) => {
  const { answer } = await served({
    from: 'gemini',
    to,
    stream: true,
    query: '',
    body: HELLO.gemini,
    ...(to === 'gemini' ? { answerer: answerJson([WHOLE.gemini({})]) } : {}),
  })
  if (to === 'gemini') expect(upstream.requests.at(-1)?.query).toBe('')
  expect(answer.headers.get('content-type')).toContain('application/json')
  const fragments: unknown = JSON.parse(answer.text)
  expect(
    list(fragments)
      .flatMap((fragment) => list(at(fragment, 'candidates', 0, 'content', 'parts')))
      .map((part) => word(part, 'text'))
      .join(''),
  ).toBe('ok')
  expect(at(list(fragments).at(-1), 'candidates', 0, 'finishReason')).toBe('STOP')
})

/** Two calls whose arguments come in turns, as chat and responses upstreams may send them. */
const INTERLEAVED = answerStream([
  ...[
    { index: 0, id: 'call_a', type: 'function', function: { name: 'get_weather', arguments: '' } },
    { index: 1, id: 'call_b', type: 'function', function: { name: 'get_weather', arguments: '' } },
    { index: 0, function: { arguments: '{"city":' } },
    { index: 1, function: { arguments: '{"city":' } },
    { index: 0, function: { arguments: '"Oslo"}' } },
    { index: 1, function: { arguments: '"Rome"}' } },
  ].map((call) =>
    data({ ...CHUNK, choices: [{ index: 0, delta: { tool_calls: [call] }, finish_reason: null }] }),
  ),
  data({ ...CHUNK, choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] }),
  'data: [DONE]\n\n',
])

test('parallel calls of a chat upstream are distinguished by output_index [6.2-13] [6.2-14]', async () => {
  const { answer } = await served({
    from: 'responses',
    to: 'chat',
    stream: true,
    body: { ...HELLO.responses, ...TOOLS.responses },
    answerer: INTERLEAVED,
  })
  const heard = events(answer.text)
  const summed = new Map<unknown, string>()
  for (const one of heard) {
    if (at(one, 'type') !== 'response.function_call_arguments.delta') continue
    const place = at(one, 'output_index')
    summed.set(place, (summed.get(place) ?? '') + word(one, 'delta'))
  }
  const completed = heard.find((one) => at(one, 'type') === 'response.completed')
  const output = list(at(completed, 'response', 'output'))
  expect(
    Object.fromEntries([...summed].map(([place, text]) => [word(output[Number(place)], 'call_id'), text])),
  ).toEqual({ call_a: '{"city":"Oslo"}', call_b: '{"city":"Rome"}' })
})

test('/v1/responses/input_tokens is served [D-addresses-33]', async () => {
  upstream.answer(answerJson({ object: 'response.input_tokens', input_tokens: 11 }))
  const answer = await postJson(
    `${gateway.baseUrl}/v1/responses/input_tokens`,
    { model: 'over-responses', input: 'Hello' },
    { authorization: `Bearer ${gateway.key}` },
  )
  expect([answer.status, answer.body['input_tokens']]).toEqual([200, 11])
})

/** The responses protocol has no such parameter. */
const STOP_PLACES = [
  { to: 'chat', place: ['stop'], string: 'END' },
  { to: 'messages', place: ['stop_sequences'], string: ['END'] },
  { to: 'gemini', place: ['generationConfig', 'stopSequences'], string: ['END'] },
] as const

test.each(STOP_PLACES)(
  'stop, a text or a list of four, arrives over $to [4.1-18]',
  async ({ to, place, string }) => {
    const four = ['A', 'B', 'C', 'D']
    for (const [stop, wanted] of [
      ['END', string],
      [four, four],
    ]) {
      const { answer, sent } = await served({
        from: 'chat',
        to,
        body: { ...HELLO.chat, stop },
        said: { end: 'stop-sequence' },
      })
      expect(at(sent, ...place)).toEqual(wanted)
      expect(answer.headers.get('gw-dropped-fields')).toBeNull()
      expect(heardByChat(answer, false)).toMatchObject({ finish: 'stop' })
    }
  },
)

test.each([
  { to: 'chat', place: ['messages', 0, 'content', 0, 'image_url', 'url'] },
  { to: 'responses', place: ['input', 0, 'content', 0, 'image_url'] },
  { to: 'messages', place: ['messages', 0, 'content', 0, 'source', 'url'] },
] as const)('an image’s web address arrives over $to as a reference', async ({ to, place }) => {
  const url = 'https://example.com/cat.png'
  const { sent } = await served({
    from: 'chat',
    to,
    body: { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }] },
  })
  expect(at(sent, ...place)).toBe(url)
})

test.each(['chat', 'messages', 'gemini'] as const)(
  'a model over %s that does not reason is not told to [4.2-14]',
  async (to) => {
    const { answer, sent } = await served({
      from: 'responses',
      to,
      body: { ...HELLO.responses, reasoning: { effort: 'high' } },
    })
    for (const name of ['reasoning', 'reasoning_effort', 'thinking', 'output_config', 'generationConfig']) {
      expect(at(sent, name)).toBeUndefined()
    }
    expect(answer.headers.get('gw-dropped-fields')).toBe('reasoning')
  },
)

test.each([
  { stream: false, stop: 'END' },
  { stream: true, stop: 'END' },
  { stream: false, stop: ['A1', 'B2', 'C3', 'END'] },
  { stream: true, stop: ['A1', 'B2', 'C3', 'END'] },
])(
  'a responses upstream has no stop: the answer ends at $stop all the same, stream $stream [4.1-18]',
  async ({ stream, stop }) => {
    const { answer, sent } = await served({
      from: 'chat',
      to: 'responses',
      stream,
      body: { ...HELLO.chat, stop },
      said: { text: 'one END two' },
    })
    expect(at(sent, 'stop')).toBeUndefined()
    expect(answer.headers.get('gw-dropped-fields')).toBeNull()
    expect(heardByChat(answer, stream)).toMatchObject({ text: 'one ', finish: 'stop' })
  },
)

test.each(PAIRS.flatMap((pair) => [false, true].map((stream) => ({ ...pair, stream }))))(
  'a $from client of a $to upstream, stream $stream, is billed what the upstream counted',
  async ({ from, to, stream }) => {
    await served({ from, to, stream, body: HELLO[from], said: { text: 'a longer answer, in one piece' } })
    expect(await gateway.lastLog()).toMatchObject({
      usage: COUNTS,
      usageSource: 'upstream',
      ending: 'complete',
    })
  },
)

describe.each(PAIRS)('a text of 2 MB in one event, from a $to upstream to a $from client', ({ from, to }) => {
  test('arrives as it was said, wherever the protocol says it, and is charged by the upstream’s usage', async () => {
    const text = 'All work and no play. '.repeat(90_000)
    const { answer } = await served({ from, to, stream: true, body: HELLO[from], said: { text } })
    expect(await gateway.lastLog()).toMatchObject({
      usage: COUNTS,
      usageSource: 'upstream',
      ending: 'complete',
    })
    // Nothing but its own text stands beside it: what a text of two letters would be wrapped in.
    const short = await served({ from, to, stream: true, body: HELLO[from], said: { text: 'ok' } })
    const times = answer.text.split(text).length - 1
    expect(times).toBe(short.answer.text.split('"ok"').length - 1)
    expect(answer.text.replaceAll(text, 'ok')).toHaveLength(short.answer.text.length)
    expect(times).toBeGreaterThan(0)
  })
})
