/** Limits of keys, accounts and upstream credentials as a client meets them. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Answer, postJson } from '../gateway/client.ts'
import { putChain, putCredential, putGroup, putModel, putVendor, TOKEN_PRICES } from '../gateway/gateway.ts'
import { type Answerer, answerJson } from '../gateway/scripted-upstream.ts'
import { ERRORS, type ErrorCode } from '../../src/core/errors/catalogue.ts'
import { GatewayError } from '../../src/core/errors/gateway-error.ts'
import { type Policy, UNLIMITED, type WindowLimit } from '../../src/core/limits/policy.ts'
import { microCredits } from '../../src/core/money.ts'
import { renderError } from '../../src/http/error-envelope.ts'
import { withGateway } from '../gateway/with-gateway.ts'

const HOUR = 3_600

/** 1000 + 500 tokens at 10 and 30 yuan a million are 25 Credits. */
const COMPLETION = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1000, completion_tokens: 500, total_tokens: 1500 },
}
const TOKENS_PER_CALL = 1_500
const CREDITS_PER_CALL = 25

const picture = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }
const withImages = (count: number) => ({
  ...COMPLETION,
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: '', images: Array.from({ length: count }, () => picture) },
      finish_reason: 'stop',
    },
  ],
})

/** Where the gateway's clock stands still, epoch ms. */
let stopped: number | undefined

const { gateway, upstream } = await withGateway({
  upstreams: ['upstream'],
  now: () => stopped ?? Date.now(),
  catalogue: ({ upstream }) => [
    ...putVendor('acme', upstream.url),
    ...putVendor('clay', upstream.url, { kind: 'anthropic' }),
    putModel('m'),
    putChain({ model: 'm', vendor: 'acme' }),
    putModel('picture', {
      pricing: {
        ...TOKEN_PRICES,
        billingModes: ['image'],
        inputPrice: null,
        outputPrice: null,
        imagePrice: '0.1',
      },
    }),
    putChain({ model: 'picture', vendor: 'acme' }),
    putModel('claude'),
    putChain({ model: 'claude', vendor: 'clay', protocol: 'messages' }),
    putGroup({ name: 'messages', protocol: 'messages', models: ['claude'] }),
    putModel('covered', { subscriptionCovered: true }),
    putChain({ model: 'covered', vendor: 'acme' }),
    putModel('pro', { requiredPlan: 2 }),
    putChain({ model: 'pro', vendor: 'acme' }),
  ],
})

beforeEach(() => upstream.answer(answerJson(COMPLETION)))

afterEach(() => {
  stopped = undefined
})

function chat(key: string, model = 'm', fields: object = {}): Promise<Answer> {
  return postJson(
    `${gateway.baseUrl}/v1/chat/completions`,
    { model, messages: [{ role: 'user', content: 'Hi' }], ...fields },
    { authorization: `Bearer ${key}` },
  )
}

const per = (dimension: WindowLimit['dimension'], limit: number, seconds = HOUR): WindowLimit => ({
  dimension,
  limit,
  seconds,
})
const windows = (...limits: readonly WindowLimit[]): Policy => ({ concurrency: undefined, windows: limits })

async function keyWith(policy: Policy): Promise<string> {
  return (await gateway.newKey(gateway.accountId, { policy })).key
}

/** An answer that waits: `arrived` resolves when the upstream has the request. */
function hold(answer: Answerer): { readonly arrived: Promise<void>; release(): void } {
  let release = (): void => undefined
  let arrive = (): void => undefined
  const released = new Promise<void>((resolve) => (release = resolve))
  const arrived = new Promise<void>((resolve) => (arrive = resolve))
  upstream.script(async (request, response) => {
    arrive()
    await released
    await answer(request, response)
  })
  return { arrived, release: () => release() }
}

/** Runs `during` while one call with this key waits at the upstream; both are over afterwards. */
async function whileRunning(
  key: string,
  model: string,
  during: () => Promise<void>,
  answer: Answerer = answerJson(COMPLETION),
): Promise<void> {
  const held = hold(answer)
  const running = chat(key, model)
  await held.arrived
  try {
    await during()
  } finally {
    held.release()
    expect((await running).status).toBe(200)
    await gateway.settled()
  }
}

const seen = (answer: Answer): readonly unknown[] => [answer.status, answer.body.code]
const isErrorCode = (code: number): code is ErrorCode => Object.hasOwn(ERRORS, code)
const retryAfter = (answer: Answer): number => Number(answer.headers.get('retry-after'))

describe('concurrency of a key', () => {
  test('one call more than the limit is refused at once with 42901 and Retry-After 1; the place is free when the call ends [2.6-07] [7.1-22] [7.1-23] [8-08] [8-09] [D-errors-10] [D-errors-24]', async () => {
    const key = await keyWith({ concurrency: 1, windows: [] })
    await whileRunning(key, 'm', async () => {
      const refused = await chat(key)
      expect(seen(refused)).toEqual([429, 42901])
      expect(refused.headers.get('retry-after')).toBe('1')
    })
    expect((await chat(key)).status).toBe(200)
  })

  test('is no window: calls refused by it take nothing of the request window [8-19]', async () => {
    const key = await keyWith({ concurrency: 1, windows: [per('requests', 2)] })
    await whileRunning(key, 'm', async () => {
      for (let call = 0; call < 3; call += 1) expect(seen(await chat(key))).toEqual([429, 42901])
    })
    expect((await chat(key)).status).toBe(200)
    expect(seen(await chat(key))).toEqual([429, 42902])
  })
})

describe('windows of a key', () => {
  test('requests: the call after the limit is 429/42902 [2.6-08] [7.1-24] [D-admission-20]', async () => {
    const key = await keyWith(windows(per('requests', 2)))
    const begun = Date.now()
    stopped = begun
    expect((await chat(key)).status).toBe(200)
    expect((await chat(key)).status).toBe(200)
    const refused = await chat(key)
    expect(seen(refused)).toEqual([429, 42902])
    expect(refused.body.message).toContain('rpm limit exceeded')
    expect(retryAfter(refused)).toBe(HOUR)
    const { message, details } = refused.body.error as {
      readonly message: string
      readonly details?: { readonly limit: { readonly opens_at: string } }
    }
    const opensAt = new Date(begun + HOUR * 1_000).toISOString()
    expect(details).toEqual({
      limit: { of: 'key', dimension: 'requests', limit: 2, seconds: HOUR, opens_at: opensAt },
    })
    expect(refused.body.message).toBe('rpm limit exceeded')
    expect(message).toBe(
      `rpm limit exceeded: the key may use 2 requests in ${HOUR} seconds; this window opens again at ${opensAt}`,
    )
  })

  test('tokens: once the sum is reached the next call is 429/42903 [2.6-09] [D-errors-12]', async () => {
    const key = await keyWith(windows(per('tokens', TOKENS_PER_CALL + 1)))
    expect((await chat(key)).status).toBe(200)
    await gateway.settled()
    expect((await chat(key)).status).toBe(200)
    await gateway.settled()
    expect(seen(await chat(key))).toEqual([429, 42903])
  })

  test('amount: once the Credits are spent the next call is 429/42902 [2.6-12] [7.1-27]', async () => {
    const key = await keyWith(windows(per('amount', CREDITS_PER_CALL)))
    expect((await chat(key)).status).toBe(200)
    await gateway.settled()
    const refused = await chat(key)
    expect(seen(refused)).toEqual([429, 42902])
    expect(refused.body.message).toContain('rpm limit exceeded')
  })

  test('images: each image in an answer counts, then 429/42902 [2.6-10] [7.1-25] [D-admission-31]', async () => {
    const key = await keyWith(windows(per('images', 3)))
    upstream.answer(answerJson(withImages(2)))
    expect((await chat(key, 'picture')).status).toBe(200)
    await gateway.settled()
    // two are used, this call takes the third; one image a call would leave room for the call after it
    expect((await chat(key, 'picture')).headers.get('ratelimit')).toMatch(/^"images-3600";r=0;t=\d+$/)
    await gateway.settled()
    const refused = await chat(key, 'picture')
    expect(seen(refused)).toEqual([429, 42902])
    expect(refused.body.message).toContain('rpm limit exceeded')
    // a model that makes no images is not held by the window
    expect((await chat(key, 'm')).status).toBe(200)
  })

  test('Retry-After is the time until the end of the window [8-23]', async () => {
    const key = await keyWith(windows(per('requests', 1, 100)))
    const begun = Date.now()
    stopped = begun
    await chat(key)
    stopped = begun + 30_000
    expect(retryAfter(await chat(key))).toBe(70)
  })

  test('a short and a long window refuse in turn; waiting for Retry-After is enough; of two full ones it names the later end [2.6-14] [7.3-04] [8-24] [D-admission-10]', async () => {
    const key = await keyWith(windows(per('requests', 1, 2), per('requests', 2, HOUR)))
    const begun = Date.now()
    stopped = begun
    expect((await chat(key)).status).toBe(200)
    const short = await chat(key)
    expect([seen(short), retryAfter(short)]).toEqual([[429, 42902], 2])
    stopped = begun + 2_000
    expect((await chat(key)).status).toBe(200)
    const both = await chat(key)
    expect([seen(both), retryAfter(both)]).toEqual([[429, 42902], HOUR - 2])
  })
})

describe('when a call is counted', () => {
  test('requests at admission: the second is refused while the first runs [D-admission-12]', async () => {
    const key = await keyWith(windows(per('requests', 1)))
    await whileRunning(key, 'm', async () => expect(seen(await chat(key))).toEqual([429, 42902]))
  })

  test('images at admission: one is taken by a call billed by image [D-admission-13] [D-admission-32]', async () => {
    const key = await keyWith(windows(per('images', 1)))
    const answer = answerJson(withImages(1))
    const during = async () => expect(seen(await chat(key, 'picture'))).toEqual([429, 42902])
    await whileRunning(key, 'picture', during, answer)
  })

  test.each([
    ['[D-admission-15]', per('tokens', 1), 42903],
    ['[D-admission-16]', per('amount', 1), 42902],
  ] as const)(
    '%s %o at settlement: admitted while the first runs, refused after',
    async (_id, limit, code) => {
      const key = await keyWith(windows(limit))
      await whileRunning(key, 'm', async () => expect((await chat(key)).status).toBe(200))
      expect(seen(await chat(key))).toEqual([429, code])
    },
  )

  test.each(['m', 'picture'])(
    'a call to %s that the upstream refuses was sent: it stays counted as a request, and gives its images back [D-admission-19]',
    async (model) => {
      const key = await keyWith(windows(per('requests', 2), per('images', 1)))
      upstream.answer(answerJson({ error: { message: 'bad', type: 'invalid_request_error' } }, 400))
      expect((await chat(key, model)).status).toBe(400)
      await gateway.settled()
      upstream.answer(answerJson(withImages(1)))
      expect((await chat(key, model)).status).toBe(200)
      await gateway.settled()
      expect(seen(await chat(key, model))).toEqual([429, 42902])
    },
  )

  test('a call that could not be sent to any upstream gives its request back [D-admission-19]', async () => {
    await gateway.catalogue(
      ...putVendor('nowhere', 'http://127.0.0.1:9'),
      putModel('unreachable'),
      putChain({ model: 'unreachable', vendor: 'nowhere' }),
    )
    const key = await keyWith(windows(per('requests', 1)))
    for (let time = 0; time < 2; time += 1) {
      expect((await chat(key, 'unreachable')).status).toBe(502)
      await gateway.settled()
    }
  })
})

describe('order of checks', () => {
  test('the right to call comes before limits and concurrency [D-admission-07]', async () => {
    const { id, key } = await gateway.newAccount({
      keyFields: { policy: { concurrency: 0, windows: [per('requests', 1)] } },
    })
    expect(seen(await chat(key))).toEqual([429, 42901])
    await gateway.storage.accounts.patch(id, { apiDeduction: false })
    expect(seen(await chat(key))).toEqual([403, 40202])
  })

  test('a call refused by a limit holds nothing [D-admission-08]', async () => {
    const { id, key } = await gateway.newAccount({ keyFields: { policy: windows(per('requests', 1)) } })
    await whileRunning(key, 'm', async () => {
      const { held } = await gateway.account(id)
      expect(held > 0n).toBe(true)
      expect(seen(await chat(key))).toEqual([429, 42902])
      expect((await gateway.account(id)).held).toBe(held)
    })
    expect(seen(await chat(key))).toEqual([429, 42902])
    expect((await gateway.account(id)).held).toBe(0n)
  })

  test('a refused call consumes nothing in any dimension, whatever refuses it [D-admission-11]', async () => {
    const roomy = windows(per('requests', 100), per('tokens', 1e6), per('images', 100), per('amount', 1e6))
    const { id, key, keyId } = await gateway.newAccount({ keyFields: { policy: roomy } })
    upstream.answer(answerJson(withImages(1)))
    const readings = async (): Promise<ReadonlyMap<string, number>> => {
      const answer = await chat(key, 'picture')
      expect(answer.status).toBe(200)
      await gateway.settled()
      return new Map(
        [...(answer.headers.get('ratelimit') ?? '').matchAll(/"(\w+)-3600";r=(\d+)/g)].map(
          ([, dimension, remaining]) => [dimension ?? '', Number(remaining)],
        ),
      )
    }
    await readings()
    const before = await readings()
    expect([...before.keys()].sort()).toEqual(['amount', 'images', 'requests', 'tokens'])

    const { accounts, keys } = gateway.storage
    const refusals: readonly [number, () => Promise<unknown>, string?][] = [
      [42901, () => accounts.patch(id, { policy: { concurrency: 0, windows: [] } })],
      [42902, () => accounts.patch(id, { policy: windows(per('requests', 0)) })],
      [42902, () => accounts.patch(id, { policy: windows(per('images', 0)) })],
      [42902, () => accounts.patch(id, { policy: windows(per('amount', 0)) })],
      [42903, () => accounts.patch(id, { policy: windows(per('tokens', 0)) })],
      [40202, () => accounts.patch(id, { policy: UNLIMITED, apiDeduction: false })],
      [42906, () => accounts.patch(id, { apiDeduction: true, monthlyCap: microCredits(1n) })],
      [40203, () => accounts.patch(id, { monthlyCap: microCredits(0n) }), 'pro'],
      [50201, async () => undefined, 'no-such-model'],
      [40303, () => accounts.patch(id, { status: 'suspended' })],
      [40102, () => keys.patch(keyId, { status: 'disabled' })],
    ]
    for (const [code, arrange, model = 'picture'] of refusals) {
      await arrange()
      if (code === 40102) await accounts.patch(id, { status: 'active' })
      expect((await chat(key, model)).body.code).toBe(code)
    }
    await keys.patch(keyId, { status: 'enabled' })

    const after = await readings()
    expect(after.get('requests')).toBe((before.get('requests') ?? 0) - 1)
    expect(after.get('images')).toBe((before.get('images') ?? 0) - 1)
    expect(after.get('amount')).toBe((before.get('amount') ?? 0) - 100)
    expect(after.get('tokens')).toBe((before.get('tokens') ?? 0) - TOKENS_PER_CALL)
  })
})

describe('limits of an account', () => {
  test('are shared by its keys and answer with the code of the dimension [D-admission-21] [D-admission-28] [D-errors-16]', async () => {
    const { id, key } = await gateway.newAccount({ policy: windows(per('requests', 1)) })
    const second = await gateway.newKey(id)
    expect((await chat(key)).status).toBe(200)
    expect(seen(await chat(second.key))).toEqual([429, 42902])
  })

  test('tokens of an account answer 42903, its concurrency 42901 [D-admission-28]', async () => {
    const { id, key } = await gateway.newAccount({ policy: windows(per('tokens', 1)) })
    const second = await gateway.newKey(id)
    await chat(key)
    await gateway.settled()
    expect(seen(await chat(second.key))).toEqual([429, 42903])
    await gateway.storage.accounts.patch(id, { policy: { concurrency: 1, windows: [] } })
    await whileRunning(key, 'm', async () => expect(seen(await chat(second.key))).toEqual([429, 42901]))
  })
})

test('a key without limits is promised none [8-39]', async () => {
  const answer = await chat(await keyWith(UNLIMITED))
  expect(answer.status).toBe(200)
  expect([answer.headers.get('ratelimit'), answer.headers.get('ratelimit-policy')]).toEqual([null, null])
})

test('limits of an upstream credential: when its window is full no call goes over it [D-admission-22]', async () => {
  await gateway.catalogue(
    putCredential('acme', 'narrow', windows(per('requests', 1))),
    putModel('narrow'),
    putChain({ model: 'narrow', vendor: 'acme', credentialName: 'narrow' }),
  )
  expect((await chat(gateway.key, 'narrow')).status).toBe(200)
  const sent = upstream.requests.length
  const second = await chat(gateway.key, 'narrow')
  expect(seen(second)).toEqual([429, 42904])
  expect(retryAfter(second)).toBeGreaterThan(HOUR - 30)
  expect(upstream.requests.length).toBe(sent)
})

test('at gateway_base_url a key over its limit is 429 [7.2-07]', async () => {
  const { key } = await gateway.newKey(gateway.accountId, {
    group: 'messages',
    policy: windows(per('requests', 1)),
  })
  upstream.answer(
    answerJson({
      id: 'a',
      type: 'message',
      role: 'assistant',
      model: 'x',
      content: [{ type: 'text', text: 'ok' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 1, output_tokens: 1 },
    }),
  )
  const send = () =>
    postJson(
      `${gateway.gatewayUrl}/v1/messages`,
      { model: 'claude', max_tokens: 10, messages: [{ role: 'user', content: 'Hi' }] },
      { 'x-api-key': key },
    )
  expect((await send()).status).toBe(200)
  const refused = await send()
  expect(seen(refused)).toEqual([429, 42902])
  expect(refused.headers.get('retry-after')).toMatch(/^\d+$/)
})

describe('every 429 of the gateway', () => {
  const codes = Object.entries(ERRORS).flatMap(([code, { status }]) => (status === 429 ? [Number(code)] : []))

  test('has a code in 42901-42908, 42910 apart [7.1-29]', () => {
    expect(codes.filter((code) => !(code >= 42901 && code <= 42908))).toEqual([42910])
  })

  test.each([undefined, 0, 1, 1_000, 1_000.4, 61_500])(
    'carries Retry-After in whole seconds, at least 1: a wait of %s ms [7.3-03] [D-errors-22] [D-errors-23]',
    (retryAfterMs) => {
      for (const code of Object.keys(ERRORS).map(Number).filter(isErrorCode)) {
        const error = new GatewayError(code, retryAfterMs === undefined ? {} : { retryAfterMs })
        if (error.status !== 429) continue
        const { headers } = renderError(error, { requestId: 'r', path: '/v1/chat/completions' })
        expect(headers['retry-after']).toBe(String(Math.max(1, Math.ceil((retryAfterMs ?? 0) / 1000))))
      }
    },
  )
})

describe('Retry-After over the wire', () => {
  test.each<readonly [code: number, refused: () => Promise<Answer>]>([
    [42901, async () => chat(await keyWith({ concurrency: 0, windows: [] }))],
    [42902, async () => chat(await keyWith(windows(per('requests', 0))))],
    [42903, async () => chat(await keyWith(windows(per('tokens', 0, 1))))],
    [
      42904,
      async () => {
        await gateway.catalogue(
          ...putVendor('busy', upstream.url),
          putModel('busy'),
          putChain({ model: 'busy', vendor: 'busy' }),
        )
        const error = { error: { message: 'slow down', type: 'rate_limit_exceeded' } }
        upstream.script(answerJson(error, 429, { 'retry-after': '20' }))
        await chat(gateway.key, 'busy')
        return chat(gateway.key, 'busy')
      },
    ],
    [
      42905,
      async () => {
        const quota = [{ credits: microCredits(1_000_000n), seconds: HOUR }]
        const { id, key } = await gateway.newAccount({ credits: 0, apiDeduction: false })
        await gateway.storage.accounts.patch(id, {
          subscription: { plan: 'pro', level: 2, expiresAt: Date.now() + 86_400_000, quota },
        })
        await chat(key, 'covered')
        await gateway.settled()
        return chat(key, 'covered')
      },
    ],
    [
      42906,
      async () => {
        const { key } = await gateway.newAccount({ monthlyCap: microCredits(1n) })
        return chat(key)
      },
    ],
  ])(
    '%i carries it in whole seconds, at least 1 [7.3-03] [D-errors-22] [D-errors-23]',
    async (code, refused) => {
      const answer = await refused()
      expect(seen(answer)).toEqual([429, code])
      expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
    },
  )
})

describe('RateLimit headers', () => {
  test('name every window with its limit, its length and what this call leaves', async () => {
    const key = await keyWith(windows(per('requests', 5, 60), per('tokens', 10_000)))
    const answer = await chat(key)
    expect(answer.headers.get('ratelimit-policy')).toBe(
      '"requests-60";q=5;w=60, "tokens-3600";q=10000;w=3600',
    )
    expect(answer.headers.get('ratelimit')).toMatch(/^"requests-60";r=4;t=60, "tokens-3600";r=10000;t=\d+$/)
    await gateway.settled()
    expect((await chat(key)).headers.get('ratelimit')).toMatch(
      /^"requests-60";r=3;t=\d+, "tokens-3600";r=8500;t=\d+$/,
    )
  })

  test('of two windows of a dimension the tighter one is reported, of key and account alike', async () => {
    const { key } = await gateway.newAccount({
      policy: windows(per('requests', 2, 30)),
      keyFields: { policy: windows(per('requests', 9, 60), per('requests', 7, HOUR)) },
    })
    expect((await chat(key)).headers.get('ratelimit')).toBe('"requests-30";r=1;t=30')
  })

  test('stand on a refusal too, and tell of the window that Retry-After waits for', async () => {
    const { key } = await gateway.newAccount({
      policy: windows(per('requests', 1, 30)),
      keyFields: { policy: windows(per('tokens', 10_000)) },
    })
    expect((await chat(key)).status).toBe(200)
    await gateway.settled()
    const { status, headers } = await chat(key)
    expect(status).toBe(429)
    expect(headers.get('ratelimit-policy')).toBe('"tokens-3600";q=10000;w=3600, "requests-30";q=1;w=30')
    const wait = String(headers.get('retry-after'))
    expect(headers.get('ratelimit')).toMatch(
      new RegExp(`^"tokens-3600";r=8500;t=\\d+, "requests-30";r=0;t=${wait}$`),
    )
  })

  test('stand on no refusal that comes before the limits', async () => {
    const { key } = await gateway.newAccount({ credits: 0, policy: windows(per('requests', 5, 60)) })
    const { status, headers } = await chat(key)
    expect([status, headers.get('ratelimit')]).toEqual([403, null])
  })

  test('are absent where nothing is limited', async () => {
    const { headers } = await chat(gateway.key)
    expect([headers.get('ratelimit'), headers.get('ratelimit-policy')]).toEqual([null, null])
  })
})
