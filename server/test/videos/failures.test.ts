/** What becomes of an order when something fails: at the order, on the way, upstream, at the poll. */
import { beforeEach, describe, expect, test } from 'vitest'
import { type Answer, get, postJson } from '../gateway/client.ts'
import { putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { type Answerer, answerJson, hangUp, staySilent } from '../gateway/scripted-upstream.ts'
import { ARK, creates, playArk, VIDEO_PRICES } from '../gateway/videos.ts'
import { modelId } from '../../src/core/ids.ts'
import { withGateway } from '../gateway/with-gateway.ts'

const LINK = 'https://videos.example/one.mp4'
const ORDER = { model: 'seedance', prompt: 'a cat on the moon', seconds: '5' }

/** Where the gateway's clock stands still, epoch ms. */
let stopped: number | undefined

const { gateway, first, second } = await withGateway({
  upstreams: ['first', 'second'],
  now: () => stopped ?? Date.now(),
  catalogue: ({ first, second }) => [
    ...putVendor('first', first.url, { kind: 'ark' }),
    ...putVendor('second', second.url, { kind: 'ark' }),
    // Nobody listens there.
    ...putVendor('nowhere', 'http://127.0.0.1:9', { kind: 'ark', timeouts: { connectMs: 300 } }),
    putModel('seedance', { supportFeatures: ['video'], pricing: VIDEO_PRICES }),
    putChain({ model: 'seedance', vendor: 'first', protocol: 'video', forward: 'seedance-1-0-pro' }),
    putChain({
      model: 'seedance',
      vendor: 'second',
      protocol: 'video',
      forward: 'seedance-1-0-pro',
      priority: 2,
    }),
    putModel('unreached', { supportFeatures: ['video'], pricing: VIDEO_PRICES }),
    putChain({ model: 'unreached', vendor: 'nowhere', protocol: 'video', forward: 'seedance-1-0-pro' }),
    putChain({
      model: 'unreached',
      vendor: 'second',
      protocol: 'video',
      forward: 'seedance-1-0-pro',
      priority: 2,
    }),
    putModel('expensive', { supportFeatures: ['video'], pricing: { ...VIDEO_PRICES, videoPrice: '2' } }),
    putChain({ model: 'expensive', vendor: 'second', protocol: 'video', forward: 'seedance-1-5-pro' }),
    putModel('only-first', { supportFeatures: ['video'], pricing: VIDEO_PRICES }),
    putChain({ model: 'only-first', vendor: 'first', protocol: 'video', forward: 'seedance-1-0-pro' }),
  ],
})
beforeEach(async () => {
  stopped = undefined
  await gateway.resetHealth()
  first.requests.length = 0
  second.requests.length = 0
  playArk(first, { polls: [ARK.done(LINK)] })
  playArk(second, { polls: [ARK.done(LINK)] })
})

/** Nobody waits for the first vendor longer than that meanwhile: it says nothing. */
async function whileHasty<Value>(firstByteMs: number, work: () => Promise<Value>): Promise<Value> {
  const put = (timeouts: { readonly firstByteMs?: number }) =>
    gateway.catalogue(...putVendor('first', first.url, { kind: 'ark', timeouts }))
  await put({ firstByteMs })
  try {
    return await work()
  } finally {
    await put({})
  }
}

function post(body: unknown, key = gateway.key): Promise<Answer> {
  return postJson(`${gateway.baseUrl}/v1/videos`, body, { authorization: `Bearer ${key}` })
}

/** The newest task of the key, as a list shows it. */
async function newest(): Promise<Record<string, unknown>> {
  const { body } = await get(`${gateway.baseUrl}/v1/videos?limit=1`, {
    authorization: `Bearer ${gateway.key}`,
  })
  const [task] = body.data as readonly Record<string, unknown>[]
  if (task === undefined) throw new Error('the list is empty')
  return task
}

describe('an order that no vendor took', () => {
  test.each<[name: string, answer: Answerer, said: string]>([
    [
      'a rate limit',
      answerJson({ error: { code: 'RateLimitExceeded', message: 'slow down' } }, 429),
      'slow down',
    ],
    [
      'an overloaded vendor',
      answerJson({ error: { code: 'InternalServiceError', message: 'oh' } }, 500),
      'oh',
    ],
    ['503 without a word', answerJson('', 503), ''],
    ['503 of a page', answerJson('<html><b>busy</b></html>', 503), 'busy'],
    [
      'a refused credential',
      answerJson({ error: { code: 'AuthenticationError', message: 'no key of ours' } }, 401),
      'no key of ours',
    ],
    ['an unknown model', answerJson({ error: { code: 'ModelNotOpen', message: 'no' } }, 404), 'no'],
  ])('goes to the next chain after %s', async (_name, create, said) => {
    playArk(first, { create, polls: [] })
    const answer = await post(ORDER)
    expect(answer).toMatchObject({ status: 200, body: { status: 'completed' } })
    expect(creates(first)).toHaveLength(1)
    expect(creates(second)).toHaveLength(1)
    const { attempts, vendorCode } = await gateway.lastLog()
    expect(vendorCode).toBe('second')
    expect(attempts).toMatchObject([
      { vendorCode: 'first', said },
      { vendorCode: 'second', why: 'failover' },
    ])
  })

  test('goes to the next chain when the port has no listener', async () => {
    const answer = await post({ ...ORDER, model: 'unreached' })
    expect(answer.status).toBe(200)
    expect(creates(second)).toHaveLength(1)
  })

  test('that the vendor blames has the vendor’s status and body, costs nothing and is recorded as failed [D-video-25] [D-video-26] [D-video-27] [D-video-04]', async () => {
    const refusal = {
      error: { code: 'InvalidParameter', message: 'duration is not one of mine', param: 'duration' },
    }
    playArk(first, { create: answerJson(refusal, 400), polls: [] })
    const before = (await gateway.account()).credits
    const answer = await post(ORDER)
    expect(answer.status).toBe(400)
    expect(answer.body).toEqual(refusal)
    expect(creates(second)).toHaveLength(0)
    const log = await gateway.lastLog()
    expect(log).toMatchObject({ httpStatus: 400, code: undefined, amount: 0n, deducted: 0n })
    expect((await gateway.account()).credits).toBe(before)
    expect((await gateway.account()).held).toBe(0n)
    expect(await newest()).toMatchObject({
      status: 'failed',
      error: { code: 'invalidparameter', message: 'duration is not one of mine' },
    })
  })

  test('that the vendor blames comes with none of the vendor’s headers: whose id it is called by is ours', async () => {
    const theirs = {
      'x-request-id': 'theirs',
      'x-tt-logid': 'log-1',
      'openai-organization': 'org-1',
      'set-cookie': 'who=we',
      server: 'ark-gateway/1.0',
    }
    playArk(first, { create: answerJson({ error: { code: 'InvalidParameter' } }, 400, theirs), polls: [] })
    const answer = await post(ORDER)
    expect(answer.status).toBe(400)
    const log = await gateway.lastLog()
    expect(answer.headers.get('x-request-id')).toBe(log.requestId)
    for (const name of ['x-tt-logid', 'openai-organization', 'set-cookie', 'server'])
      expect(answer.headers.get(name)).toBeNull()
  })

  test('that every chain refuses our credential for is 502/50201 with the vendor’s body beside it', async () => {
    const refusal = { error: { code: 'AuthenticationError', message: 'the key is wrong' } }
    playArk(first, { create: answerJson(refusal, 401), polls: [] })
    const answer = await post({ ...ORDER, model: 'only-first' })
    expect(answer).toMatchObject({ status: 502, body: { code: 50201, upstream_body: refusal } })
  })

  test('that every chain is too busy for is the vendor’s 429 with Retry-After, and 42904 while they rest', async () => {
    // Within a second of the refusal; after that one call is let through.
    stopped = Date.now()
    const busy = answerJson({ error: { code: 'RateLimitExceeded', message: 'slow down' } }, 429, {
      'retry-after': '7',
    })
    playArk(first, { create: busy, polls: [] })
    const answer = await post({ ...ORDER, model: 'only-first' })
    expect(answer.status).toBe(429)
    expect(answer.headers.get('retry-after')).toBe('7')
    const resting = await post({ ...ORDER, model: 'only-first' })
    expect(resting).toMatchObject({ status: 429, body: { code: 42904 } })
    expect(Number(resting.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(creates(first)).toHaveLength(1)
  })

  test('goes to the account’s fallback model, at that model’s price', async () => {
    const { key, id } = await gateway.newAccount({ fallbackModel: modelId('expensive') })
    playArk(first, { create: answerJson({ error: { code: 'InternalServiceError' } }, 500), polls: [] })
    const before = (await gateway.account(id)).credits
    const answer = await post({ ...ORDER, model: 'only-first' }, key)
    expect(answer).toMatchObject({ status: 200, body: { model: 'expensive' } })
    expect(before - (await gateway.account(id)).credits).toBe(10_000_000_000n)
    const log = await gateway.lastLog()
    expect(log).toMatchObject({ modelRequested: 'only-first', model: 'expensive' })
    expect(log.attempts.at(-1)).toMatchObject({ why: 'fallback' })
  })
})

describe('an order that may have arrived', () => {
  test.each<[name: string, answer: Answerer]>([
    ['hangs up after the order', hangUp],
    ['never answers', staySilent],
    ['answers through a gateway that gave up (504)', answerJson('<html>', 504)],
    ['answers 502 without a word of its own', answerJson('<html>', 502)],
  ])(
    'is 504/50401 and is sent to nobody again when the vendor %s [D-video-22] [D-video-24] [7.1-34]',
    async (_name, create) => {
      playArk(first, { create, polls: [] })
      const before = (await gateway.account()).credits
      const answer = await (create === staySilent ? whileHasty(300, () => post(ORDER)) : post(ORDER))
      expect(answer).toMatchObject({ status: 504, body: { code: 50401 } })
      expect(answer.headers.get('x-should-retry')).toBe('false')
      expect(creates(first)).toHaveLength(1)
      expect(creates(second)).toHaveLength(0)
      const log = await gateway.lastLog()
      expect(log).toMatchObject({ httpStatus: 504, code: 50401, ending: 'timeout' })
      expect(log.attempts).toMatchObject([{ vendorCode: 'first', said: expect.any(String) }])
      expect((await gateway.account()).credits).toBe(before)
      expect(await newest()).toMatchObject({ status: 'failed', error: { code: '50401' } })
    },
  )

  test('does not go to the fallback model either', async () => {
    const { key } = await gateway.newAccount({ fallbackModel: modelId('expensive') })
    playArk(first, { create: hangUp, polls: [] })
    const answer = await post({ ...ORDER, model: 'only-first' }, key)
    expect(answer.status).toBe(504)
    expect(creates(second)).toHaveLength(0)
  })

  test('and was answered with what cannot be read is not sent again', async () => {
    playArk(first, { create: answerJson({ hello: 'world' }), polls: [] })
    const answer = await post(ORDER)
    expect(answer).toMatchObject({ status: 502, body: { code: 50201, upstream_body: { hello: 'world' } } })
    expect(answer.headers.get('x-should-retry')).toBe('false')
    expect(creates(second)).toHaveLength(0)
  })
})

describe('a task that fails upstream', () => {
  test('is told in the vendor’s words, costs nothing, and is not made anew [D-video-25] [D-video-26] [D-video-27]', async () => {
    playArk(first, { polls: [ARK.running, ARK.failed] })
    const before = (await gateway.account()).credits
    const answer = await post(ORDER)
    expect(answer.status).toBe(502)
    expect(answer.body).toMatchObject({
      error: { message: 'the kiln broke', type: 'upstream_error', code: 'InternalServiceError' },
      upstream_body: ARK.failed,
    })
    expect(answer.headers.get('x-should-retry')).toBe('false')
    expect(creates(second)).toHaveLength(0)
    expect((await gateway.account()).credits).toBe(before)
    const task = await newest()
    expect(task).toMatchObject({ status: 'failed', error: { message: 'the kiln broke' }, url: null })
    expect(await gateway.lastLog()).toMatchObject({
      httpStatus: 502,
      deducted: 0n,
      ending: 'upstream-error',
      attempts: [{ vendorCode: 'first', outcome: 'failed', said: 'the kiln broke' }],
    })
  })

  test('for its content is a 400', async () => {
    playArk(first, { polls: [ARK.moderated] })
    const answer = await post(ORDER)
    expect(answer.status).toBe(400)
    expect(answer.body.error).toMatchObject({ type: 'upstream_error', message: 'not this' })
  })
})

describe('polls', () => {
  test('that are refused, cut or answered by nobody are no verdict', async () => {
    const troubles: Answerer[] = [
      answerJson({ error: { code: 'RateLimitExceeded' } }, 429),
      answerJson({ error: { code: 'InternalServiceError' } }, 500),
      hangUp,
      staySilent,
      answerJson({ id: 'cgt-1', status: 'dreaming' }),
      answerJson(ARK.done(LINK)),
    ]
    first.answer((request, response) =>
      request.method === 'POST'
        ? answerJson({ id: 'cgt-1' })(request, response)
        : (troubles.shift() ?? answerJson(ARK.done(LINK)))(request, response),
    )
    const answer = await whileHasty(3_000, () => post(ORDER))
    expect(answer).toMatchObject({ status: 200, body: { status: 'completed' } })
    expect(troubles).toHaveLength(0)
    expect(creates(first)).toHaveLength(1)
  })

  test('that find nothing three times in a row end the task', async () => {
    first.answer((request, response) =>
      request.method === 'POST'
        ? answerJson({ id: 'cgt-1' })(request, response)
        : answerJson({ error: { code: 'ResourceNotFound' } }, 404)(request, response),
    )
    const answer = await post(ORDER)
    expect(answer).toMatchObject({ status: 502, body: { code: 50201 } })
    expect(first.requests.filter(({ method }) => method === 'GET')).toHaveLength(3)
    expect((await gateway.account()).held).toBe(0n)
  })

  test('go on over the credential that created the task', async () => {
    await post(ORDER)
    const keys = new Set(first.requests.map(({ headers }) => headers.authorization))
    expect([...keys]).toEqual(['Bearer secret-of-first-main'])
  })
})
