/** What clients of running calls hear when the gateway stops and its grace time is over. */
import { expect, test } from 'vitest'
import { hello, KINDS, type ProtocolName, PROTOCOLS, streamed } from '../gateway/answers.ts'
import { type TestGateway, openGateway, putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { openScriptedUpstream } from '../gateway/scripted-upstream.ts'
import { ARK, eventually, playArk, VIDEO_PRICES } from '../gateway/videos.ts'

const COST = { input: 200, output: 3_000 }
const ENVIRONMENT = { SLUICE_SHUTDOWN_GRACE_MS: '0', SLUICE_DRAIN_DELAY_MS: '0' }

/** The last event of a stream, as its data. */
function lastData(text: string): unknown {
  const last =
    text
      .trimEnd()
      .split(/\r?\n\r?\n/)
      .at(-1) ?? ''
  return JSON.parse(last.slice(last.indexOf('data: ') + 6))
}

const SAID = { message: 'the gateway is shutting down' }
const TOLD: Readonly<Record<ProtocolName, (requestId: string | null) => object>> = {
  chat: (request_id) => ({ error: { ...SAID, type: 'gateway_error', code: '50301', request_id } }),
  responses: (request_id) => ({
    type: 'response.failed',
    response: { status: 'failed', error: { ...SAID, type: 'gateway_error', code: '50301', request_id } },
  }),
  messages: (request_id) => ({
    type: 'error',
    error: { ...SAID, type: 'gateway_error', code: '50301', request_id },
  }),
  gemini: (request_id) => ({
    error: {
      ...SAID,
      code: 503,
      status: 'UNAVAILABLE',
      type: 'gateway_error',
      gateway_code: '50301',
      request_id,
    },
  }),
}

async function openAll(gateway: TestGateway, url: string): Promise<void> {
  for (const protocol of PROTOCOLS) {
    const [kind, forward] = KINDS[protocol]
    await gateway.catalogue(
      ...putVendor(`v-${protocol}`, url, { kind }),
      putModel(`over-${protocol}`),
      putChain({ model: `over-${protocol}`, vendor: `v-${protocol}`, protocol, forward }),
    )
  }
}

const CELLS = PROTOCOLS.flatMap((client, index) => {
  const other = PROTOCOLS[(index + 1) % PROTOCOLS.length] ?? client
  return [client, other].map((over) => ({ client, over }))
})

test.each(CELLS)(
  '$client over $over: an open stream hears of a stop in the words of its protocol, is logged as stopped, and pays for what it got',
  async ({ client, over }) => {
    const upstream = await openScriptedUpstream()
    const gateway = await openGateway({ environment: ENVIRONMENT })
    await openAll(gateway, upstream.url)
    const pieces = streamed(over, 'The answer is forty-two.', COST)
    upstream.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(pieces.prelude + pieces.text)
    })
    const { path, body } = hello(client, `over-${over}`, { stream: true })
    const answer = await fetch(`${gateway.baseUrl}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body,
    })
    const reading = answer.text()
    const { calls } = gateway.storage
    const settled: unknown[] = []
    const settle = calls.settle.bind(calls)
    Object.assign(calls, {
      settle: (operation: Parameters<typeof settle>[0]) => {
        settled.push(operation.log)
        return settle(operation)
      },
    })
    await gateway.running.stop()
    const text = await reading
    await upstream.close()
    expect(text).toContain('forty-two')
    expect(text).not.toContain('[DONE]')
    expect(lastData(text)).toMatchObject(TOLD[client](answer.headers.get('x-request-id')))
    expect(settled).toEqual([
      expect.objectContaining({ ending: 'stopped', code: 50301, httpStatus: 200, clientGone: false }),
    ])
  },
)

test('a whole answer that has not begun is 503/50301, and is given back', async () => {
  const upstream = await openScriptedUpstream()
  const gateway = await openGateway({ environment: ENVIRONMENT })
  await openAll(gateway, upstream.url)
  let asked = (): void => undefined
  const wasAsked = new Promise<void>((resolve) => {
    asked = resolve
  })
  upstream.answer(() => asked())
  const { path, body } = hello('chat', 'over-chat', { stream: false })
  const pending = fetch(`${gateway.baseUrl}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}` },
    body,
  })
  await wasAsked
  const { calls } = gateway.storage
  const abandoned: unknown[] = []
  const abandon = calls.abandon.bind(calls)
  Object.assign(calls, {
    abandon: (operation: Parameters<typeof abandon>[0]) => {
      abandoned.push(operation)
      return abandon(operation)
    },
  })
  await gateway.running.stop()
  const answer = await pending
  await upstream.close()
  expect([answer.status, await answer.json()]).toEqual([
    503,
    expect.objectContaining({ code: 50301, error: expect.objectContaining({ type: 'gateway_error' }) }),
  ])
  expect(abandoned).toEqual([
    expect.objectContaining({
      sent: true,
      log: expect.objectContaining({ ending: 'stopped', httpStatus: 503, code: 50301 }),
    }),
  ])
})

test.each([
  ['a POST', '/v1/videos', { prompt: 'a cat' }],
  ['a chat call', '/v1/chat/completions', { messages: [{ role: 'user', content: 'a cat' }] }],
  ['a chat stream', '/v1/chat/completions', { messages: [{ role: 'user', content: 'a cat' }], stream: true }],
])(
  '%s that waits for its video is told that it goes on, and where it is found',
  async (_what, path, fields) => {
    const upstream = await openScriptedUpstream()
    const gateway = await openGateway({ environment: ENVIRONMENT })
    await gateway.catalogue(
      ...putVendor('ark', upstream.url, { kind: 'ark' }),
      putModel('seedance', { supportFeatures: ['video'], pricing: VIDEO_PRICES }),
      putChain({ model: 'seedance', vendor: 'ark', protocol: 'video', forward: 'seedance-2-0' }),
    )
    playArk(upstream, { polls: [ARK.running] })
    const pending = fetch(`${gateway.baseUrl}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'seedance', ...fields }),
    })
    await eventually(() => Promise.resolve(upstream.requests.some(({ method }) => method === 'GET')))
    const [task] = await gateway.storage.videos.list({ limit: 1, after: undefined, order: 'desc' })
    await gateway.running.stop()
    const answer = await pending
    const text = await answer.text()
    await upstream.close()
    if (!('stream' in fields)) expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '2'])
    expect(text).toContain(`the video goes on: read it as ${String(task?.id)}`)
    expect(text).toContain('50301')
    expect(text).not.toContain('[DONE]')
  },
)
