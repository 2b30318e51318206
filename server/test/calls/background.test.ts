/** `background: true` on responses: a task that is charged once, by its true usage, whatever anybody does meanwhile. */
import OpenAI from 'openai'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { ANSWER, type BackgroundVendor, type MadeResponse, playBackground } from '../gateway/background.ts'
import { type Answer, get, postJson, sendRaw } from '../gateway/client.ts'
import { openGateway, putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { answerJson } from '../gateway/scripted-upstream.ts'
import { eventually } from '../gateway/videos.ts'
import { withGateway } from '../gateway/with-gateway.ts'

let vendor: BackgroundVendor

const { gateway, upstream } = await withGateway({
  upstreams: ['upstream'],
  catalogue: ({ upstream }) => [
    ...putVendor('acme', upstream.url, { kind: 'openai' }),
    ...putVendor('plain', upstream.url),
    putModel('native'),
    putChain({ model: 'native', vendor: 'acme', protocol: 'responses', forward: 'gpt-4.1' }),
    putModel('talks-chat'),
    putChain({ model: 'talks-chat', vendor: 'acme', forward: 'gpt-4.1' }),
    putModel('unknown-vendor'),
    putChain({ model: 'unknown-vendor', vendor: 'plain', protocol: 'responses', forward: 'gpt-4.1' }),
  ],
})

beforeEach(() => {
  vendor = playBackground(upstream)
  upstream.requests.length = 0
})

function bearer(key = gateway.key): Record<string, string> {
  return { authorization: `Bearer ${key}` }
}

function create(body: object = {}, key = gateway.key): Promise<Answer> {
  return postJson(
    `${gateway.baseUrl}/v1/responses`,
    { model: 'native', input: 'x', background: true, ...body },
    bearer(key),
  )
}

function read(id: unknown, below = '', key = gateway.key): Promise<Answer> {
  return get(`${gateway.baseUrl}/v1/responses/${String(id)}${below}`, bearer(key))
}

function cancel(id: unknown, key = gateway.key): Promise<Answer> {
  return postJson(`${gateway.baseUrl}/v1/responses/${String(id)}/cancel`, {}, bearer(key))
}

function remove(id: unknown, key = gateway.key): Promise<Answer> {
  return sendRaw(`${gateway.baseUrl}/v1/responses/${String(id)}`, { method: 'DELETE', headers: bearer(key) })
}

function last(): MadeResponse {
  const made = vendor.made.at(-1)
  if (made === undefined) throw new Error('nothing was made')
  return made
}

/** Until its record says that it is over. */
async function ended(id: unknown, key = gateway.key): Promise<Answer> {
  let answer: Answer | undefined
  await eventually(async () => {
    answer = await read(id, '', key)
    return !['queued', 'in_progress'].includes(String(answer.body['status']))
  })
  if (answer === undefined) throw new Error('it was never read')
  return answer
}

async function spent(): Promise<bigint> {
  return (await gateway.account()).credits
}

/** 100 tokens in at 10 yuan a million, 1000 out at 30: 1 and 30 Credits. */
const PRICE = 31_000_000n

describe('what cannot be charged is refused before anything is spent', () => {
  test.each([
    ['a model whose vendor only talks chat', { model: 'talks-chat' }, 'background'],
    ['a vendor nobody knows it of', { model: 'unknown-vendor' }, 'background'],
    [
      'a vendor nobody knows it of, spelled as text',
      { model: 'unknown-vendor', background: 'true' },
      'background',
    ],
    ['an answer that is not to be stored', { store: false }, 'store'],
    ['a stream', { stream: true }, 'stream'],
  ])('%s: 400 naming the field, and no upstream hears of it', async (_what, body, param) => {
    const before = await spent()
    const answer = await create(body)
    expect([answer.status, answer.body.error?.code]).toEqual([400, '40000'])
    expect(answer.body.error).toMatchObject({ details: { param } })
    expect(upstream.requests).toHaveLength(0)
    expect(await spent()).toBe(before)
  })
})

describe('a response in the background', () => {
  test('is queued, running, then whole, and charged once by its own usage', async () => {
    const before = await spent()
    const created = await create()
    expect(created.status).toBe(200)
    expect(created.headers.get('gw-model')).toBe('native')
    expect(created.body).toMatchObject({
      id: last().id,
      status: 'queued',
      model: 'native',
      output: [],
      usage: null,
    })
    expect((await gateway.account()).held).toBeGreaterThan(0n)
    last().status = 'in_progress'
    await eventually(async () => (await read(last().id)).body['status'] === 'in_progress')
    expect(await spent()).toBe(before)
    vendor.finish(last())
    const final = await ended(last().id)
    expect(final.body).toMatchObject({ id: last().id, status: 'completed', model: 'native' })
    expect(final.text).toContain(ANSWER)
    expect(final.body['usage']).toMatchObject({ output_tokens: 1_000 })
    expect(before - (await spent())).toBe(PRICE)
    const row = await gateway.lastLog()
    expect(row).toMatchObject({
      endpoint: '/v1/responses',
      model: 'native',
      httpStatus: 200,
      ending: 'complete',
      usageSource: 'upstream',
      amount: PRICE,
      deducted: PRICE,
    })
    expect(row.usage).toMatchObject({ input: 100, output: 1_000 })
    expect(row.attempts).toHaveLength(1)
    expect((await gateway.account()).held).toBe(0n)
  })

  test('the official client creates, polls and cancels it', async () => {
    const client = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.baseUrl}/v1`, maxRetries: 0 })
    const created = await client.responses.create({ model: 'native', input: 'x', background: true })
    expect(created.status).toBe('queued')
    vendor.finish(last())
    let found = await client.responses.retrieve(created.id)
    await eventually(async () => {
      found = await client.responses.retrieve(created.id)
      return found.status === 'completed'
    })
    expect(found.output_text).toBe(ANSWER)
    const second = await client.responses.create({ model: 'native', input: 'x', background: true })
    const cancelled = await client.responses.cancel(second.id)
    expect(cancelled.status).toBe('cancelled')
    expect((await client.responses.retrieve(second.id)).status).toBe('cancelled')
  })

  test('an upstream that answers at once is charged before the client has the answer', async () => {
    const before = await spent()
    vendor.createWith.push((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(
        JSON.stringify({
          id: 'resp_at_once',
          object: 'response',
          status: 'completed',
          model: 'up',
          output: [],
          usage: { input_tokens: 100, output_tokens: 1_000 },
        }),
      )
    })
    const created = await create({ background: 1 })
    expect(created.body).toMatchObject({ id: 'resp_at_once', status: 'completed', model: 'native' })
    expect(before - (await spent())).toBe(PRICE)
    expect((await read('resp_at_once')).body['status']).toBe('completed')
    expect(before - (await spent())).toBe(PRICE)
  })

  test('a client that leaves before its id came pays for what is made, and a log row says so', async () => {
    const before = await spent()
    const controller = new AbortController()
    vendor.createWith.push((_request, response) => {
      controller.abort()
      setImmediate(() => {
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(
          JSON.stringify({
            id: 'resp_left',
            status: 'completed',
            output: [],
            usage: { input_tokens: 100, output_tokens: 1_000 },
          }),
        )
      })
    })
    const left = fetch(`${gateway.baseUrl}/v1/responses`, {
      method: 'POST',
      signal: controller.signal,
      headers: { ...bearer(), 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'native', input: 'x', background: true }),
    })
    await expect(left).rejects.toThrow()
    await gateway.videosEnded()
    expect(before - (await spent())).toBe(PRICE)
    expect(await gateway.lastLog()).toMatchObject({ deducted: PRICE, ending: 'complete' })
  })

  test('the answer can be continued once it is finished, and not before', async () => {
    const { body } = await create()
    const early = await create({ previous_response_id: body['id'] })
    expect([early.status, early.body.error?.code]).toEqual([400, '40000'])
    expect(early.body.error?.message).toContain('not finished')
    vendor.finish(last())
    await ended(body['id'])
    const next = await create({ previous_response_id: body['id'], background: false })
    expect(next.status).toBe(200)
    const sent = upstream.requests.findLast(({ method }) => method === 'POST')
    expect(sent?.json()).toMatchObject({ previous_response_id: body['id'] })
  })

  test('its requests count, its slot is held while it runs', async () => {
    const account = await gateway.newAccount({
      keyFields: { policy: { concurrency: 1, windows: [] } },
    })
    const { body } = await create({}, account.key)
    const second = await create({}, account.key)
    expect([second.status, second.body.error?.code]).toEqual([429, '42901'])
    vendor.finish(vendor.made[0] as MadeResponse)
    await ended(body['id'], account.key)
    expect((await create({}, account.key)).status).toBe(200)
    vendor.finish(last())
  })
})

describe('nobody reads an answer that was not paid for', () => {
  test('while it runs, what the upstream has of it already is not shown', async () => {
    const { body } = await create()
    Object.assign(last(), { status: 'in_progress', text: ANSWER })
    await eventually(async () => (await read(body['id'])).body['status'] === 'in_progress')
    for (const answer of [await read(body['id']), await read(body['id'], '?include[]=reasoning')]) {
      expect(answer.text).not.toContain(ANSWER)
    }
    vendor.finish(last())
    await ended(body['id'])
  })

  test('many parallel reads while it finishes: none shows the answer before its charge', async () => {
    const before = await spent()
    const { body } = await create()
    vendor.finish(last())
    let shown = 0
    await eventually(async () => {
      const answers = await Promise.all(Array.from({ length: 20 }, () => read(body['id'])))
      const charged = before - (await spent())
      shown = answers.filter(({ text }) => text.includes(ANSWER)).length
      expect(shown === 0 || charged === PRICE).toBe(true)
      return shown === 20
    })
    expect(before - (await spent())).toBe(PRICE)
  })

  test.each(['?stream=true', '?stream=true&starting_after=0'])(
    'a stream of it (%s) is refused',
    async (query) => {
      const { body } = await create()
      const answer = await read(body['id'], query)
      expect([answer.status, answer.body.error?.code]).toEqual([400, '40000'])
      vendor.finish(last())
    },
  )

  test("another key's background response is neither read, cancelled, deleted nor continued", async () => {
    const { body } = await create()
    const other = await gateway.newKey(gateway.accountId)
    for (const answer of [
      await read(body['id'], '', other.key),
      await read(body['id'], '/input_items', other.key),
      await cancel(body['id'], other.key),
      await remove(body['id'], other.key),
    ])
      expect(answer.status).toBe(404)
    expect((await create({ previous_response_id: body['id'] }, other.key)).status).toBe(400)
    expect(last().cancels).toBe(0)
    vendor.finish(last())
    await ended(body['id'])
    expect((await read(body['id'], '', other.key)).status).toBe(404)
  })

  test('a task of a response is no video', async () => {
    await create()
    const [task] = await gateway.storage.videos.list({
      kind: 'response',
      open: true,
      limit: 1,
      after: undefined,
      order: 'desc',
    })
    for (const path of ['', '/content']) {
      expect((await get(`${gateway.baseUrl}/v1/videos/${String(task?.id)}${path}`, bearer())).status).toBe(
        404,
      )
    }
    const listed = await get(`${gateway.baseUrl}/v1/videos`, bearer())
    expect(listed.body.data).toEqual([])
    vendor.finish(last())
  })
})

describe('cancelling', () => {
  test('charges what the upstream says was produced, and a second time tells the same', async () => {
    const before = await spent()
    const { body } = await create()
    vendor.cancelWith.push((request, response) => {
      Object.assign(last(), { status: 'cancelled', text: 'half', usage: { input: 100, output: 1_000 } })
      return answerJson({
        id: last().id,
        status: 'cancelled',
        output: [],
        usage: { input_tokens: 100, output_tokens: 1_000 },
      })(request, response)
    })
    const first = await cancel(body['id'])
    expect([first.status, first.body['status']]).toEqual([200, 'cancelled'])
    expect(before - (await spent())).toBe(PRICE)
    const second = await cancel(body['id'])
    expect(second.body).toEqual(first.body)
    expect((await read(body['id'])).body).toEqual(first.body)
    expect(before - (await spent())).toBe(PRICE)
  })

  test('one that runs and tells no usage costs its input and what the chain makes in that time', async () => {
    const before = await spent()
    const { body } = await create({ input: 'word '.repeat(4_000) })
    last().status = 'in_progress'
    await eventually(async () => (await read(body['id'])).body['status'] === 'in_progress')
    await cancel(body['id'])
    const row = await gateway.lastLog()
    expect(row.usageSource).toBe('estimated')
    expect(row.usage.input).toBeGreaterThan(1_000)
    expect(row.usage.output).toBeGreaterThan(0)
    expect(before - (await spent())).toBe(row.deducted)
  })

  test('one that waits in the queue costs nothing, and its request is counted', async () => {
    const before = await spent()
    const { body } = await create()
    const answer = await cancel(body['id'])
    expect(answer.body['status']).toBe('cancelled')
    expect(await spent()).toBe(before)
    expect(await gateway.lastLog()).toMatchObject({ deducted: 0n, httpStatus: 200 })
  })

  test('a finished one is left as it is', async () => {
    const { body } = await create()
    vendor.finish(last())
    const final = await ended(body['id'])
    expect((await cancel(body['id'])).body).toEqual(final.body)
    expect(last().cancels).toBe(0)
  })

  test('one that finishes just then is charged as finished', async () => {
    const before = await spent()
    const { body } = await create()
    vendor.finish(last())
    const answers = await Promise.all([cancel(body['id']), cancel(body['id']), read(body['id'])])
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    const final = await ended(body['id'])
    expect(final.body['status']).toBe('completed')
    expect(before - (await spent())).toBe(PRICE)
  })

  test('an upstream that refuses: told so, and it goes on', async () => {
    const { body } = await create()
    vendor.cancelWith.push(answerJson({ error: { message: 'no' } }, 500))
    const answer = await cancel(body['id'])
    expect([answer.status, answer.body.error?.code]).toEqual([502, '50201'])
    vendor.finish(last())
    expect((await ended(body['id'])).body['status']).toBe('completed')
  })

  test('a response that is no background one is not cancelled', async () => {
    const { body } = await create({ background: false })
    expect(body['status']).toBe('completed')
    const answer = await cancel(body['id'])
    expect([answer.status, answer.body.error?.code]).toEqual([400, '40000'])
  })
})

describe('deleting', () => {
  test('a running one is cancelled and charged first; then it is gone', async () => {
    const before = await spent()
    const { body } = await create()
    vendor.cancelWith.push((request, response) =>
      answerJson({
        id: last().id,
        status: 'cancelled',
        output: [],
        usage: { input_tokens: 100, output_tokens: 1_000 },
      })(request, response),
    )
    const answer = await remove(body['id'])
    expect(answer.body).toEqual({ id: body['id'], object: 'response', deleted: true })
    expect(before - (await spent())).toBe(PRICE)
    expect((await read(body['id'])).status).toBe(404)
    expect((await create({ previous_response_id: body['id'] })).status).toBe(400)
    expect((await remove(body['id'])).status).toBe(404)
  })

  test('a finished one is gone here and upstream', async () => {
    const { body } = await create()
    vendor.finish(last())
    await ended(body['id'])
    expect((await remove(body['id'])).status).toBe(200)
    expect(upstream.requests.some(({ method }) => method === 'DELETE')).toBe(true)
    expect((await read(body['id'])).status).toBe(404)
  })
})

describe('an upstream that', () => {
  test.each([
    [
      'refuses the order',
      () =>
        vendor.createWith.push(answerJson({ error: { message: 'bad', type: 'invalid_request_error' } }, 400)),
      400,
    ],
    [
      'refuses our credential',
      () => vendor.createWith.push(answerJson({ error: { message: 'key' } }, 401)),
      502,
    ],
    [
      'breaks the connection after the order was sent',
      () =>
        vendor.createWith.push((_request, response) => {
          response.destroy()
        }),
      504,
    ],
    ['answers with something unreadable', () => vendor.createWith.push(answerJson({ hello: 'world' })), 502],
    [
      'answers with an id that is none',
      () => vendor.createWith.push(answerJson({ id: 'resp 1\n', status: 'queued' })),
      502,
    ],
  ])('%s: told so, nothing is charged, nothing is sent twice', async (_what, script, status) => {
    const before = await spent()
    script()
    const answer = await create()
    expect(answer.status).toBe(status)
    expect(upstream.requests).toHaveLength(1)
    await gateway.videosEnded()
    expect(await spent()).toBe(before)
    expect(await gateway.lastLog()).toMatchObject({ deducted: 0n, httpStatus: status })
    await gateway.resetHealth()
  })

  test('fails: its own error is read, nothing is charged', async () => {
    const before = await spent()
    const { body } = await create()
    vendor.finish(last(), { status: 'failed', text: '', usage: undefined })
    const final = await ended(body['id'])
    expect(final.body).toMatchObject({
      status: 'failed',
      error: { code: 'server_error', message: 'the kiln broke' },
    })
    expect(await spent()).toBe(before)
  })

  test('fails after it made something, by its own count: that is charged', async () => {
    const before = await spent()
    const { body } = await create()
    vendor.finish(last(), { status: 'failed', text: 'half' })
    await ended(body['id'])
    expect(before - (await spent())).toBe(PRICE)
  })

  test('tells tokens that cannot be: charged at what can be, and the row says both', async () => {
    const { body } = await create()
    vendor.finish(last(), { usage: { input: 100, output: 999_999_999 } })
    await ended(body['id'])
    const row = await gateway.lastLog()
    expect(row.usage.output).toBe(176_000)
    expect(row.usageSuspect).toEqual({
      inputReported: 100,
      inputCharged: 100,
      outputReported: 999_999_999,
      outputCharged: 176_000,
    })
  })

  test('finishes without usage: what is seen is charged at least', async () => {
    const { body } = await create()
    vendor.finish(last(), { usage: undefined, text: 'many a word '.repeat(500) })
    await ended(body['id'])
    const row = await gateway.lastLog()
    expect(row.usageSource).toBe('estimated')
    expect(row.usage.output).toBeGreaterThan(1_000)
    expect(row.deducted).toBeGreaterThan(0n)
  })

  test('forgets the id: failed after it was asked several times, and nothing is charged', async () => {
    const before = await spent()
    const { body } = await create()
    vendor.made.length = 0
    const final = await ended(body['id'])
    expect(final.body).toMatchObject({ status: 'failed', output: [] })
    expect(await spent()).toBe(before)
  })

  test('tells of another response under this id: not believed', async () => {
    const { body } = await create()
    const mine = last()
    vendor.readWith.push(
      answerJson({
        id: 'resp_other',
        status: 'completed',
        output: [],
        usage: { input_tokens: 1, output_tokens: 1 },
      }),
    )
    await eventually(() => vendor.readWith.length === 0 && mine.reads > 1)
    expect((await read(body['id'])).body['status']).toBe('queued')
    vendor.finish(mine)
    expect((await ended(body['id'])).text).toContain(ANSWER)
  })

  test('refuses polls for a while, breaks them, and sends what cannot be read: it is asked again until it ends', async () => {
    const { body } = await create()
    vendor.readWith.push(
      answerJson({ error: { message: 'slow down' } }, 429),
      (_request, response) => {
        response.destroy()
      },
      answerJson('no json'),
      answerJson({ error: { message: 'oops' } }, 500),
    )
    vendor.finish(last())
    const before = await spent()
    expect((await ended(body['id'])).text).toContain(ANSWER)
    expect(before - (await spent())).toBe(PRICE)
  })
})

describe('whoever ordered it', () => {
  test('deletes the key while it runs: it is charged all the same', async () => {
    const account = await gateway.newAccount()
    const { body } = await create({}, account.key)
    expect(body['status']).toBe('queued')
    await gateway.storage.keys.patch(account.keyId, { status: 'deleted' })
    vendor.finish(last())
    await gateway.videosEnded()
    expect((await gateway.account(account.id)).credits).toBe(1_000_000_000_000n - PRICE)
  })

  test('has too little left: refused before anything is spent; what runs may take it below zero once', async () => {
    const account = await gateway.newAccount({ credits: 20 })
    const first = await create({}, account.key)
    expect(first.status).toBe(200)
    const second = await create({}, account.key)
    expect([second.status, second.body.error?.code]).toEqual([429, '42901'])
    vendor.finish(vendor.made[0] as MadeResponse)
    await ended(first.body['id'], account.key)
    expect((await gateway.account(account.id)).credits).toBe(20_000_000n - PRICE)
    expect((await create({}, account.key)).status).toBe(403)
  })
})

describe('an operator', () => {
  test('sees it, and gives it up under any reason: nothing is charged, read or continued', async () => {
    const before = await spent()
    const { body } = await create()
    const admin = await gateway.newAdmin()
    const customers = `${gateway.baseUrl}/api/v1/admin/videos`
    const listed = await get(customers, admin.headers)
    const rows = listed.body.data as { id: string; kind: string }[]
    const row = rows.find(({ kind }) => kind === 'response')
    const given = await postJson(
      `${customers}/${String(row?.id)}/fail`,
      { reason: 'completed' },
      admin.headers,
    )
    expect(given.status).toBe(200)
    vendor.finish(last())
    const found = await read(body['id'])
    expect(found.body).toMatchObject({ status: 'failed', output: [], error: { code: 'server_error' } })
    expect((await create({ previous_response_id: body['id'] })).status).toBe(400)
    expect((await cancel(body['id'])).body).toEqual(found.body)
    expect(await spent()).toBe(before)
  })
})

describe('the sandbox', () => {
  test('answers in the background without a network, and can be cancelled', async () => {
    let ahead = 0
    const offline = await openGateway({ now: () => Date.now() + ahead })
    await offline.catalogue(
      ...putVendor('box', 'https://sandbox.invalid', { kind: 'sandbox' }),
      putModel('play'),
      putChain({ model: 'play', vendor: 'box', protocol: 'responses', forward: 'sandbox-chat' }),
    )
    const client = new OpenAI({ apiKey: offline.key, baseURL: `${offline.baseUrl}/v1`, maxRetries: 0 })
    const first = await client.responses.create({ model: 'play', input: 'hello', background: true })
    const second = await client.responses.create({ model: 'play', input: 'hello', background: true })
    expect([first.status, second.status]).toEqual(['queued', 'queued'])
    expect((await client.responses.cancel(second.id)).status).toBe('cancelled')
    ahead += 10_000
    await eventually(async () => (await client.responses.retrieve(first.id)).status === 'completed')
    expect((await client.responses.retrieve(first.id)).output_text).not.toBe('')
    await client.responses.delete(first.id)
    await expect(client.responses.retrieve(first.id)).rejects.toMatchObject({ status: 404 })
    await offline.close()
  })
})

test('whoever dies on the way: it can be found before anything could be charged for it', async () => {
  const puts = vi.spyOn(gateway.storage.turns, 'put')
  const patches = vi.spyOn(gateway.storage.videos, 'patch')
  const { body } = await create()
  const found = puts.mock.calls.findIndex(([turns]) => turns.some((turn) => turn.responseId === body['id']))
  const known = patches.mock.calls.findIndex(([, patch]) => patch.state?.['id'] === body['id'])
  expect(puts.mock.invocationCallOrder[found]).toBeLessThan(patches.mock.invocationCallOrder[known] ?? 0)
  vi.restoreAllMocks()
  vendor.finish(last())
  await ended(body['id'])
})

describe('a POST that is repeated with its Idempotency-Key', () => {
  const again = (key: string, body: object = {}, holder = gateway.key) =>
    postJson(
      `${gateway.baseUrl}/v1/responses`,
      { model: 'native', input: 'x', background: true, ...body },
      { ...bearer(holder), 'idempotency-key': key },
    )
  const orders = () => upstream.requests.filter(({ method }) => method === 'POST').length

  test('is told the same response while it runs and when it has ended; it is ordered and charged once', async () => {
    upstream.requests.length = 0
    const before = await spent()
    const first = await again('run-once')
    const second = await again('run-once')
    expect([second.status, second.body['id']]).toEqual([200, first.body['id']])
    vendor.finish(last())
    await ended(first.body['id'])
    const third = await again('run-once')
    expect(third.body).toMatchObject({ id: first.body['id'], status: 'completed' })
    expect(third.text).toContain(ANSWER)
    expect([orders(), before - (await spent())]).toEqual([1, PRICE])
    expect((await gateway.account()).held).toBe(0n)
  })

  test('ten at once make one response', async () => {
    upstream.requests.length = 0
    const answers = await Promise.all(Array.from({ length: 10 }, () => again('at-once')))
    expect(new Set(answers.map(({ status, body }) => `${status} ${String(body['id'])}`)).size).toBe(1)
    expect(answers[0]?.status).toBe(200)
    expect(orders()).toBe(1)
    vendor.finish(last())
    await ended(answers[0]?.body['id'])
  })

  test('with another body is 422/40004, and nothing is ordered', async () => {
    const first = await again('one-body')
    upstream.requests.length = 0
    const other = await again('one-body', { input: 'y' })
    expect([other.status, other.body.code]).toEqual([422, 40004])
    expect(orders()).toBe(0)
    vendor.finish(last())
    await ended(first.body['id'])
  })

  test('of another API key is a response of its own', async () => {
    const first = await again('shared')
    const stranger = await gateway.newAccount()
    const other = await again('shared', {}, stranger.key)
    expect(other.status).toBe(200)
    expect(other.body['id']).not.toBe(first.body['id'])
    for (const made of vendor.made.slice(-2)) vendor.finish(made)
    await ended(first.body['id'])
    await ended(other.body['id'], stranger.key)
  })

  test('is ordered anew when no upstream had it', async () => {
    vendor.createWith.push(answerJson({ error: { message: 'no' } }, 400))
    expect((await again('refused')).status).toBe(400)
    const next = await again('refused')
    expect(next.status).toBe(200)
    vendor.finish(last())
    await ended(next.body['id'])
  })
})

describe('the deadline', () => {
  test('cancels upstream and charges what was made', async () => {
    let ahead = 0
    const late = await openGateway({ now: () => Date.now() + ahead })
    await late.catalogue(
      ...putVendor('acme', upstream.url, { kind: 'openai' }),
      putModel('native'),
      putChain({ model: 'native', vendor: 'acme', protocol: 'responses', forward: 'gpt-4.1' }),
    )
    const before = (await late.account()).credits
    const { body } = await postJson(
      `${late.baseUrl}/v1/responses`,
      { model: 'native', input: 'x', background: true },
      bearer(late.key),
    )
    last().status = 'in_progress'
    last().usage = { input: 100, output: 1_000 }
    ahead += 3_600_000
    await late.videosEnded()
    expect(last().cancels).toBe(1)
    expect(before - (await late.account()).credits).toBe(PRICE)
    const found = await get(`${late.baseUrl}/v1/responses/${String(body['id'])}`, bearer(late.key))
    expect(found.body['status']).toBe('cancelled')
    await late.close()
  })

  /** A response past its deadline whose upstream goes on and refuses every cancellation. */
  async function uncancelled() {
    let ahead = 0
    const late = await openGateway({ now: () => Date.now() + ahead })
    await late.catalogue(
      ...putVendor('acme', upstream.url, { kind: 'openai' }),
      putModel('native'),
      putChain({ model: 'native', vendor: 'acme', protocol: 'responses', forward: 'gpt-4.1' }),
    )
    const before = (await late.account()).credits
    const { body } = await postJson(
      `${late.baseUrl}/v1/responses`,
      { model: 'native', input: 'x', background: true },
      bearer(late.key),
    )
    last().status = 'in_progress'
    const refusal = answerJson({ error: { message: 'no' } }, 500)
    vendor.cancelWith.push(...Array.from({ length: 5_000 }, () => refusal))
    ahead += 3_600_000
    const { reads } = last()
    await eventually(() => Promise.resolve(last().reads > reads + 8))
    return {
      late,
      find: () => get(`${late.baseUrl}/v1/responses/${String(body['id'])}`, bearer(late.key)),
      spent: async () => before - (await late.account()).credits,
      pass: (ms: number) => {
        ahead += ms
      },
    }
  }

  test('an upstream that goes on and will not be cancelled is asked until it has ended: its answer is paid for and shown', async () => {
    const { late, find, spent: paid } = await uncancelled()
    expect((await find()).body['status']).toBe('in_progress')
    vendor.finish(last())
    await late.videosEnded()
    vendor.cancelWith.length = 0
    expect(await paid()).toBe(PRICE)
    expect((await find()).text).toContain(ANSWER)
    await late.close()
  })

  test('one that never ends is charged by an estimate half a day later; what it makes then is never shown', async () => {
    const { late, find, spent: paid, pass } = await uncancelled()
    pass(13 * 3_600_000)
    await late.videosEnded()
    vendor.cancelWith.length = 0
    vendor.finish(last())
    const found = await find()
    expect(found.body).toMatchObject({ status: 'failed', output: [] })
    expect(found.text).not.toContain(ANSWER)
    expect(await paid()).toBeGreaterThan(0n)
    expect((await late.account()).held).toBe(0n)
    expect(await late.lastLog()).toMatchObject({ code: 50401, usageSource: 'estimated', ending: 'timeout' })
    await late.close()
  })

  test('an upstream that cannot be reached any more: it has failed, and its answer is never shown', async () => {
    let ahead = 0
    const late = await openGateway({ now: () => Date.now() + ahead })
    await late.catalogue(
      ...putVendor('acme', upstream.url, { kind: 'openai' }),
      putModel('native'),
      putChain({ model: 'native', vendor: 'acme', protocol: 'responses', forward: 'gpt-4.1' }),
    )
    const { body } = await postJson(
      `${late.baseUrl}/v1/responses`,
      { model: 'native', input: 'x', background: true },
      bearer(late.key),
    )
    const refusal = answerJson({ error: { message: 'no' } }, 500)
    vendor.readWith.push(...Array.from({ length: 50 }, () => refusal))
    vendor.cancelWith.push(...Array.from({ length: 50 }, () => refusal))
    ahead += 3_600_000
    await late.videosEnded()
    vendor.finish(last())
    const found = await get(`${late.baseUrl}/v1/responses/${String(body['id'])}`, bearer(late.key))
    expect(found.body).toMatchObject({ status: 'failed', output: [] })
    expect(found.text).not.toContain(ANSWER)
    await late.close()
  })
})
