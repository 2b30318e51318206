/** The gateway's own errors: the envelope, the codes, and what stays an upstream's own. */
import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { type Answer, get, postJson, sendRaw } from '../gateway/client.ts'
import { putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { answerJson, staySilent } from '../gateway/scripted-upstream.ts'
import { GatewayError } from '../../src/core/errors/gateway-error.ts'
import { renderError } from '../../src/http/error-envelope.ts'
import { withGateway } from '../gateway/with-gateway.ts'

const CHAT = '/v1/chat/completions'
const RESPONSES = '/v1/responses'
const MESSAGES = '/v1/messages'
const GEMINI = '/v1beta/models/gemini-model:generateContent'
const MIB = 1024 * 1024

const { gateway, upstream } = await withGateway({
  upstreams: ['upstream'],
  catalogue: ({ upstream }) => [
    ...putVendor('acme', upstream.url, { kind: 'openai' }),
    ...putVendor('clay', upstream.url, { kind: 'anthropic' }),
    ...putVendor('goo', upstream.url, { kind: 'google' }),
    putModel('chat-model'),
    putChain({ model: 'chat-model', vendor: 'acme' }),
    putModel('responses-model'),
    putChain({ model: 'responses-model', vendor: 'acme', protocol: 'responses' }),
    putModel('messages-model'),
    putChain({ model: 'messages-model', vendor: 'clay', protocol: 'messages' }),
    putModel('gemini-model'),
    putChain({ model: 'gemini-model', vendor: 'goo', protocol: 'gemini' }),
    // Not waited for: nothing but silence comes of it.
    ...putVendor('hasty', upstream.url, { timeouts: { firstByteMs: 300 } }),
    putModel('silent-model'),
    putChain({ model: 'silent-model', vendor: 'hasty' }),
    ...putVendor('roomy', upstream.url),
    putModel('large-model'),
    putChain({ model: 'large-model', vendor: 'roomy' }),
    putModel('off-model', { status: 'disabled' }),
    putChain({ model: 'off-model', vendor: 'acme' }),
    putModel('resting-model', { status: 'maintenance' }),
    putChain({ model: 'resting-model', vendor: 'acme' }),
  ],
})

const authorized = (): Record<string, string> => ({ authorization: `Bearer ${gateway.key}` })
const call = (path: string, body: unknown): Promise<Answer> =>
  postJson(`${gateway.baseUrl}${path}`, body, authorized())

/** Every field of the envelope, and those added to it (docs/reference/contract.md#2.7, #D-errors-02, #D-errors-03). */
function expectEnvelope(answer: Answer, status: number, code: number): void {
  expect([answer.status, answer.body.code]).toEqual([status, code])
  expect(typeof answer.body.message).toBe('string')
  expect(answer.body.message).not.toBe('')
  expect(answer.body.error).toMatchObject({
    type: 'gateway_error',
    code: String(code),
    message: answer.body.message,
  })
  expect(answer.body.error?.request_id).toBe(answer.headers.get('x-request-id'))
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
}

test.each([
  [40301, 403],
  [40302, 403],
  [40303, 403],
  [40400, 404],
  [40500, 405],
  [42901, 429],
  [42902, 429],
  [42903, 429],
  [42904, 429],
  [42905, 429],
  [42906, 429],
  [42908, 429],
  [42910, 429],
  [50000, 500],
  [50301, 503],
] as const)('the code %i that the contract leaves open has the status %i [7-02]', (code, status) => {
  const rendered = renderError(new GatewayError(code), { requestId: 'r', path: '/' })
  expect(rendered.status).toBe(status)
  expect(JSON.parse(rendered.body)).toMatchObject({
    code,
    error: { type: 'gateway_error', code: String(code) },
  })
})

describe('the envelope', () => {
  test.each([CHAT, RESPONSES, MESSAGES, GEMINI, '/v1/messages/count_tokens', '/unreadable'])(
    'is whole on %s [2.7-01] [2.7-02] [2.7-03] [2.7-04] [2.7-06] [7-01] [7.3-01] [D-errors-01] [D-errors-03] [D-requests-35]',
    async (path) => {
      const answer = await postJson(`${gateway.baseUrl}${path}`, {})
      expectEnvelope(answer, path === '/unreadable' ? 404 : 401, path === '/unreadable' ? 40400 : 40001)
    },
  )

  test('on /v1/messages it also carries type: "error" [D-errors-02]', async () => {
    expect((await call(MESSAGES, {})).body['type']).toBe('error')
    expect((await call(CHAT, {})).body['type']).toBeUndefined()
  })
})

describe.each([
  ['[D-requests-03]', CHAT],
  ['[D-requests-04]', RESPONSES],
  ['[D-requests-05]', MESSAGES],
  ['gemini', GEMINI],
])('a body that cannot be used, %s %s', (_id, path) => {
  test('an empty one is 400/40000', async () => {
    expectEnvelope(await call(path, ''), 400, 40000)
  })

  test.each(['[]', '"text"', '1', 'null', 'true'])(
    'no JSON object: %s is 400/40000 [D-requests-06]',
    async (body) => {
      expectEnvelope(await call(path, body), 400, 40000)
    },
  )

  test.each([
    '{"model":"chat-model",}',
    '{"model":"chat-model"',
    '{"model":chat}',
    "{'model':'x'}",
    '{"model":"a\u0001b"}',
    '{"model":"x"} extra',
    '{"n":01,"model":"x"}',
    '{"model":"\\x"}',
  ])('broken JSON %j is 400/40000 and says where [7.1-01]', async (body) => {
    const answer = await call(path, body)
    expectEnvelope(answer, 400, 40000)
    expect(answer.body.message).toMatch(/byte \d+/)
  })
})

describe.each([CHAT, RESPONSES, MESSAGES])('model on %s', (path) => {
  test('absent is 400/40002 [4.1-05] [4.2-03] [4.3-04] [7.1-03] [D-requests-07]', async () => {
    expectEnvelope(await call(path, { messages: [], nested: { model: 'chat-model' } }), 400, 40002)
  })

  test.each([1, null, {}, ['chat-model'], true])('%j is 400/40002 [D-requests-08]', async (model) => {
    expectEnvelope(await call(path, { model }), 400, 40002)
  })

  test('"" is 400/40002 [D-requests-09]', async () => {
    expectEnvelope(await call(path, { model: '' }), 400, 40002)
  })

  test.each(['no-such-model', 'chat-model-upstream', 'off-model', 'resting-model', 'x'.repeat(5_000)])(
    '%s is 502/50201 [1-36] [7.1-31] [7.1-33] [D-errors-41] [D-admission-04]',
    async (model) => {
      const before = upstream.requests.length
      const answer = await call(path, { model })
      expectEnvelope(answer, 502, 50201)
      expect(answer.body.message).toContain('no available upstream for this model')
      expect(upstream.requests.length).toBe(before)
    },
  )
})

describe('a mistyped model', () => {
  const hint = (answer: Answer): string => String(answer.body.message)

  test('is refused with the nearest name, and not as worth a retry', async () => {
    const answer = await call(CHAT, { model: 'chat-modle', messages: [] })
    expectEnvelope(answer, 502, 50201)
    expect(hint(answer)).toBe('no available upstream for this model; did you mean chat-model?')
    expect(answer.headers.get('x-should-retry')).toBe('false')
    expect(hint(await call('/v1/videos', { model: 'chat-modle', prompt: 'x' }))).toContain(
      'did you mean chat-model?',
    )
  })

  test('is told no name that is switched off, and none that is far', async () => {
    for (const model of ['off-modle', 'x'.repeat(5_000)]) {
      const answer = await call(CHAT, { model, messages: [] })
      expect(hint(answer)).not.toMatch(/mean off-model/)
      expect(answer.headers.get('x-should-retry')).toBe('false')
    }
    const far = await call(CHAT, { model: 'zzzzzzzzzzzz', messages: [] })
    expect(hint(far)).toBe('no available upstream for this model')
  })

  test('one under maintenance may be tried again', async () => {
    const answer = await call(CHAT, { model: 'resting-model', messages: [] })
    expect(answer.headers.get('x-should-retry')).toBeNull()
  })
})

describe('paths and methods', () => {
  test('a path that does not exist is 404/40400 [D-errors-08]', async () => {
    expectEnvelope(await call('/v1/nothing', {}), 404, 40400)
    expectEnvelope(await get(`${gateway.baseUrl}/v2/chat/completions`, authorized()), 404, 40400)
  })

  test.each(['GET', 'PUT', 'DELETE', 'PATCH'])(
    '%s on chat completions is 405/40500 [D-errors-09]',
    async (method) => {
      const answer = await sendRaw(`${gateway.baseUrl}${CHAT}`, { method, headers: authorized() })
      expectEnvelope(answer, 405, 40500)
      expect(answer.headers.get('allow')).toBe('POST')
    },
  )

  test.each(['/v1/v1/messages', '/v1/v1/chat/completions'])(
    '%s is 404 and says to drop the /v1 [4.3-13] [D-addresses-20] [D-addresses-21]',
    async (path) => {
      for (const base of [gateway.baseUrl, gateway.gatewayUrl]) {
        const answer = await postJson(`${base}${path}`, {}, authorized())
        expectEnvelope(answer, 404, 40400)
        expect(answer.body.message).toMatch(/drop the \/v1/)
      }
    },
  )

  test('a WebSocket upgrade is refused at once', async () => {
    const url = new URL(gateway.baseUrl)
    const text = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(url.port), url.hostname, () => {
        socket.write(
          `GET ${RESPONSES} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n`,
        )
      })
      let seen = ''
      socket.on('data', (chunk) => (seen += chunk.toString()))
      socket.on('close', () => resolve(seen))
      socket.on('error', reject)
    })
    expect(text).toMatch(/^HTTP\/1\.1 404 /)
    expect(text).toContain('"code":40400')
  })

  test('HEAD / and GET / answer quickly', async () => {
    expect((await sendRaw(`${gateway.baseUrl}/`, { method: 'HEAD' })).status).toBe(200)
    expect((await get(`${gateway.baseUrl}/`)).status).toBe(200)
  })

  test('malformed HTTP gets a clear answer, and the next connection works', async () => {
    const url = new URL(gateway.baseUrl)
    const text = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(url.port), url.hostname, () => socket.write('UNREADABLE\r\n\r\n'))
      let seen = ''
      socket.on('data', (chunk) => (seen += chunk.toString()))
      socket.on('close', () => resolve(seen))
      socket.on('error', reject)
    })
    expect(text).toMatch(/^HTTP\/1\.1 400 /)
    expect((await get(`${gateway.baseUrl}/`)).status).toBe(200)
  })
})

describe('the size of a body', () => {
  test('over 100 MiB by Content-Length is 413/41301 before a byte was sent [D-requests-01] [8-02] [7.1-21]', async () => {
    const answer = await sendRaw(`${gateway.baseUrl}${CHAT}`, {
      headers: { ...authorized(), 'content-length': String(100 * MIB + 1) },
      unfinished: true,
    })
    expectEnvelope(answer, 413, 41301)
  })

  test('over 100 MiB chunked is 413/41301 once the limit is passed, before the end [D-requests-02]', async () => {
    const piece = Buffer.alloc(4 * MIB, 0x20)
    const answer = await sendRaw(`${gateway.baseUrl}${CHAT}`, {
      headers: { ...authorized(), 'transfer-encoding': 'chunked' },
      pieces: ['{"a":"', ...Array.from({ length: 26 }, () => piece)],
      unfinished: true,
    })
    expectEnvelope(answer, 413, 41301)
  })

  test('exactly 100 MiB is accepted [8-01]', async () => {
    upstream.answer(
      answerJson({
        object: 'chat.completion',
        model: 'x',
        choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 1, completion_tokens: 1 },
      }),
    )
    const head = '{"model":"large-model","pad":"'
    const body = Buffer.alloc(100 * MIB, 0x61)
    body.write(head, 0)
    body.write('"}', body.length - 2)
    const answer = await sendRaw(`${gateway.baseUrl}${CHAT}`, {
      headers: { ...authorized(), 'content-length': String(body.length) },
      pieces: [body],
    })
    expect(answer.status).toBe(200)
    expect(upstream.requests.at(-1)?.body.length).toBe(100 * MIB + '-upstream'.length)
    upstream.requests.length = 0
  })

  test('a bad key is refused before an over-long body is read [D-admission-01]', async () => {
    const answer = await sendRaw(`${gateway.baseUrl}${CHAT}`, {
      headers: { authorization: 'Bearer sk-gateway-no', 'content-length': String(200 * MIB) },
      unfinished: true,
    })
    expectEnvelope(answer, 401, 40101)
  })
})

describe('an upstream’s error', () => {
  test.each([
    [CHAT, 'chat-model'],
    [RESPONSES, 'responses-model'],
    [MESSAGES, 'messages-model'],
  ])(
    'passes byte for byte on %s [2.7-05] [7.3-02] [D-errors-25] [D-errors-26] [D-requests-59]',
    async (path, model) => {
      const body =
        '{"type":"error", "error" : {"type":"invalid_request_error","message":"ünïcode \\u00e9"},"big":123456789012345678901234567890}'
      upstream.answer(
        answerJson(body, 400, {
          'set-cookie': 'secret=1',
          'openai-organization': 'org-1',
          'x-ratelimit-remaining': '3',
        }),
      )
      const answer = await call(path, { model, max_tokens: 5, messages: [], input: 'x' })
      expect([answer.status, answer.text]).toEqual([400, body])
      expect(answer.headers.get('set-cookie')).toBeNull()
      expect(answer.headers.get('openai-organization')).toBeNull()
    },
  )

  test('an over-limit max_tokens reaches the upstream, whose refusal comes back with its body also under upstream_body [2.7-07] [2.7-08] [2.7-09] [4.1-14] [7.3-10] [D-requests-56] [D-requests-57] [D-requests-58]', async () => {
    const body = {
      error: {
        message: 'max_tokens is too large',
        type: 'invalid_request_error',
        param: 'max_tokens',
        code: 'invalid_value',
      },
    }
    upstream.answer(answerJson(body, 400))
    const answer = await call(CHAT, { model: 'chat-model', max_tokens: 9_999_999, messages: [] })
    expect(upstream.requests.at(-1)?.json()).toMatchObject({ max_tokens: 9_999_999 })
    expect(answer.status).toBe(400)
    expect(answer.body).toEqual({ ...body, upstream_body: body })
  })

  test('an upstream 503 keeps its status [7.2-08] [7.2-09]', async () => {
    upstream.answer(answerJson({ error: { message: 'busy', type: 'server_error' } }, 503))
    expect((await call(CHAT, { model: 'chat-model', messages: [] })).status).toBe(503)
  })
})

describe('a client that goes away', () => {
  test('before the answer: the upstream request is read on for a moment, then aborted, and the row says so', async () => {
    let aborted: (() => void) | undefined
    const wasAborted = new Promise<void>((resolve) => (aborted = resolve))
    let arrived: (() => void) | undefined
    const hasArrived = new Promise<void>((resolve) => (arrived = resolve))
    upstream.answer((request, response) => {
      response.on('close', () => aborted?.())
      arrived?.()
      return staySilent(request, response)
    })
    const controller = new AbortController()
    const pending = fetch(`${gateway.baseUrl}${CHAT}`, {
      method: 'POST',
      headers: authorized(),
      body: JSON.stringify({ model: 'silent-model', messages: [] }),
      signal: controller.signal,
    })
    await hasArrived
    controller.abort()
    await expect(pending).rejects.toThrow()
    await wasAborted
    expect(await gateway.lastLog()).toMatchObject({ clientGone: true, ending: 'client-gone', deducted: 0n })
  })
})
