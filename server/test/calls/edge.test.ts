/** What stands in front of every request, call or not: time, size, heads that say too little or too much. */
import { connect } from 'node:net'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { GoogleGenAI } from '@google/genai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { get, postJson, readAnswer, sendRaw } from '../gateway/client.ts'
import {
  type TestGateway,
  openGateway,
  PATIENCE_MS,
  putChain,
  putModel,
  putVendor,
} from '../gateway/gateway.ts'
import { answerJson } from '../gateway/scripted-upstream.ts'
import { modelId } from '../../src/core/ids.ts'
import { withGateway } from '../gateway/with-gateway.ts'

const CHAT = '/v1/chat/completions'
const SIGN_IN = '/api/v1/user/user/sign-in'
const IDLE_MS = 1_000
/** Longer than any answer is waited for. */
const LATER_MS = String(10 * PATIENCE_MS)
const BODY_LIMIT = 200_000

/** Waits for a body as long as it takes. */
let patient: TestGateway

const { gateway, upstream } = await withGateway({
  upstreams: ['upstream'],
  environment: {
    SLUICE_BODY_IDLE_TIMEOUT_MS: String(IDLE_MS),
    SLUICE_MANAGEMENT_BODY_TIMEOUT_MS: LATER_MS,
    SLUICE_BODY_LIMIT_BYTES: String(BODY_LIMIT),
    SLUICE_BYTES_IN_FLIGHT_LIMIT: '1500000',
  },
  catalogue: ({ upstream }) => [
    ...putVendor('acme', upstream.url),
    putModel('m'),
    putChain({ model: 'm', vendor: 'acme', forward: 'm' }),
    ...putVendor('clay', upstream.url, { kind: 'anthropic' }),
    putModel('claude'),
    putChain({ model: 'claude', vendor: 'clay', protocol: 'messages', forward: 'claude' }),
  ],
})

beforeAll(async () => {
  patient = await openGateway({ environment: { SLUICE_BODY_IDLE_TIMEOUT_MS: LATER_MS } })
  upstream.answer(answerJson(ANSWER))
})

afterAll(async () => {
  await patient.close()
})

const ANSWER = {
  id: 'c',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
}

interface Raw {
  /** All the server sent until it closed, or until `until` was seen. */
  readonly text: string
  readonly closed: boolean
  readonly tookMs: number
}

interface RawOptions {
  /** Written again and again, until the connection ends. */
  readonly drip?: string
  /** Do not wait for the end of the connection once this has come. */
  readonly until?: string
  /** Address; absent: the gateway that does not wait long for a body. */
  readonly to?: string
}

/** Writes what it is given and reads until the server closes. */
function raw(
  text: string | Uint8Array,
  { drip, until, to = gateway.baseUrl }: RawOptions = {},
): Promise<Raw> {
  const { hostname, port } = new URL(to)
  const startedAt = Date.now()
  return new Promise((resolve) => {
    let seen = ''
    const socket = connect(Number(port), hostname, () => socket.write(text))
    const dripping = drip === undefined ? undefined : setInterval(() => socket.write(drip), 50)
    const late = setTimeout(() => finish(false), PATIENCE_MS)
    const finish = (closed: boolean): void => {
      clearInterval(dripping)
      clearTimeout(late)
      socket.destroy()
      resolve({ text: seen, closed, tookMs: Date.now() - startedAt })
    }
    socket.on('data', (chunk) => {
      seen += chunk.toString('latin1')
      if (until !== undefined && seen.includes(until)) finish(false)
    })
    socket.on('error', () => finish(true))
    socket.on('close', () => finish(true))
  })
}

const head = (line: string, ...headers: readonly string[]): string =>
  [`${line} HTTP/1.1`, 'host: gateway', ...headers, '', ''].join('\r\n')
const keyed = (): string => `authorization: Bearer ${gateway.key}`
const statusOf = ({ text }: Raw): number => Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1])
function bodyOf({ text }: Raw): {
  readonly code?: number
  readonly error?: { readonly request_id?: string }
} {
  return JSON.parse(text.slice(text.lastIndexOf('\r\n\r\n') + 4)) as never
}

function expectEnvelope(answer: Raw, status: number, code: number): void {
  expect([statusOf(answer), bodyOf(answer).code]).toEqual([status, code])
  const [, id] = /^x-request-id: (\S+)\r$/im.exec(answer.text) ?? []
  expect(id).toBe(bodyOf(answer).error?.request_id)
}

describe('a body that does not come', () => {
  test('one that is read is ended with 408/40000, signed in or not', async () => {
    const silent = await raw(
      head(`POST ${SIGN_IN}`, 'content-type: application/json', 'content-length: 100') + '{',
    )
    expectEnvelope(silent, 408, 40000)
    expect(silent.closed).toBe(true)
    expect(silent.tookMs).toBeGreaterThanOrEqual(IDLE_MS)
  })

  test.each([
    ['a path that is none', 'POST /nope', 404, 40400],
    ['the root', 'POST /', 404, 40400],
    ['a read that takes no body', 'GET /api/v1/user/user/pricing', 200, 0],
    ['the greeting', 'GET /', 200, undefined],
    ['a call path with another method', `PUT ${CHAT}`, 405, 40500],
    ['a doubled version', 'POST /v1/v1/messages', 404, 40400],
  ])('one that nobody reads closes the connection at once: %s', async (_what, line, status, code) => {
    const answer = await raw(head(line, 'content-type: application/json', 'content-length: 100') + '{', {
      drip: ' ',
      to: patient.baseUrl,
    })
    expect([statusOf(answer), bodyOf(answer).code]).toEqual([status, code])
    expect(answer.closed).toBe(true)
  })

  test('one that only drips is ended when its time is over: a call, and the management API', async () => {
    const environment = { SLUICE_BODY_IDLE_TIMEOUT_MS: LATER_MS, SLUICE_CALL_DEADLINE_MS: '3000' }
    const bounded = await openGateway({ environment })
    const answers = await Promise.all(
      [CHAT, SIGN_IN].map((path) => {
        const lines = head(
          `POST ${path}`,
          `authorization: Bearer ${bounded.key}`,
          'content-type: application/json',
          'content-length: 100000',
        )
        return raw(`${lines}{`, { drip: ' ', to: bounded.baseUrl })
      }),
    )
    await bounded.close()
    for (const answer of answers) {
      expectEnvelope(answer, 408, 40000)
      expect(answer.closed).toBe(true)
      expect(answer.tookMs).toBeGreaterThanOrEqual(3_000)
    }
  })

  test('bodies of the management API count against the bytes in flight, and are given back', async () => {
    const lines = head(`POST ${SIGN_IN}`, 'content-type: application/json', 'content-length: 400010')
    const part = lines + ' '.repeat(400_000)
    const answers = await Promise.all(Array.from({ length: 6 }, () => raw(part)))
    const statuses = answers.map(statusOf).sort((one, other) => one - other)
    expect(statuses).toEqual([408, 408, 408, 503, 503, 503])
    expect(answers.filter((answer) => statusOf(answer) === 503).map((answer) => bodyOf(answer).code)).toEqual(
      [50301, 50301, 50301],
    )
    expect(gateway.running.pipeline.bodyBudget.used).toBe(0)
  })
})

describe('Expect', () => {
  test.each([
    ['a call', CHAT],
    ['the management API', SIGN_IN],
  ])('100-continue is answered before the body is read: %s', async (_what, path) => {
    const lines = head(
      `POST ${path}`,
      keyed(),
      'content-type: application/json',
      'content-length: 2',
      'expect: 100-continue',
    )
    expect((await raw(lines, { until: '\r\n\r\n' })).text).toMatch(/^HTTP\/1\.1 100 Continue/)
  })

  test('a request that is refused without its body is not told to send it', async () => {
    const lines = head('POST /nope', 'content-length: 2', 'expect: 100-continue')
    expectEnvelope(await raw(lines), 404, 40400)
  })

  test('any other expectation is 417 in the envelope', async () => {
    expectEnvelope(await raw(head(`POST ${CHAT}`, 'content-length: 2', 'expect: 200-ok')), 417, 40000)
  })
})

describe('heads', () => {
  test.each([
    ['a path that cannot be decoded', 'GET /api/v1/user/user/%zz'],
    ['a model that cannot be decoded', 'POST /v1beta/models/%E0%A4%A:generateContent'],
  ])('%s is 400 in the envelope', async (_what, line) => {
    expectEnvelope(await raw(head(line, 'connection: close')), 400, 40000)
  })

  test.each([
    ['no host', 'GET /v1/models HTTP/1.1\r\nconnection: close\r\n\r\n'],
    ['two hosts', head('GET /v1/models', 'connection: close', 'Host: other')],
    [
      'a transfer coding that compresses',
      head(`POST ${CHAT}`, 'transfer-encoding: gzip, chunked', 'connection: close'),
    ],
  ])('%s is 400 in the envelope', async (_what, text) => {
    expectEnvelope(await raw(text), 400, 40000)
  })

  test('HTTP/1.0 needs no host', async () => {
    expect((await raw('GET / HTTP/1.0\r\n\r\n')).text).toMatch(/^HTTP\/1\.1 200/)
  })

  test('a target may hold the whole address', async () => {
    const lines = head('GET http://gateway.example/v1/models', keyed(), 'connection: close')
    expect(statusOf(await raw(lines))).toBe(200)
  })

  test('a long path is not repeated as a whole', async () => {
    const long = 'x'.repeat(20_000)
    for (const path of [`/${long}`, `/v1/v1/${long}`]) {
      const answer = await readAnswer(await fetch(`${gateway.baseUrl}${path}`))
      expect([answer.status, answer.body.code]).toEqual([404, 40400])
      expect(answer.text.length).toBeLessThan(1_000)
    }
  })
})

describe('compressed bodies', () => {
  const ENCODINGS = { gzip: gzipSync, 'x-gzip': gzipSync, deflate: deflateSync, br: brotliCompressSync }
  const asked = (content: string): string =>
    JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] })

  const send = (path: string, encoding: string, body: Uint8Array | string) =>
    sendRaw(`${gateway.baseUrl}${path}`, {
      headers: {
        authorization: `Bearer ${gateway.key}`,
        'content-type': 'application/json',
        'content-encoding': encoding,
      },
      pieces: typeof body === 'string' ? [body] : [body.subarray(0, 7), body.subarray(7)],
    })

  test.each(Object.entries(ENCODINGS))(
    '%s: the upstream is sent the plain bytes',
    async (encoding, compress) => {
      upstream.requests.length = 0
      const answer = await send(CHAT, encoding, compress(asked('hello')))
      expect(answer.status).toBe(200)
      const [sent] = upstream.requests
      expect(sent?.json()).toMatchObject({ messages: [{ role: 'user', content: 'hello' }] })
      expect(sent?.headers['content-encoding']).toBeUndefined()
    },
  )

  test.each(Object.entries(ENCODINGS))('%s is read by the management API too', async (encoding, compress) => {
    const body = JSON.stringify({ email: 'owner@example.com', password: 'not the one, I fear' })
    const plain = await postJson(`${gateway.baseUrl}${SIGN_IN}`, body)
    const answer = await send(SIGN_IN, encoding, compress(body))
    expect([answer.status, answer.body.code]).toEqual([plain.status, plain.body.code])
    expect(plain.body.code).not.toBe(40000)
  })

  test('identity is no encoding at all', async () => {
    expect((await send(CHAT, 'identity', asked('hello'))).status).toBe(200)
  })

  test.each([
    ['a call', CHAT],
    ['the management API', SIGN_IN],
  ])('one that unfolds past the limit is 413/41301: %s', async (_what, path) => {
    const bomb = gzipSync(`"${' '.repeat(50_000_000)}"`)
    expect(bomb.byteLength).toBeLessThan(BODY_LIMIT)
    const answer = await send(path, 'gzip', bomb)
    expect([answer.status, answer.body.code]).toEqual([413, 41301])
  })

  test.each([
    ['a call', CHAT],
    ['the management API', SIGN_IN],
  ])('an encoding nobody knows is 415/40000: %s', async (_what, path) => {
    const answer = await send(path, 'gzip, br', asked('hello'))
    expect([answer.status, answer.body.code]).toEqual([415, 40000])
    expect(answer.body.message).toMatch(/"gzip, br"/)
    expect(answer.headers.get('accept-encoding')).toMatch(/^gzip, deflate, br/)
  })

  test('the refusal has the form of the protocol', async () => {
    const answer = await send('/v1/messages', 'compress', '{}')
    expect(answer.body).toMatchObject({ type: 'error', code: 40000, error: { type: 'gateway_error' } })
  })

  test.each([
    ['plain bytes', Buffer.from(asked('hello'))],
    ['a body that is cut off', gzipSync(asked('hello')).subarray(0, 40)],
  ])('what is not as it says is 400/40000: %s', async (_what, body) => {
    for (const path of [CHAT, SIGN_IN]) {
      const answer = await send(path, 'gzip', body)
      expect([answer.status, answer.body.code]).toEqual([400, 40000])
      expect(answer.body.message).toMatch(/Content-Encoding/)
    }
  })
})

test('however many fields are dropped, and whatever their names, the answer’s head and the log stay small', async () => {
  upstream.answer(answerJson(SAID))
  const odd = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`unknown,${index}`, 1]))
  const answer = await postJson(
    `${gateway.baseUrl}${CHAT}`,
    { model: 'claude', messages: [{ role: 'user', content: 'hi' }], ...odd },
    { authorization: `Bearer ${gateway.key}` },
  )
  expect(answer.status).toBe(200)
  const told = answer.headers.get('gw-dropped-fields') ?? ''
  expect(told).toMatch(/^unknown%2C0,unknown%2C1,.*,\(4936 more\)$/)
  expect(told.length).toBeLessThan(2_100)
  expect((await gateway.lastLog()).droppedFields).toEqual(told.split(','))
})

const SAID = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'up',
  content: [{ type: 'text', text: 'ok' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 1, output_tokens: 1 },
}

describe('bodies of the management API', () => {
  test('a forbidden name is told as what it is', async () => {
    const answer = await postJson(
      `${gateway.baseUrl}${SIGN_IN}`,
      '{"email":"a@b.example","__proto__":{"x":1}}',
    )
    expect([answer.status, answer.body.code]).toEqual([400, 40000])
    expect(answer.body.message).toMatch(/__proto__/)
  })

  test('a body that is not JSON is refused as such', async () => {
    const answer = await postJson(`${gateway.baseUrl}${SIGN_IN}`, '{"email"')
    expect([answer.status, answer.body.code]).toEqual([400, 40000])
    expect(answer.body.message).toMatch(/not valid JSON/)
  })
})

test('a form that names its model twice is refused with this reason', async () => {
  const form = new FormData()
  form.append('prompt', 'a cat')
  form.append('model', 'm')
  form.append('model', 'm')
  const response = await fetch(`${gateway.baseUrl}/v1/videos`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}` },
    body: form,
  })
  const answer = await readAnswer(response)
  expect([answer.status, answer.body.message]).toEqual([400, 'model must be given once'])
})

test.each([
  ['POST', '/v1/audio/voices', 'speech'],
  ['POST', '/v1/responses/compact', 'compacting'],
  ['GET', '/v1/files', 'files'],
  ['POST', '/v1/messages/batches', 'batches'],
])('%s %s is 404 and says that the gateway does not offer it', async (method, path, what) => {
  const answer = await readAnswer(
    await fetch(`${gateway.baseUrl}${path}`, { method, headers: { authorization: `Bearer ${gateway.key}` } }),
  )
  expect([answer.status, answer.body.code]).toEqual([404, 40400])
  expect(answer.body.message).toContain('this gateway does not offer')
  expect(answer.body.message).toContain(what)
})

describe('the model list of Gemini clients', () => {
  const client = (apiKey = gateway.key) =>
    new GoogleGenAI({ apiKey, httpOptions: { baseUrl: gateway.baseUrl, apiVersion: 'v1beta' } })

  test('Google’s SDK lists page by page, and reads one', async () => {
    const names: (string | undefined)[] = []
    for await (const model of await client().models.list({ config: { pageSize: 1 } })) names.push(model.name)
    expect(names).toEqual(['models/m', 'models/claude'])
    const one = await client().models.get({ model: 'claude' })
    expect(one).toMatchObject({
      name: 'models/claude',
      supportedActions: expect.arrayContaining(['generateContent']),
    })
  })

  test('a key sees what it may call, and nothing without a key', async () => {
    const { key } = await gateway.newKey(gateway.accountId, { models: [modelId('claude')] })
    const listed = await get(`${gateway.baseUrl}/v1beta/models`, { 'x-goog-api-key': key })
    expect(listed.body).toMatchObject({ models: [{ name: 'models/claude' }] })
    expect((await get(`${gateway.baseUrl}/v1beta/models/m`, { 'x-goog-api-key': key })).status).toBe(404)
    const nobody = await get(`${gateway.baseUrl}/v1beta/models`)
    expect([nobody.status, nobody.body.code]).toEqual([401, 40001])
  })

  test('an unknown page token is 400', async () => {
    const answer = await get(`${gateway.baseUrl}/v1beta/models?pageToken=x`, {
      'x-goog-api-key': gateway.key,
    })
    expect([answer.status, answer.body.code]).toEqual([400, 40000])
  })
})

describe('heads and connections', () => {
  test('a head of very many headers is refused with 431, not cut', async () => {
    const many = Array.from({ length: 300 }, (_, at) => `x-${at}: 1`)
    expectEnvelope(
      await raw(head(`POST ${CHAT}`, 'content-length: 0', 'connection: close', ...many)),
      431,
      40000,
    )
  })

  test('a sign-in of very many members is refused before anything walks them', async () => {
    const body = JSON.stringify(Object.fromEntries(Array.from({ length: 20_002 }, (_, at) => [`k${at}`, 0])))
    const answer = await raw(
      head(
        `POST ${SIGN_IN}`,
        'content-type: application/json',
        `content-length: ${body.length}`,
        'connection: close',
      ) + body,
    )
    expectEnvelope(answer, 400, 40000)
    expect(answer.text).toContain('20000 members and items')
  })

  test('while the process stops every answer says so, at both addresses', async () => {
    const stopping = await openGateway({ environment: { SLUICE_DRAIN_DELAY_MS: '4000' } })
    // Its routes are put together by the first request, which a busy machine takes its time for.
    await get(`${stopping.baseUrl}/v1/models`)
    const stopped = stopping.running.stop()
    for (const address of [stopping.baseUrl, stopping.gatewayUrl]) {
      for (const path of ['/', '/v1/models', '/nope'])
        expect((await get(`${address}${path}`)).headers.get('connection')).toBe('close')
    }
    await stopped
  })
})
