/**
 * What goes wrong with `stream: true`, for every client protocol over every upstream protocol: before the first byte it is
 * a plain HTTP error of the protocol, as without a stream; after it the protocol's own sign inside the stream, and never a
 * normal end.
 */
import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Answer, readAnswer } from '../gateway/client.ts'
import { type ProtocolName as Name, PROTOCOLS } from '../gateway/answers.ts'
import { type EveryUpstream, openEveryUpstream } from '../gateway/every-upstream.ts'
import { type TestGateway, putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { type Answerer, answerJson, type ScriptedUpstream } from '../gateway/scripted-upstream.ts'
import { COUNTS, says } from '../matrix/upstreams.ts'

type Fields = Readonly<Record<string, unknown>>

let world: EveryUpstream
let upstream: ScriptedUpstream
let gateway: TestGateway

beforeAll(async () => {
  world = await openEveryUpstream(({ protocol, url, kind, forward }) => [
    ...putVendor(`short-${protocol}`, url, { kind, timeouts: { idleMs: 250 } }),
    putModel(`silent-${protocol}`),
    putChain({ model: `silent-${protocol}`, vendor: `short-${protocol}`, protocol, forward }),
  ])
  gateway = world.gateway
  upstream = world.upstream
})
beforeEach(async () => {
  upstream.requests.length = 0
  upstream.answer(answerJson({ error: { message: 'not scripted' } }, 500))
  await gateway.resetHealth()
})
afterAll(() => world.close())

const PATHS = { chat: 'chat/completions', responses: 'responses', messages: 'messages' } as const
const HI: Readonly<Record<Name, Fields>> = {
  chat: { messages: [{ role: 'user', content: 'hi' }] },
  responses: { input: 'hi' },
  messages: { max_tokens: 100, messages: [{ role: 'user', content: 'hi' }] },
  gemini: { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] },
}

function requestOf(client: Name, model: string, body: Fields | string, key = gateway.key) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const named = client === 'gemini' || typeof body === 'string' ? body : { model, stream: true, ...body }
  const path =
    client === 'gemini' ? `v1beta/models/${model}:streamGenerateContent?alt=sse` : `v1/${PATHS[client]}`
  const text = typeof named === 'string' ? named : JSON.stringify(named)
  return { url: `${gateway.baseUrl}/${path}`, init: { method: 'POST', headers, body: text } }
}

async function ask(client: Name, model: string, body: Fields | string, key?: string): Promise<Answer> {
  const { url, init } = requestOf(client, model, body, key)
  return readAnswer(await fetch(url, init))
}

/** The upstream goes on once the client has read something. */
let goOn: () => void = () => undefined

async function readOn(
  client: Name,
  model: string,
): Promise<{ readonly text: string; readonly requestId: string | null }> {
  const { url, init } = requestOf(client, model, HI[client])
  const gate = new Promise<void>((resolve) => {
    goOn = resolve
  })
  begun = gate
  const response = await fetch(url, init)
  expect([response.status, response.headers.get('content-type')]).toEqual([
    200,
    expect.stringMatching(/^text\/event-stream/),
  ])
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    if (text.includes('Hello')) goOn()
  }
  return { text, requestId: response.headers.get('x-request-id') }
}

let begun: Promise<void> = Promise.resolve()

/** No stream was begun, and what says so is JSON in the shape of the protocol. */
function expectPlainError(client: Name, answer: Answer, status: number, code?: number): void {
  expect([answer.status, answer.headers.get('content-type')]).toEqual([
    status,
    expect.stringMatching(/^application\/json/),
  ])
  expect(answer.body.error?.message).toMatch(/\w/)
  if (code !== undefined) {
    expect(answer.body).toMatchObject({ code, error: { type: 'gateway_error', code: String(code) } })
    expect(answer.body.error?.request_id).toBe(answer.headers.get('x-request-id'))
  }
  if (client === 'messages') expect(answer.body['type']).toBe('error')
  expect(answer.text).not.toMatch(/^(data|event):/m)
}

const WRONG_TYPE: Readonly<Record<Name, Fields>> = {
  chat: { temperature: 'hot' },
  responses: { max_output_tokens: 'many' },
  messages: { temperature: {} },
  gemini: { generationConfig: { stopSequences: 'END' } },
}

interface Refusal {
  readonly what: string
  readonly status: number
  readonly code: number
  readonly answer: (client: Name) => Promise<Answer>
  /** Where the model stands in the path, some of it cannot happen. */
  readonly clients?: readonly Name[]
}

const REFUSALS: readonly Refusal[] = [
  {
    what: 'a body that is no JSON',
    status: 400,
    code: 40000,
    answer: (client) => ask(client, 'over-chat', '{"stream":true,'),
  },
  {
    what: 'no model',
    status: 400,
    code: 40002,
    answer: (client) => ask(client, '', { model: undefined, ...HI[client] }),
    clients: ['chat', 'responses', 'messages'],
  },
  {
    what: 'a key nobody has',
    status: 401,
    code: 40101,
    answer: (client) => ask(client, 'over-chat', HI[client], 'sk-gateway-nobody'),
  },
  {
    what: 'a model nobody has',
    status: 502,
    code: 50201,
    answer: (client) => ask(client, 'nobody', HI[client]),
  },
  {
    what: 'a setting of a wrong type, where it must be converted',
    status: 400,
    code: 40000,
    answer: (client) =>
      ask(client, client === 'messages' ? 'over-chat' : 'over-messages', {
        ...HI[client],
        ...WRONG_TYPE[client],
      }),
  },
]

describe('before the first byte', () => {
  const cells = REFUSALS.flatMap((row) => (row.clients ?? PROTOCOLS).map((client) => ({ client, ...row })))
  test.each(cells)('$client: $what is $status/$code, and nothing is sent', async (row) => {
    expectPlainError(row.client, await row.answer(row.client), row.status, row.code)
    expect(upstream.requests).toEqual([])
  })

  const pairs = PROTOCOLS.flatMap((client) => PROTOCOLS.map((over) => ({ client, over })))
  test.each(pairs)(
    '$client over $over: the upstream’s refusal is an HTTP error',
    async ({ client, over }) => {
      for (const status of [400, 422]) {
        upstream.answer(answerJson(errorBody(over), status))
        expectPlainError(client, await ask(client, `over-${over}`, HI[client]), status)
      }
    },
  )

  test.each(pairs)('$client over $over: so is an error its stream begins with', async ({ client, over }) => {
    upstream.answer(answerStream(errorEvent(over)))
    const answer = await ask(client, `over-${over}`, HI[client])
    expect(answer.status).toBeGreaterThanOrEqual(400)
    expectPlainError(client, answer, answer.status)
  })
})

const BREAKS = ['an error event', 'the end of the connection', 'a reset'] as const

describe('after the first byte', () => {
  const cells = PROTOCOLS.flatMap((client) =>
    PROTOCOLS.flatMap((over) => BREAKS.map((broken) => ({ client, over, broken }))),
  )
  test.each(cells)('$client over $over: $broken is told in the stream', async ({ client, over, broken }) => {
    upstream.answer(brokenStream(over, broken))
    const { text, requestId } = await readOn(client, `over-${over}`)
    expect(text).toContain('Hello')
    expectBroken(client, text)
    // What the gateway itself saw is told in its own words, never in those of a library.
    if (broken !== 'an error event')
      expectOwnWords(text, requestId, ['"50201"', 'the upstream broke off its answer'])
    expect(await gateway.lastLog()).toMatchObject({
      httpStatus: 200,
      ending: expect.not.stringMatching('complete'),
    })
  })
})

describe('an upstream that falls silent', () => {
  const pairs = PROTOCOLS.flatMap((client) => PROTOCOLS.map((over) => ({ client, over })))
  test.each(pairs)('$client over $over: the gateway says so in its own words', async ({ client, over }) => {
    upstream.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(beginning(over))
    })
    const { text, requestId } = await readOn(client, `silent-${over}`)
    expectBroken(client, text)
    expectOwnWords(text, requestId, ['"50401"', 'the upstream stopped sending in the middle of its answer'])
  })
})

describe('an upstream that stays connected after its last word', () => {
  const pairs = PROTOCOLS.flatMap((client) =>
    // Gemini has no last word: its streams end with the connection.
    PROTOCOLS.filter((over) => over !== 'gemini').map((over) => ({ client, over })),
  )
  test.each(pairs)(
    '$client over $over: holds up neither the client nor its slot, and its usage is charged',
    async ({ client, over }) => {
      const left = new Set<ServerResponse>()
      upstream.answer((request, response) => {
        left.add(response)
        response.on('close', () => left.delete(response))
        response.end = () => response
        return says(over, { text: 'Hello there' })(request, response)
      })
      const { key } = await gateway.newKey(gateway.accountId, { policy: { concurrency: 1, windows: [] } })
      for (const _call of [1, 2]) {
        const { status, text } = await ask(client, `over-${over}`, HI[client], key)
        expect([status, text]).toEqual([200, expect.stringContaining('there')])
        expect(left.size).toBeGreaterThan(0)
      }
      expect(await gateway.lastLog()).toMatchObject({
        ending: 'complete',
        usageSource: 'upstream',
        usage: { output: COUNTS.output },
      })
    },
  )
})

function expectOwnWords(text: string, requestId: string | null, words: readonly string[]): void {
  for (const said of ['"gateway_error"', `"request_id":${JSON.stringify(requestId)}`, ...words])
    expect(text).toContain(said)
  expect(text).not.toMatch(/UND_ERR|ECONN|socket|terminated/)
}

function expectBroken(client: Name, text: string): void {
  const last =
    text
      .trimEnd()
      .split(/\r?\n\r?\n/)
      .at(-1) ?? ''
  switch (client) {
    case 'chat':
      expect(last).toMatch(/^data: \{"error":/)
      expect(text).not.toContain('[DONE]')
      return
    case 'responses':
      expect(last).toMatch(/^event: (response\.failed|error)\n/)
      expect(text).not.toContain('[DONE]')
      expect(text).not.toContain('response.completed')
      return
    case 'messages':
      expect(last).toMatch(/^event: error\ndata: \{"type":"error"/)
      expect(text).not.toContain('message_stop')
      return
    case 'gemini':
      expect(last).toMatch(/^data: \{"error":/)
      expect(text).not.toContain('finishReason')
  }
}

function errorBody(protocol: Name): Fields {
  switch (protocol) {
    case 'chat':
    case 'responses':
      return {
        error: { message: 'the oven is cold', type: 'invalid_request_error', code: null, param: null },
      }
    case 'messages':
      return { type: 'error', error: { type: 'invalid_request_error', message: 'the oven is cold' } }
    case 'gemini':
      return { error: { code: 400, status: 'INVALID_ARGUMENT', message: 'the oven is cold' } }
  }
}

function errorEvent(protocol: Name): string {
  switch (protocol) {
    case 'chat':
      return 'data: {"error":{"message":"the oven is cold","type":"server_error","code":null}}\n\n'
    case 'responses':
      return 'event: error\ndata: {"type":"error","sequence_number":2,"error":{"type":"server_error","code":"server_error","message":"the oven is cold","param":null}}\n\n'
    case 'messages':
      return 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"the oven is cold"}}\n\n'
    case 'gemini':
      return 'data: {"error":{"code":503,"status":"UNAVAILABLE","message":"the oven is cold"}}\n\n'
  }
}

function beginning(protocol: Name): string {
  const named = (event: { readonly type: string } & Fields) =>
    `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
  switch (protocol) {
    case 'chat':
      return `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: 'm', choices: [{ index: 0, delta: { role: 'assistant', content: 'Hello' }, finish_reason: null }] })}\n\n`
    case 'responses': {
      const response = { id: 'resp_1', object: 'response', model: 'm', status: 'in_progress', output: [] }
      const item = { id: 'msg_1', type: 'message', role: 'assistant', status: 'in_progress', content: [] }
      const place = { item_id: 'msg_1', output_index: 0, content_index: 0 }
      return [
        { type: 'response.created', sequence_number: 0, response },
        { type: 'response.output_item.added', sequence_number: 1, output_index: 0, item },
        {
          type: 'response.content_part.added',
          sequence_number: 2,
          ...place,
          part: { type: 'output_text', text: '', annotations: [] },
        },
        { type: 'response.output_text.delta', sequence_number: 3, ...place, delta: 'Hello', logprobs: [] },
      ]
        .map(named)
        .join('')
    }
    case 'messages':
      return [
        {
          type: 'message_start',
          message: {
            id: 'msg_1',
            type: 'message',
            role: 'assistant',
            model: 'm',
            content: [],
            stop_reason: null,
            usage: { input_tokens: 1, output_tokens: 1 },
          },
        },
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
        { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } },
      ]
        .map(named)
        .join('')
    case 'gemini':
      return `data: ${JSON.stringify({ candidates: [{ index: 0, content: { role: 'model', parts: [{ text: 'Hello' }] } }], modelVersion: 'm', responseId: 'r' })}\n\n`
  }
}

function answerStream(text: string): Answerer {
  return (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(text)
  }
}

function brokenStream(protocol: Name, broken: (typeof BREAKS)[number]): Answerer {
  return async (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(beginning(protocol))
    await begun
    if (broken === 'a reset') response.socket?.resetAndDestroy()
    else response.end(broken === 'an error event' ? errorEvent(protocol) : '')
  }
}
