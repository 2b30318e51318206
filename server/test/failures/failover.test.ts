/**
 * What each upstream failure does, in each phase of an answer: the status and body the client sees, the attempts, the
 * cooldown, the charge.
 */
import { beforeEach, describe, expect, test } from 'vitest'
import { postJson, type Answer } from '../gateway/client.ts'
import { PATIENCE_MS, putChain, putModel, putVendor } from '../gateway/gateway.ts'
import {
  answerJson,
  answerStream,
  type Answerer,
  cutStream,
  hangUp,
  staySilent,
} from '../gateway/scripted-upstream.ts'
import { modelId } from '../../src/core/ids.ts'
import { withGateway } from '../gateway/with-gateway.ts'

/** Where the gateway's clock stands still, epoch ms. */
let stopped: number | undefined

const { gateway, first, second } = await withGateway({
  upstreams: ['first', 'second'],
  now: () => stopped ?? Date.now(),
})

/** Everything as it was, whatever the test before has changed. */
beforeEach(async () => {
  stopped = undefined
  first.requests.length = 0
  second.requests.length = 0
  await gateway.catalogue(
    ...putVendor('one', first.url),
    ...putVendor('two', second.url),
    putModel('twin'),
    putChain({ model: 'twin', vendor: 'one', priority: 1, forward: 'one-model' }),
    putChain({ model: 'twin', vendor: 'two', priority: 2, forward: 'two-model' }),
    putModel('lone'),
    putChain({ model: 'lone', vendor: 'one', forward: 'one-model' }),
    putModel('spare', { pricing: { ...PRICES, inputPrice: '100', outputPrice: '300' } }),
    putChain({ model: 'spare', vendor: 'two', forward: 'spare-model' }),
  )
  await gateway.resetHealth()
  await gateway.storage.accounts.patch(gateway.accountId, { fallbackModel: undefined })
})

/** The first vendor says nothing, and is not waited for any longer. */
const silentSoon = (timeouts = { firstByteMs: 300, idleMs: 300 }) =>
  gateway.catalogue(...putVendor('one', first.url, { timeouts }))

/** Nobody listens at the first vendor's address. */
const closeFirst = () => gateway.catalogue(...putVendor('one', 'http://127.0.0.1:9'))

const PRICES = {
  currency: 'CNY',
  billingModes: ['token'] as const,
  inputPrice: '10',
  outputPrice: '30',
  cacheInputPrice: null,
  cacheOutputPrice: null,
  cacheWritePrice: null,
  cacheWrite1hPrice: null,
  requestPrice: null,
  imagePrice: null,
  videoPrice: null,
  characterPrice: null,
  audioSecondPrice: null,
}

const USAGE = { prompt_tokens: 1000, completion_tokens: 500, total_tokens: 1500 }
const completion = (model: string, content = 'fine') => ({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model,
  choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
  usage: USAGE,
})
const chunk = (fields: object) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', ...fields })}\n\n`
const ROLE = chunk({ choices: [{ index: 0, delta: { role: 'assistant', content: '' } }] })
const HELLO = chunk({ choices: [{ index: 0, delta: { content: 'Hello' } }] })
const FINISH = chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: USAGE })
const DONE = 'data: [DONE]\n\n'
const GOOD_STREAM = [ROLE, HELLO, FINISH, DONE]
const upstreamError = (type: string, message = 'no') => ({
  error: { message, type, code: null, param: null },
})

function chat(model: string, fields: object = {}): Promise<Answer> {
  return postJson(
    `${gateway.baseUrl}/v1/chat/completions`,
    { model, messages: [{ role: 'user', content: 'Hi' }], ...fields },
    { authorization: `Bearer ${gateway.key}` },
  )
}

interface FailureCase {
  readonly name: string
  readonly answer: Answerer
  readonly outcome: string
  /** Chain may not be used again at once. */
  readonly rests: boolean
}

const FAILURES: readonly FailureCase[] = [
  {
    name: '500',
    answer: answerJson(upstreamError('server_error'), 500),
    outcome: 'overloaded',
    rests: false,
  },
  {
    name: '502',
    answer: answerJson(upstreamError('server_error'), 502),
    outcome: 'overloaded',
    rests: false,
  },
  {
    name: '503',
    answer: answerJson(upstreamError('server_error'), 503),
    outcome: 'overloaded',
    rests: false,
  },
  {
    name: '504',
    answer: answerJson(upstreamError('server_error'), 504),
    outcome: 'overloaded',
    rests: false,
  },
  {
    name: '529',
    answer: answerJson(upstreamError('overloaded_error'), 529),
    outcome: 'overloaded',
    rests: false,
  },
  { name: '408', answer: answerJson(upstreamError('timeout'), 408), outcome: 'overloaded', rests: false },
  {
    name: '429',
    answer: answerJson(upstreamError('rate_limit_exceeded'), 429, { 'retry-after': '7' }),
    outcome: 'rate-limited',
    rests: true,
  },
  {
    name: '429 insufficient_quota',
    answer: answerJson(
      { error: { message: 'no', type: 'insufficient_quota', code: 'insufficient_quota' } },
      429,
    ),
    outcome: 'quota',
    rests: true,
  },
  {
    name: '401',
    answer: answerJson(upstreamError('authentication_error'), 401),
    outcome: 'auth',
    rests: true,
  },
  { name: '402', answer: answerJson(upstreamError('billing_error'), 402), outcome: 'quota', rests: true },
  { name: '403', answer: answerJson(upstreamError('permission_error'), 403), outcome: 'auth', rests: true },
  {
    name: '404',
    answer: answerJson(upstreamError('not_found_error'), 404),
    outcome: 'not-found',
    rests: false,
  },
  { name: 'no answer in time', answer: staySilent, outcome: 'timeout', rests: false },
  {
    name: 'an error inside a 200',
    answer: answerJson(upstreamError('server_error'), 200),
    outcome: 'overloaded',
    rests: false,
  },
  { name: 'a 200 that is no JSON', answer: answerJson('<html>', 200), outcome: 'cut', rests: false },
]

describe('before anything was sent, the next chain answers', () => {
  test.each(FAILURES)('non-streamed: $name [1-41] [1-61] [1-39]', async ({ answer, outcome, rests }) => {
    if (answer === staySilent) await silentSoon()
    first.answer(answer)
    second.answer(answerJson(completion('two-model')))
    const got = await chat('twin')
    expect(got.status).toBe(200)
    expect(got.body).toEqual(completion('twin'))
    const log = await gateway.lastLog()
    expect(log.attempts.map((attempt) => [attempt.vendorCode, attempt.outcome])).toEqual([
      ['one', outcome],
      ['two', 'answered'],
    ])
    expect(log.attempts[1]?.why).toBe('failover')
    expect(log.attempts[0]?.cooldownMs !== undefined).toBe(rests)
    expect(log.amount).toBe(1000n * 10_000n + 500n * 30_000n)
  })

  test.each(FAILURES)(
    'streamed, before the first meaningful event: $name [D-fallback-04]',
    async ({ answer }) => {
      if (answer === staySilent) await silentSoon()
      first.answer(answer)
      second.answer(answerStream(GOOD_STREAM))
      const got = await chat('twin', { stream: true })
      expect(got.status).toBe(200)
      expect(got.text).toContain('Hello')
      expect(got.text.endsWith(DONE)).toBe(true)
      expect((await gateway.lastLog()).attempts.map((attempt) => attempt.vendorCode)).toEqual(['one', 'two'])
    },
  )

  test.each<[string, Answerer]>([
    [
      'an error event inside the 200 stream',
      answerStream([ROLE, 'data: {"error":{"message":"busy","type":"server_error"}}\n\n']),
    ],
    ['a cut after the role chunk', cutStream([ROLE])],
    ['an end without a terminator', answerStream([ROLE])],
    [
      'silence after the role chunk',
      async (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(ROLE)
      },
    ],
  ])('streamed, role chunk sent, then %s', async (name, answer) => {
    if (name.startsWith('silence')) await silentSoon()
    first.answer(answer)
    second.answer(answerStream(GOOD_STREAM))
    const got = await chat('twin', { stream: true })
    expect(got.text.match(/"role":"assistant"/g)).toHaveLength(1)
    expect(got.text.endsWith(DONE)).toBe(true)
  })

  test('a refused connection is tried once more on the same chain, then on the next', async () => {
    await closeFirst()
    second.answer(answerJson(completion('two-model')))
    expect((await chat('twin')).status).toBe(200)
    expect((await gateway.lastLog()).attempts.map((attempt) => attempt.why)).toEqual([
      'priority',
      'retry',
      'failover',
    ])
  })

  test.each<[string, Answerer]>([
    ['before its head', hangUp],
    [
      'after its head',
      (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json' })
        response.flushHeaders()
        setImmediate(() => response.destroy())
      },
    ],
    [
      'short of its length',
      (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': '5000' })
        response.write('{"id":"c",')
        setImmediate(() => response.destroy())
      },
    ],
  ])(
    'a whole answer that breaks %s goes to the next chain: the same one may bill it twice',
    async (_name, answer) => {
      first.answer(answer)
      second.answer(answerJson(completion('two-model')))
      expect((await chat('twin')).status).toBe(200)
      expect(first.requests).toHaveLength(1)
      expect((await gateway.lastLog()).attempts.map(({ why, outcome }) => [why, outcome])).toEqual([
        ['priority', 'cut'],
        ['failover', 'answered'],
      ])
    },
  )

  test('a vendor that is changed while it is called is judged as it was when the call began', async () => {
    first.answer(async (request, response) => {
      await gateway.catalogue(...putVendor('one', first.url, { kind: 'kling' }))
      await answerJson(upstreamError('server_error'), 503)(request, response)
    })
    second.answer(answerJson(completion('two-model')))
    expect((await chat('twin')).status).toBe(200)
    expect((await gateway.lastLog()).attempts.map((attempt) => attempt.outcome)).toEqual([
      'overloaded',
      'answered',
    ])
  })

  test.each([400, 413, 422])(
    'a %i blames the request: no other chain is tried, nothing is charged [1-35] [7.3-02] [7.3-11] [D-fallback-10]',
    async (status) => {
      const body = `{"error":{"message":"bad","type":"invalid_request_error"},"n":1.0}`
      first.answer(answerJson(body, status))
      const got = await chat('twin')
      expect([got.status, got.text]).toEqual([status, body])
      expect(second.requests).toHaveLength(0)
      const log = await gateway.lastLog()
      expect([log.amount, log.deducted]).toEqual([0n, 0n])
      expect((await gateway.account()).held).toBe(0n)
    },
  )
})

describe('after the answer has begun', () => {
  test('a broken stream ends with an error object without [DONE], and what was produced is charged [6.1-04] [6.1-05] [7.3-08] [7.3-09] [D-errors-30] [D-errors-31] [D-errors-36]', async () => {
    first.answer(cutStream([ROLE, HELLO]))
    const got = await chat('twin', { stream: true })
    expect(got.status).toBe(200)
    expect(got.text).toContain('Hello')
    expect(got.text).toContain('"error"')
    expect(got.text).not.toContain('[DONE]')
    expect(got.text).not.toContain('"finish_reason":"stop"')
    expect(second.requests).toHaveLength(0)
    const log = await gateway.lastLog()
    expect(log).toMatchObject({ ending: 'upstream-cut', usageSource: 'estimated', httpStatus: 200 })
    expect(log.usage.output).toBe(1)
    expect(log.amount > 0n).toBe(true)
  })

  test('silence is ended by the idle time-out and reported as an error', async () => {
    await silentSoon({ firstByteMs: PATIENCE_MS, idleMs: 300 })
    first.answer(async (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(ROLE + HELLO)
    })
    const got = await chat('twin', { stream: true })
    expect(got.text).toContain('"error"')
    expect(got.text).not.toContain('[DONE]')
    expect((await gateway.lastLog()).ending).toBe('timeout')
  })

  test('an error event of the upstream is passed on as it came, once', async () => {
    const event = 'data: {"error":{"message":"broke","type":"server_error"}}\n\n'
    first.answer(answerStream([ROLE, HELLO, event, DONE]))
    const got = await chat('twin', { stream: true })
    // [6.1-04] some upstreams write the terminator even then; a broken stream never carries it
    expect(got.text.endsWith(event)).toBe(true)
    expect(got.text.match(/"error"/g)).toHaveLength(1)
    expect((await gateway.lastLog()).ending).toBe('upstream-error')
  })
})

describe('cooldown', () => {
  test('after an upstream 429 the next call goes to the other chain [1-42]', async () => {
    first.answer(answerJson(upstreamError('rate_limit_exceeded'), 429, { 'retry-after': '30' }))
    second.answer(answerJson(completion('two-model')))
    await chat('twin')
    await chat('twin')
    expect(first.requests).toHaveLength(1)
    expect(second.requests).toHaveLength(2)
    expect((await gateway.lastLog()).attempts[0]?.skipped).toMatchObject([{ reason: 'rate-limited' }])
  })

  test('when every chain is rate limited: the upstream error first, then 429/42904 with Retry-After and no attempt [D-errors-13] [D-errors-39]', async () => {
    // Within a second of the refusal; after that one call is let through.
    stopped = Date.now()
    first.answer(answerJson(upstreamError('rate_limit_exceeded'), 429, { 'retry-after': '30' }))
    const passed = await chat('lone')
    expect(passed.status).toBe(429)
    expect(passed.body).toEqual(upstreamError('rate_limit_exceeded'))
    expect(passed.headers.get('retry-after')).toBe('30')
    const refused = await chat('lone')
    expect([refused.status, refused.body.code]).toEqual([429, 42904])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(28)
    expect(first.requests).toHaveLength(1)
  })

  test('one 404 starts no cooldown, since a client may have named an unknown model; two do', async () => {
    first.answer(answerJson(upstreamError('not_found_error'), 404))
    second.answer(answerJson(completion('two-model')))
    await chat('twin')
    await chat('twin')
    await chat('twin')
    expect(first.requests).toHaveLength(2)
    expect((await gateway.lastLog()).attempts[0]?.skipped).toMatchObject([{ reason: 'cooling-down' }])
  })

  test('a lone chain that failed twice is still tried: a refusal would surely fail', async () => {
    first.answer(answerJson(upstreamError('server_error'), 500))
    await chat('lone')
    await chat('lone')
    expect((await chat('lone')).status).toBe(500)
    expect(first.requests).toHaveLength(3)
  })
})

describe('the error when every chain failed', () => {
  test('is the first real upstream error, byte for byte [D-errors-25] [D-errors-26] [D-errors-37]', async () => {
    const body = '{ "error": {"message":"one broke", "type":"server_error", "x":1.50} }'
    first.answer(answerJson(body, 500))
    second.answer(answerJson(upstreamError('server_error', 'two broke'), 503))
    const got = await chat('twin')
    expect([got.status, got.text]).toEqual([500, body])
  })

  test.each([401, 402, 403])(
    '%i on every chain becomes 502/50201 with the upstream body beside it [D-errors-38]',
    async (status) => {
      const body = upstreamError('authentication_error')
      first.answer(answerJson(body, status))
      const got = await chat('lone')
      expect([got.status, got.body.code, got.body.error?.type]).toEqual([502, 50201, 'gateway_error'])
      expect(got.body['upstream_body']).toEqual(body)
    },
  )

  test('a time-out is 504/50401 [7.1-34]', async () => {
    await silentSoon()
    first.answer(staySilent)
    const got = await chat('lone')
    expect([got.status, got.body.code]).toEqual([504, 50401])
  })

  test('no connection is 502/50201', async () => {
    await closeFirst()
    const got = await chat('lone')
    expect([got.status, got.body.code]).toEqual([502, 50201])
  })

  test('every chain switched off is 502/50201 with the contract’s message [7.1-32] [7.1-33]', async () => {
    await gateway.catalogue(
      putChain({ model: 'lone', vendor: 'one', forward: 'one-model', status: 'disabled' }),
    )
    const got = await chat('lone')
    expect([got.status, got.body.code]).toEqual([502, 50201])
    expect(got.body.message).toContain('no available upstream for this model')
  })
})

describe('fallback model', () => {
  beforeEach(async () => {
    await gateway.storage.accounts.patch(gateway.accountId, { fallbackModel: modelId('spare') })
    second.answer(answerJson(completion('spare-model')))
  })

  const lone: readonly FailureCase[] = FAILURES
  test.each(lone)(
    'is tried when the chains failed with $name [1-47] [1-51] [D-fallback-05] [D-fallback-06] [D-fallback-07] [D-fallback-13]',
    async ({ answer }) => {
      if (answer === staySilent) await silentSoon()
      first.answer(answer)
      const got = await chat('lone')
      expect(got.status).toBe(200)
      expect(got.body['model']).toBe('spare')
      expect(got.headers.get('gw-model')).toBe('spare')
      const log = await gateway.lastLog()
      expect(log).toMatchObject({ modelRequested: 'lone', model: 'spare' })
      expect(log.attempts.at(-1)?.why).toBe('fallback')
      // [1-56] at the price of the model actually used
      expect(log.amount).toBe(1000n * 100_000n + 500n * 300_000n)
    },
  )

  test('on a closed port, and model names the fallback [D-fallback-08] [1-55] [2.3-05] [D-requests-37]', async () => {
    await closeFirst()
    expect((await chat('lone')).body['model']).toBe('spare')
  })

  test('when every chain is off [D-fallback-09]', async () => {
    await gateway.catalogue(
      putChain({ model: 'lone', vendor: 'one', forward: 'one-model', status: 'disabled' }),
    )
    expect((await chat('lone')).body['model']).toBe('spare')
  })

  test.each([
    ['[D-fallback-10]', 400],
    ['[D-fallback-11]', 413],
    ['[D-fallback-12]', 422],
  ])('%s is not tried after a %i', async (_id, status) => {
    first.answer(answerJson(upstreamError('invalid_request_error'), status))
    expect((await chat('lone')).status).toBe(status)
    expect(second.requests).toHaveLength(0)
  })

  test('is not tried after a refusal by the model [D-fallback-14]', async () => {
    first.answer(
      answerJson({
        ...completion('one-model'),
        choices: [
          {
            index: 0,
            message: { role: 'assistant', content: null, refusal: 'I will not' },
            finish_reason: 'stop',
          },
        ],
      }),
    )
    expect((await chat('lone')).body['model']).toBe('lone')
    expect(second.requests).toHaveLength(0)
  })

  test('is tried once; when it fails too, the original error comes back [1-48] [1-52] [D-fallback-03]', async () => {
    first.answer(answerJson(upstreamError('server_error', 'original'), 500))
    second.answer(answerJson(upstreamError('server_error', 'spare broke'), 503))
    const got = await chat('lone')
    expect([got.status, got.body]).toEqual([500, upstreamError('server_error', 'original')])
    expect(second.requests).toHaveLength(1)
    expect((await gateway.lastLog()).attempts.filter((attempt) => attempt.why === 'fallback')).toHaveLength(1)
  })

  test('without one the original error comes back [1-53]', async () => {
    await gateway.storage.accounts.patch(gateway.accountId, { fallbackModel: undefined })
    first.answer(answerJson(upstreamError('server_error', 'original'), 500))
    expect((await chat('lone')).status).toBe(500)
    expect(second.requests).toHaveLength(0)
  })

  test('is not tried once anything was sent [D-fallback-04]', async () => {
    first.answer(cutStream([ROLE, HELLO]))
    await chat('lone', { stream: true })
    expect(second.requests).toHaveLength(0)
  })

  test('is routed like any model: its second chain serves when the first fails [1-49]', async () => {
    await gateway.catalogue(
      putModel('twin-spare'),
      putChain({ model: 'twin-spare', vendor: 'one', forward: 'spare-on-one', priority: 0 }),
      putChain({ model: 'twin-spare', vendor: 'two', forward: 'spare-model' }),
    )
    await gateway.storage.accounts.patch(gateway.accountId, { fallbackModel: modelId('twin-spare') })
    first.answer(answerJson(upstreamError('server_error'), 500))
    expect((await chat('lone')).body['model']).toBe('twin-spare')
    expect((await gateway.lastLog()).attempts.map((attempt) => attempt.vendorCode)).toEqual([
      'one',
      'one',
      'two',
    ])
  })

  test('goes through admission like any model: above the account’s level it is not called [1-50]', async () => {
    await gateway.catalogue(putModel('spare', { requiredPlan: 3 }))
    first.answer(answerJson(upstreamError('server_error', 'original'), 500))
    expect((await chat('lone')).body).toEqual(upstreamError('server_error', 'original'))
    expect(second.requests).toHaveLength(0)
  })
})
