/**
 * The end of a call is stored, and its slot free, before its client has the last byte of the answer: whoever asks again at
 * once, with one call at a time, is never refused for the call that has just ended.
 */
import { afterEach, describe, expect, test, vi } from 'vitest'
import { NO_TOKEN_PRICES, putChain, putModel, putVendor, TOKEN_PRICES } from '../gateway/gateway.ts'
import { openStand } from '../gateway/open-stand.ts'
import { type Answerer, answerJson, answerOk, cutStream, hangUp } from '../gateway/scripted-upstream.ts'

const { gateway, upstream } = await openStand((at) => [
  ...putVendor('acme', at.upstream, { timeouts: { connectMs: 2_000, firstByteMs: 300, idleMs: 300 } }),
  putModel('talker', { supportFeatures: ['text'], pricing: TOKEN_PRICES }),
  putChain({ model: 'talker', vendor: 'acme', protocol: 'chat' }),
  ...putVendor('native', at.upstream, { kind: 'openai' }),
  putModel('thinker', { supportFeatures: ['text'], pricing: TOKEN_PRICES }),
  putChain({ model: 'thinker', vendor: 'native', protocol: 'responses', forward: 'gpt-4.1' }),
  putModel('picture', {
    supportFeatures: ['text'],
    pricing: { ...NO_TOKEN_PRICES, billingModes: ['image'], imagePrice: '0.3' },
  }),
  putChain({ model: 'picture', vendor: 'acme', protocol: 'images' }),
  putModel('voice', {
    supportFeatures: ['text'],
    pricing: { ...NO_TOKEN_PRICES, billingModes: ['character'], characterPrice: '1000' },
  }),
  putChain({ model: 'voice', vendor: 'acme', protocol: 'speech' }),
])
afterEach(() => {
  vi.restoreAllMocks()
})

const ASKED = {
  picture: ['/v1/images/generations', { model: 'picture', prompt: 'red' }],
  talk: ['/v1/chat/completions', { model: 'talker', messages: [{ role: 'user', content: 'Hi' }] }],
  stream: [
    '/v1/chat/completions',
    { model: 'talker', messages: [{ role: 'user', content: 'Hi' }], stream: true },
  ],
  voice: ['/v1/audio/speech', { model: 'voice', input: 'Hello', voice: 'v' }],
  background: ['/v1/responses', { model: 'thinker', input: 'Hi', background: true }],
} as const satisfies Readonly<Record<string, readonly [string, object]>>

const chunk = (content: string, finish: string | null = null) =>
  `data: ${JSON.stringify({
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'x',
    choices: [{ index: 0, delta: { content }, finish_reason: finish }],
  })}\n\n`
const stream =
  (pieces: readonly string[], then: 'end' | 'stay'): Answerer =>
  (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const piece of pieces) response.write(piece)
    if (then === 'end') response.end()
  }
const brokenSound: Answerer = async (_request, response) => {
  response.writeHead(200, { 'content-type': 'audio/mpeg', 'content-length': '9000' })
  await new Promise<void>((resolve) => response.write(Buffer.alloc(4_096, 1), () => resolve()))
  response.destroy()
}
const noAnswer: Answerer = () => undefined

/** Whether the client may think that its call is over: it has the whole answer, an error inside it, or a broken connection. */
interface Client {
  over: boolean
}

async function ask(what: keyof typeof ASKED, key: string, client: Client): Promise<void> {
  const [path, body] = ASKED[what]
  const answer = await fetch(`${gateway.baseUrl}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const decoder = new TextDecoder()
  let text = ''
  try {
    for await (const piece of answer.body ?? []) {
      text += decoder.decode(piece, { stream: true })
      client.over ||= text.includes('"error"') || text.includes('[DONE]')
    }
  } catch {
    // A connection that breaks is an end as well.
  }
  client.over = true
}

/** Whatever the gateway had sent before has arrived when this resolves. */
async function roundTrip(): Promise<void> {
  for (let at = 0; at < 3; at += 1) await (await fetch(`${gateway.baseUrl}/healthz`)).arrayBuffer()
}

describe('a client with one call at a time has its answer when its slot is free, after', () => {
  test.each<[string, keyof typeof ASKED, Answerer]>([
    ['a whole answer', 'talk', answerOk({ prompt_tokens: 1, completion_tokens: 1 })],
    ['a stream', 'stream', stream([chunk('Hi'), chunk('', 'stop'), 'data: [DONE]\n\n'], 'end')],
    ['pictures', 'picture', answerJson({ created: 1, data: [{ b64_json: 'iVBORw0KGgo=' }] })],
    ['a busy vendor', 'picture', answerJson({ error: { message: 'busy' } }, 503)],
    ['a vendor that blames the request', 'picture', answerJson({ error: { message: 'no' } }, 400)],
    ['a refused credential', 'talk', answerJson({ error: { message: 'no' } }, 401)],
    ['a connection that breaks', 'talk', hangUp],
    ['a vendor that does not answer in time', 'picture', noAnswer],
    ['a page', 'voice', answerJson('<html></html>', 200, { 'content-type': 'text/html' })],
    ['an error inside a 200', 'talk', answerJson({ error: { message: 'no', type: 'server_error' } })],
    ['a stream that breaks off', 'stream', cutStream([chunk('Hi')])],
    ['a stream that falls silent', 'stream', stream([chunk('Hi')], 'stay')],
    [
      'a stream that ends with an error',
      'stream',
      stream([chunk('Hi'), 'data: {"error":{"message":"no","type":"server_error"}}\n\n'], 'end'),
    ],
    ['sound that breaks off', 'voice', brokenSound],
  ])('%s [D-admission-34]', async (_what, asked, answerer) => {
    upstream.answer(answerer)
    await expectFree(asked)
  })

  test('a response in the background that a vendor refuses', async () => {
    upstream.answer(answerJson({ error: { message: 'no', type: 'invalid_request_error' } }, 400))
    await expectFree('background')
  })

  test('one whose record cannot be written', async () => {
    vi.spyOn(gateway.storage.videos, 'create').mockRejectedValue(new Error('planted'))
    await expectFree('background')
  })
})

async function expectFree(asked: keyof typeof ASKED): Promise<void> {
  const { key } = await gateway.newAccount({
    credits: 10_000,
    keyFields: { policy: { concurrency: 1, windows: [] } },
  })
  const client: Client = { over: false }
  const early: boolean[] = []
  const { calls } = gateway.storage
  const look = async (): Promise<void> => {
    await roundTrip()
    early.push(client.over)
  }
  const settle = calls.settle.bind(calls)
  vi.spyOn(calls, 'settle').mockImplementation(async (operation) => {
    await look()
    return settle(operation)
  })
  const abandon = calls.abandon.bind(calls)
  vi.spyOn(calls, 'abandon').mockImplementation(async (operation) => {
    await look()
    return abandon(operation)
  })
  await ask(asked, key, client)
  expect(early).toEqual([false])
  vi.restoreAllMocks()
  upstream.answer(answerOk({ prompt_tokens: 1, completion_tokens: 1 }))
  const again: Client = { over: false }
  await ask('talk', key, again)
  expect(await gateway.lastLog()).toMatchObject({ httpStatus: 200 })
}
