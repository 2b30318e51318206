/** What crosses the wire when protocols differ: the request the upstream got, and the answer the client got (contract §1.3). */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Answer, postJson } from '../../test/house/client.ts'
import { type House, openHouse, putChain, putModel, putVendor } from '../../test/house/house.ts'
import {
  type Answerer,
  answerJson,
  answerStream,
  openScriptedUpstream,
  type ScriptedUpstream,
} from '../../test/house/scripted-upstream.ts'

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

let house: House
let upstream: ScriptedUpstream

beforeAll(async () => {
  upstream = await openScriptedUpstream()
  house = await openHouse()
  await house.catalogue(
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
  )
})

afterAll(async () => {
  await house.close()
  await upstream.close()
})

/** What an upstream says, in whichever protocol. */
interface Said {
  readonly text?: string
  readonly reasoning?: string
  readonly call?: boolean
  readonly end?: 'normal' | 'stop-sequence' | 'limit'
}

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
    house.baseUrl + (from === 'gemini' ? `/v1beta/models/${model}:${verb}` : PATHS[from]),
    from === 'gemini' ? body : { model, ...(stream ? { stream } : {}), ...body },
    { authorization: `Bearer ${house.key}` },
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
    { row: '[2.3-15] a normal end', said: { end: 'normal' }, finish: 'stop' },
    { row: '[2.3-16] the end at a stop sequence', said: { end: 'stop-sequence' }, finish: 'stop' },
    { row: '[2.3-17] the end at the token limit', said: { end: 'limit' }, finish: 'length' },
  ]
  test.each(ends)('$row is told', async ({ said, finish }) => {
    const { answer } = await served({ from: 'chat', to, stream, body: HELLO.chat, said })
    expect(heardByChat(answer, stream)).toMatchObject({ text: 'ok', finish })
  })

  test('[1-27] [2.3-18] a tool call is tool_calls', async () => {
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

  test('[D-requests-55] reasoning is reasoning_content', async () => {
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

  test('[2.3-22] usage is what the log says and what is billed', async () => {
    const { answer } = await served({
      from: 'chat',
      to,
      stream,
      body: { ...HELLO.chat, ...(stream ? { stream_options: { include_usage: true } } : {}) },
    })
    const usage = stream ? at(events(answer.text).at(-1), 'usage') : answer.body['usage']
    expect(usage).toMatchObject({ prompt_tokens: COUNTS.input, completion_tokens: COUNTS.output })
    expect((await house.lastLog()).usage).toMatchObject(COUNTS)
  })
})

test.each(PROTOCOLS)('[4.1-38] a chat stream over %s ends with data: [DONE]', async (to) => {
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

  test('[1-30] the call and the result of a history stay linked by the same id', async () => {
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

test.each(PROTOCOLS)('[1-28] a tool call over %s reaches a responses client as function_call', async (to) => {
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

test.each(PROTOCOLS)('[1-29] a tool call over %s reaches a messages client as tool_use', async (to) => {
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
  '[D-addresses-31] a tool call over %s reaches a Gemini client as functionCall',
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
