/** Bodies and answers that would keep everybody else waiting are taken apart in threads; clients see no difference. */
import { request as httpRequest } from 'node:http'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { postJson } from '../gateway/client.ts'
import { putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { answerJson } from '../gateway/scripted-upstream.ts'
import { GatewayError } from '../../src/core/errors/gateway-error.ts'
import { WorkFailure } from '../../src/pipeline/lanes/threads/work.ts'
import { withGateway } from '../gateway/with-gateway.ts'

const { gateway, upstream } = await withGateway({
  upstreams: ['upstream'],
  catalogue: ({ upstream }) => [
    ...putVendor('clay', upstream.url, { kind: 'anthropic' }),
    putModel('claude'),
    putChain({ model: 'claude', vendor: 'clay', protocol: 'messages', forward: 'claude' }),
  ],
})

beforeEach(async () => {
  vi.restoreAllMocks()
  await gateway.resetHealth()
  upstream.requests.length = 0
  upstream.answer(answerJson(answer('ok')))
})

const USAGE = { usage: { input_tokens: 3, output_tokens: 4 } }
const answer = (text: string, usage: object = USAGE) => ({
  id: 'm',
  type: 'message',
  role: 'assistant',
  content: [{ type: 'text', text }],
  stop_reason: 'end_turn',
  ...usage,
})
const authorized = (): Record<string, string> => ({ authorization: `Bearer ${gateway.key}` })
const LARGE = 'a long story '.repeat(60_000)
const chat = (content: string, fields: object = {}) =>
  postJson(
    `${gateway.baseUrl}/v1/chat/completions`,
    { model: 'claude', messages: [{ role: 'user', content }], ...fields },
    authorized(),
  )
const conversions = () => gateway.running.pipeline.conversions

describe('a large body to a model of another protocol', () => {
  test('is converted in a thread and arrives whole', async () => {
    const run = vi.spyOn(conversions(), 'run')
    const reply = await chat(LARGE)
    expect([reply.status, run.mock.calls.length]).toEqual([200, 1])
    expect(upstream.requests[0]?.json()).toMatchObject({
      model: 'claude',
      messages: [{ role: 'user', content: [{ type: 'text', text: LARGE }] }],
    })
    expect((await gateway.lastLog()).usage).toMatchObject({ input: 3, output: 4 })
  })

  test('so is one with many members, however small', async () => {
    const run = vi.spyOn(conversions(), 'run')
    const odd = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`key${at}`, 0]))
    const reply = await chat('hi', odd)
    expect([reply.status, run.mock.calls.length]).toEqual([200, 1])
    expect(reply.headers.get('gw-dropped-fields')).toContain('more')
  })

  test('a small one is not', async () => {
    const run = vi.spyOn(conversions(), 'run')
    expect((await chat('hi')).status).toBe(200)
    expect(run).not.toHaveBeenCalled()
  })

  test('one just below waits for its turn where the calls run, with its bytes and members', async () => {
    let go: (() => void) | undefined
    const asked = new Promise<void>((reached) => {
      vi.spyOn(conversions(), 'turn').mockImplementation(({ bytes, values }) => {
        expect([bytes > 4_000, values > 4_000]).toEqual([true, true])
        return new Promise((resolve) => {
          go = resolve
          reached()
        })
      })
    })
    const odd = Object.fromEntries(Array.from({ length: 4_050 }, (_, at) => [`key${at}`, 0]))
    const reply = chat('hi', odd)
    await asked
    expect(upstream.requests).toHaveLength(0)
    vi.restoreAllMocks()
    go?.()
    expect((await reply).status).toBe(200)
    expect(upstream.requests).toHaveLength(1)
  })

  test('that cannot be said in the other protocol is 400/40000 as a small one is', async () => {
    const reply = await chat(LARGE, { n: 'many' })
    expect([reply.status, reply.body.code]).toEqual([400, 40000])
    expect(upstream.requests).toHaveLength(0)
  })

  test('is 503/50301 with Retry-After when too many wait, and nothing stays held', async () => {
    vi.spyOn(conversions(), 'run').mockRejectedValue(new GatewayError(50301, { retryAfterMs: 2_000 }))
    const reply = await chat(LARGE)
    expect([reply.status, reply.body.code, reply.headers.get('retry-after')]).toEqual([503, 50301, '2'])
    await gateway.settled()
    expect((await gateway.account()).held).toBe(0n)
  })

  test('is an error of its own call when its thread crashes; the next call is served', async () => {
    vi.spyOn(conversions(), 'run').mockRejectedValueOnce(new GatewayError(50000))
    expect((await chat(LARGE)).body.code).toBe(50000)
    expect((await chat(LARGE)).status).toBe(200)
  })

  test('of a client that leaves while it waits is given up: nothing is sent, nothing stays held', async () => {
    let waits: (() => void) | undefined
    const waiting = new Promise<void>((resolve) => (waits = resolve))
    vi.spyOn(conversions(), 'run').mockImplementation(
      (_task, { onCancel }) =>
        new Promise((_resolve, reject) => {
          onCancel?.(() => reject(new WorkFailure('cancelled', 'nobody waits')))
          waits?.()
        }),
    )
    const outgoing = httpRequest(`${gateway.baseUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { ...authorized(), 'content-type': 'application/json' },
    })
    outgoing.on('error', () => undefined)
    outgoing.end(JSON.stringify({ model: 'claude', messages: [{ role: 'user', content: LARGE }] }))
    await waiting
    outgoing.destroy()
    await gateway.settled()
    expect(await gateway.lastLog()).toMatchObject({ httpStatus: 499, clientGone: true })
    expect(upstream.requests).toHaveLength(0)
    expect((await gateway.account()).held).toBe(0n)
  })
})

describe('a large response that is kept', () => {
  const ask = (path: string, body?: object) =>
    fetch(`${gateway.baseUrl}/v1/responses${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { ...authorized(), 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  const make = async (input: string) =>
    (await (await ask('', { model: 'claude', input })).json()) as { id: string }

  test('is read in a thread, its input too; a small one is not', async () => {
    const made = await make(LARGE)
    const small = await make('hi')
    const run = vi.spyOn(conversions(), 'run')
    expect(await (await ask(`/${made.id}`)).json()).toEqual(made)
    expect(await (await ask(`/${made.id}/input_items`)).json()).toMatchObject({
      data: [{ role: 'user', content: [{ type: 'input_text', text: LARGE }] }],
    })
    expect(run.mock.calls.map(([{ kind }]) => kind)).toEqual(['show', 'show'])
    expect(await (await ask(`/${small.id}`)).json()).toEqual(small)
    expect(run).toHaveBeenCalledTimes(2)
    const after = await ask(`/${made.id}/input_items?after=nowhere`)
    expect([after.status, await after.json()]).toMatchObject([400, { code: 40000 }])
  })

  test('is 503/50301 with Retry-After when too many wait for a thread', async () => {
    const made = await make(LARGE)
    vi.spyOn(conversions(), 'run').mockRejectedValue(new GatewayError(50301, { retryAfterMs: 2_000 }))
    const reply = await ask(`/${made.id}`)
    expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, '2'])
  })
})

describe('a large answer of another protocol', () => {
  test('is converted in a thread, billed by the usage the upstream told', async () => {
    const run = vi.spyOn(conversions(), 'runAnswer')
    upstream.answer(answerJson(answer(LARGE)))
    const reply = await chat('hi')
    expect(run).toHaveBeenCalledTimes(1)
    expect(reply.body['choices']).toMatchObject([{ message: { content: LARGE } }])
    expect((await gateway.lastLog()).usage).toMatchObject({ input: 3, output: 4 })
  })

  test('one that is not too large waits for its turn where the calls run', async () => {
    const turn = vi.spyOn(conversions(), 'turn')
    const words = 'a short story '.repeat(5_000)
    upstream.answer(answerJson(answer(words)))
    const reply = await chat('hi')
    expect(reply.body['choices']).toMatchObject([{ message: { content: words } }])
    const [, ofAnswer] = turn.mock.calls.map(([size]) => size.bytes)
    expect(ofAnswer).toBeGreaterThan(2 * words.length)
  })

  test('without usage is counted there', async () => {
    upstream.answer(answerJson(answer(LARGE, {})))
    const reply = await chat('hi')
    const told = reply.body['usage'] as { completion_tokens: number }
    expect(told.completion_tokens).toBeGreaterThan(LARGE.length / 8)
    expect((await gateway.lastLog()).usage.output).toBe(told.completion_tokens)
    expect((await gateway.lastLog()).usageSource).toBe('estimated')
  })

  test('that is no JSON is a failure of the upstream', async () => {
    upstream.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(`{"id":"${LARGE}`)
    })
    expect((await chat('hi')).status).toBe(502)
  })
})

test('a large conversation that is kept here is continued', async () => {
  const respond = (fields: object) =>
    postJson(`${gateway.baseUrl}/v1/responses`, { model: 'claude', ...fields }, authorized())
  const first = await respond({ input: LARGE, instructions: 'be brief' })
  expect(first.body).toMatchObject({ status: 'completed', instructions: 'be brief', store: true })
  const run = vi.spyOn(conversions(), 'run')
  const second = await respond({ input: 'go on', previous_response_id: first.body['id'] })
  expect(second.status).toBe(200)
  expect(run.mock.calls.map(([{ kind }]) => kind)).toEqual(['past', 'request'])
  expect(upstream.requests.at(-1)?.json()).toMatchObject({
    messages: [
      { role: 'user', content: [{ text: LARGE }] },
      { role: 'assistant', content: [{ text: 'ok' }] },
      { role: 'user', content: [{ text: 'go on' }] },
    ],
  })
})
