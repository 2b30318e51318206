/**
 * What clients notice of a chain that is ill: one that hangs, breaks its streams or refuses with 429, alone and beside
 * healthy ones (docs/decisions/0005-routing-and-endings.md). Pauses are waited for by moving the clock.
 */
import type { ServerResponse } from 'node:http'
import { beforeEach, describe, expect, test } from 'vitest'
import { type Answer, type AnswerBody, get, postJson } from '../gateway/client.ts'
import { putChain, putModel, putVendor } from '../gateway/gateway.ts'
import {
  type Answerer,
  answerJson,
  answerOk,
  answerStream,
  cutStream,
  staySilent,
} from '../gateway/scripted-upstream.ts'
import { withGateway } from '../gateway/with-gateway.ts'

/** How far the gateway's clock is ahead, ms. */
let ahead = 0
/** Where it stands still, epoch ms. */
let stopped: number | undefined

const { gateway, ill, well, third } = await withGateway({
  upstreams: ['ill', 'well', 'third'],
  ops: true,
  now: () => (stopped ?? Date.now()) + ahead,
  catalogue: ({ ill, well, third }) => [
    ...putVendor('ill', ill.url),
    ...putVendor('well', well.url),
    ...putVendor('third', third.url),
    putModel('three'),
    putChain({ model: 'three', vendor: 'ill', priority: 1 }),
    putChain({ model: 'three', vendor: 'well', priority: 2 }),
    putChain({ model: 'three', vendor: 'third', priority: 3 }),
    putModel('lone'),
    putChain({ model: 'lone', vendor: 'ill' }),
    putModel('spare'),
    putChain({ model: 'spare', vendor: 'well' }),
  ],
})

beforeEach(async () => {
  stopped = undefined
  await gateway.resetHealth()
  await gateway.storage.accounts.patch(gateway.accountId, { fallbackModel: undefined })
  await gateway.catalogue(...putVendor('ill', ill.url))
  for (const upstream of [ill, well, third]) {
    upstream.requests.length = 0
    upstream.answer(WELL)
  }
})

/** The first chain says nothing, and is not waited for. */
async function silenceIll(): Promise<void> {
  await gateway.catalogue(...putVendor('ill', ill.url, { timeouts: { firstByteMs: 300 } }))
  ill.answer(staySilent)
}

/** The first chain begins like that, and is not waited for when nothing with a meaning follows. */
async function trickleIll(answer: Answerer): Promise<void> {
  await gateway.catalogue(...putVendor('ill', ill.url, { timeouts: { idleMs: 700 } }))
  ill.answer(answer)
}

const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
const chunk = (fields: object) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', ...fields })}\n\n`
const HELLO = chunk({ choices: [{ index: 0, delta: { role: 'assistant', content: 'Hello' } }] })
const END = `${chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: USAGE })}data: [DONE]\n\n`
const STREAM = answerStream([HELLO, END])
const WHOLE = answerOk(USAGE)
/** As it was asked for. */
const WELL: Answerer = (request, response) =>
  (request.json() as { stream?: boolean }).stream === true
    ? STREAM(request, response)
    : WHOLE(request, response)
const BREAKS_MIDWAY = cutStream([HELLO])
const BREAKS_WHOLE: Answerer = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '5000' })
  response.write('{"id":"c",')
  setImmediate(() => response.destroy())
}
const error = (type: string, message = 'no') => ({ error: { message, type, code: null, param: null } })
const BUSY = answerJson(error('server_error', 'the kiln is cold'), 503)
const refuses = (retryAfter?: string) =>
  answerJson(error('rate_limit_exceeded'), 429, retryAfter === undefined ? {} : { 'retry-after': retryAfter })

/** Begins like that, and then only keeps the connection alive. */
const trickle =
  (pieces: readonly string[]): Answerer =>
  (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const piece of pieces) response.write(piece)
    drip(response, ': wait\n\n')
  }

function drip(response: ServerResponse, drop: string): void {
  response.write(drop)
  const timer = setInterval(() => response.write(drop), 50)
  response.on('close', () => clearInterval(timer))
}

function chat(model: string, { key = gateway.key, ...fields }: { key?: string; stream?: boolean } = {}) {
  return postJson(
    `${gateway.baseUrl}/v1/chat/completions`,
    { model, messages: [{ role: 'user', content: 'Hi' }], ...fields },
    { authorization: `Bearer ${key}` },
  )
}

/** Calls one after the other. */
async function calls(count: number, model: string, fields: { readonly stream?: boolean } = {}) {
  const answers: Answer[] = []
  for (let index = 0; index < count; index += 1) answers.push(await chat(model, fields))
  await gateway.settled()
  return answers
}

const isWhole = ({ status, text }: Answer): boolean =>
  status === 200 &&
  (text.includes('[DONE]') || text.includes('"finish_reason":"stop"')) &&
  !text.includes('"error"')

async function chainOf(vendor: string, model = 'three'): Promise<AnswerBody> {
  const admin = await gateway.newAdmin()
  const { body } = await get(`${gateway.baseUrl}/api/v1/admin/chains`, admin.headers)
  const rows = body.data as readonly { vendor: string; model_id: string; health: AnswerBody }[]
  const found = rows.find((row) => row.vendor === vendor && row.model_id === model)
  if (found === undefined) throw new Error('no such chain')
  return found.health
}

describe('of three chains the first', () => {
  test('hangs before its head: 2 of 12 calls wait for it, all are answered', async () => {
    await silenceIll()
    const answers = await calls(12, 'three')
    expect(answers.filter(isWhole)).toHaveLength(12)
    expect([ill.requests.length, well.requests.length]).toEqual([2, 12])
    expect(await chainOf('ill')).toMatchObject({
      state: 'cooling-down',
      cause: 'failure',
      outcomes: '--',
      last_error: { kind: 'timeout', status: null, message: 'no first byte in time' },
    })
  })

  test('is ill: the operations port, the metrics and an explanation say why it is left alone', async () => {
    ill.answer(BUSY)
    await calls(2, 'three')
    const { body } = await get(`${gateway.opsUrl}/chains`)
    expect(body['troubled']).toMatchObject([
      {
        state: 'cooling-down',
        cause: 'failure',
        since: expect.any(String),
        cooling_until: expect.any(String),
        last_error: { status: 503, code: 'server_error', message: 'the kiln is cold' },
      },
    ])
    const metrics = await get(`${gateway.opsUrl}/metrics`)
    expect(metrics.text).toMatch(
      /sluice_chain_trouble\{chain="\d+",state="cooling-down",kind="overloaded"\} 1\n/,
    )
    const question = { body: { model: 'three', messages: [{ role: 'user', content: 'Hi' }] } }
    const explained = await postJson(`${gateway.baseUrl}/api/v1/user/user/explain`, question, {
      authorization: `Bearer ${gateway.key}`,
    })
    expect(explained.body.data).toMatchObject({
      routes: [
        {
          skipped: [
            {
              vendor_code: 'ill',
              reason: 'cooling-down',
              until: expect.any(String),
              // A customer hears no upstream's words: they may quote somebody else.
              last_error: 'overloaded',
            },
          ],
        },
      ],
    })
  })

  test('breaks every stream midway: 2 of 12 calls are broken, 10 are whole', async () => {
    ill.answer(BREAKS_MIDWAY)
    const answers = await calls(12, 'three', { stream: true })
    expect(answers.map(isWhole)).toEqual([false, false, ...Array.from({ length: 10 }, () => true)])
    expect([ill.requests.length, well.requests.length]).toEqual([2, 10])
  })

  test('breaks every whole answer: all 12 are answered by the next, none is asked of it twice', async () => {
    ill.answer(BREAKS_WHOLE)
    const answers = await calls(12, 'three')
    expect(answers.filter(isWhole)).toHaveLength(12)
    expect([ill.requests.length, well.requests.length]).toEqual([2, 12])
  })

  test('trickles before its answer begins: the next one answers, and after two calls at once', async () => {
    await trickleIll(trickle([]))
    const answers = await calls(6, 'three', { stream: true })
    expect(answers.filter(isWhole)).toHaveLength(6)
    expect([ill.requests.length, well.requests.length]).toEqual([2, 6])
    expect(await chainOf('ill')).toMatchObject({
      state: 'cooling-down',
      last_error: { kind: 'timeout', message: 'the answer arrived too slowly' },
    })
  })

  test('trickles after its answer began: the stream is broken off in the protocol’s words', async () => {
    await trickleIll(trickle([HELLO]))
    const answers = await calls(4, 'three', { stream: true })
    expect(answers.map(isWhole)).toEqual([false, false, true, true])
    expect(answers[0]?.text).toContain('"error"')
    expect(answers[0]?.text).not.toContain('[DONE]')
    expect((await gateway.logs(4)).at(-1)).toMatchObject({ ending: 'timeout', httpStatus: 200 })
  })

  test('trickles a whole answer: the next one answers', async () => {
    await trickleIll((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      drip(response, ' ')
    })
    expect((await calls(4, 'three')).filter(isWhole)).toHaveLength(4)
    expect(ill.requests).toHaveLength(2)
  })

  test('is found well again by one call after its pause, and serves as before', async () => {
    ill.answer(BUSY)
    await calls(3, 'three')
    expect(await chainOf('ill')).toMatchObject({
      state: 'cooling-down',
      last_error: { kind: 'overloaded', status: 503, code: 'server_error', message: 'the kiln is cold' },
    })
    ill.answer(WELL)
    ahead += 14_000
    await calls(1, 'three')
    expect(ill.requests).toHaveLength(2)
    ahead += 1_500
    await calls(3, 'three')
    expect(ill.requests).toHaveLength(5)
    expect(await chainOf('ill')).toMatchObject({ state: 'healthy', outcomes: '+++' })
  })

  test('is probed by one call at a time while the others go elsewhere', async () => {
    ill.answer(BUSY)
    await calls(2, 'three')
    ahead += 15_000
    await silenceIll()
    const probe = chat('three')
    while (ill.requests.length < 3) await new Promise((resolve) => setImmediate(resolve))
    const others = await calls(5, 'three')
    expect(others.filter(isWhole)).toHaveLength(5)
    expect(ill.requests).toHaveLength(3)
    expect(isWhole(await probe)).toBe(true)
    ahead += 29_000
    await calls(1, 'three')
    expect(ill.requests).toHaveLength(3)
  })

  test('is given back by a probe whose client left', async () => {
    ill.answer(BUSY)
    await calls(2, 'three')
    ahead += 15_000
    ill.answer(staySilent)
    const leaving = new AbortController()
    const left = fetch(`${gateway.baseUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'three', messages: [{ role: 'user', content: 'Hi' }] }),
      signal: leaving.signal,
    }).catch(() => undefined)
    while (ill.requests.length < 3) await new Promise((resolve) => setImmediate(resolve))
    leaving.abort()
    await left
    await gateway.settled()
    ill.answer(WELL)
    await calls(1, 'three')
    expect(ill.requests).toHaveLength(4)
    expect((await chainOf('ill'))['state']).toBe('healthy')
  })
})

describe('one customer cannot start a cooldown of a chain', () => {
  test('by requests the upstream refuses', async () => {
    ill.answer(answerJson(error('invalid_request_error'), 400))
    await calls(25, 'three')
    ill.answer(WELL)
    await calls(1, 'three')
    expect(ill.requests).toHaveLength(26)
    expect(await chainOf('ill')).toMatchObject({ state: 'healthy', outcomes: '+' })
  })

  test('by leaving', async () => {
    ill.answer(staySilent)
    for (let index = 0; index < 5; index += 1) {
      const call = fetch(`${gateway.baseUrl}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'three', messages: [{ role: 'user', content: 'Hi' }] }),
        signal: AbortSignal.timeout(60),
      }).catch(() => undefined)
      await call
    }
    await gateway.settled()
    expect(await chainOf('ill')).toMatchObject({ state: 'healthy', outcomes: '' })
  })
})

describe('when every chain is in a cooldown', () => {
  test('each is still tried, and the first that answers is healed', async () => {
    for (const upstream of [ill, well, third]) upstream.answer(BUSY)
    const refused = await calls(3, 'three')
    expect(refused.map(({ status }) => status)).toEqual([503, 503, 503])
    expect([ill, well, third].map(({ requests }) => requests.length)).toEqual([3, 3, 3])
    well.answer(WELL)
    expect((await calls(2, 'three')).every(isWhole)).toBe(true)
    expect(await chainOf('well')).toMatchObject({ state: 'healthy' })
    expect(well.requests).toHaveLength(5)
  })

  test('the fallback model answers meanwhile, before any chain is tried as a last resort', async () => {
    await gateway.storage.accounts.patch(gateway.accountId, { fallbackModel: (await spare()).modelId })
    await silenceIll()
    const answers = await calls(8, 'lone')
    expect(answers.every(({ body }) => body['model'] === 'spare')).toBe(true)
    expect([ill.requests.length, well.requests.length]).toEqual([2, 8])
  })

  test('and the chain is still tried where the fallback model fails too', async () => {
    await gateway.storage.accounts.patch(gateway.accountId, { fallbackModel: (await spare()).modelId })
    ill.answer(BUSY)
    well.answer(BUSY)
    await calls(2, 'lone')
    ill.answer(WELL)
    const [answer] = await calls(1, 'lone')
    expect(answer?.body['model']).toBe('lone')
    expect((await gateway.lastLog()).attempts.map(({ vendorCode, why }) => [vendorCode, why])).toEqual([
      ['well', 'fallback'],
      ['ill', 'priority'],
    ])
  })
})

async function spare() {
  const model = [...(await gateway.storage.catalogue.read()).models.values()].find(
    ({ modelId }) => modelId === 'spare',
  )
  if (model === undefined) throw new Error('no spare model')
  return model
}

describe('one customer draws one 429', () => {
  test.each([['7'], ['600']])(
    'with retry-after %s from the only chain: another customer is answered a second later',
    async (retryAfter) => {
      const victim = await gateway.newAccount()
      ill.script(refuses(retryAfter))
      expect((await chat('lone')).status).toBe(429)
      ahead += 1_000
      const startedWith = ill.requests.length
      const answers = [await chat('lone', { key: victim.key }), await chat('lone', { key: victim.key })]
      expect(answers.map(({ status }) => status)).toEqual([200, 200])
      expect(ill.requests).toHaveLength(startedWith + 2)
    },
  )

  test('that goes on: one call a second is let through, the others hear when it is over, at most 60 s', async () => {
    stopped = Date.now()
    ill.answer(refuses('600'))
    await chat('lone')
    const told = await chat('lone')
    expect([told.status, told.body.code]).toEqual([429, 42904])
    expect(Number(told.headers.get('retry-after'))).toBeLessThanOrEqual(60)
    for (let second = 0; second < 3; second += 1) {
      ahead += 1_000
      await Promise.all([chat('lone'), chat('lone'), chat('lone')])
    }
    expect(ill.requests).toHaveLength(4)
    expect(await chainOf('ill', 'lone')).toMatchObject({
      state: 'rate-limited',
      cause: 'rate-limit',
      outcomes: '',
      last_error: { kind: 'rate-limited', status: 429, code: 'rate_limit_exceeded' },
    })
  })

  test('without a time from the only chain: another customer is answered at once', async () => {
    const victim = await gateway.newAccount()
    ill.script(refuses())
    expect((await chat('lone')).status).toBe(429)
    expect((await chat('lone', { key: victim.key })).status).toBe(200)
  })

  test.each([['7'], [undefined]])(
    'with retry-after %s from one of several: nobody hears of it',
    async (retryAfter) => {
      ill.answer(refuses(retryAfter))
      expect((await calls(6, 'three')).every(isWhole)).toBe(true)
      expect(well.requests).toHaveLength(6)
    },
  )

  test('of a model: other models over the same credential go on', async () => {
    ill.script(refuses('30'))
    await chat('three')
    expect((await chat('lone')).status).toBe(200)
    expect(ill.requests).toHaveLength(2)
  })
})

test('how a chain is survives a refresh of the catalogue, and starts anew with another credential', async () => {
  ill.answer(BUSY)
  await calls(2, 'three')
  await gateway.catalogue(putModel('another'))
  expect((await chainOf('ill'))['state']).toBe('cooling-down')
  const { pipeline } = gateway.running
  const chain = [...pipeline.catalogue().models.values()]
    .flatMap(({ chains }) => chains)
    .find(({ vendorCode, modelId }) => vendorCode === 'ill' && modelId === 'three')
  if (chain === undefined) throw new Error('no such chain')
  expect(pipeline.health.of(chain).cooldown?.cause).toBe('failure')
  const [other] = [...pipeline.catalogue().credentials.keys()].filter((id) => id !== chain.credentialId)
  if (other === undefined) throw new Error('no other credential')
  expect(pipeline.health.of({ ...chain, credentialId: other }).cooldown).toBeUndefined()
})

test('an upstream’s words are shown without the credential, and not at length', async () => {
  ill.answer(async (request, response) => {
    const message = `you sent ${String(request.headers.authorization)} ${'x'.repeat(1_000)}`
    await answerJson(error('server_error', message), 500)(request, response)
  })
  await calls(1, 'three')
  const health = JSON.stringify(await chainOf('ill'))
  expect(health).toContain('you sent Bearer ***')
  expect(health).not.toContain('secret-of-ill-main')
  expect((await chainOf('ill'))['last_error']).toMatchObject({
    message: expect.stringMatching(/^you sent .{291}$/),
  })
})
