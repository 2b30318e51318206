/**
 * What a call costs and who pays for it, seen from outside: the account, the ledger and the log.
 */
import { HOUR_MS } from '../../src/core/durations.ts'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { type Answer, get, postJson } from '../gateway/client.ts'
import { topUp } from '../gateway/customer.ts'
import { openGateway, putChain, putModel, putVendor, TOKEN_PRICES } from '../gateway/gateway.ts'
import { type Answerer, answerJson, type ScriptedUpstream } from '../gateway/scripted-upstream.ts'
import { readConfig } from '../../src/config/environment.ts'
import type { AccountRow, Transfer } from '../../src/core/ledger/hot-rows.ts'
import type { CallLogRow } from '../../src/core/ledger/log-row.ts'
import type { Pricing } from '../../src/core/catalogue.ts'
import { accountId, type AccountId, modelId, vendorCode } from '../../src/core/ids.ts'
import { UNLIMITED } from '../../src/core/limits/policy.ts'
import { microCredits } from '../../src/core/money.ts'
import { Secret } from '../../src/core/secret.ts'
import { createAccount } from '../../src/management/accounts/accounts.ts'
import { applyGatewayFile } from '../../src/management/gateway-file/apply-gateway-file.ts'
import { grantOpening } from '../../src/management/money/grants.ts'
import { createKey } from '../../src/management/keys/keys.ts'
import { startGateway } from '../../src/app/start-gateway.ts'
import type { Storage } from '../../src/storage/storage.ts'
import { withGateway } from '../gateway/with-gateway.ts'

const PRICES: Pricing = {
  ...TOKEN_PRICES,
  inputPrice: '10',
  outputPrice: '30',
  cacheInputPrice: '1',
  cacheOutputPrice: '15',
}
const byRequest = (requestPrice: string): Pricing => ({
  ...TOKEN_PRICES,
  billingModes: ['request'],
  inputPrice: null,
  outputPrice: null,
  cacheInputPrice: null,
  requestPrice,
})
/** At 1000 Credits a yuan every call costs exactly ten Credits. */
const TEN_CREDITS = byRequest('0.01')

const { gateway, upstream, other } = await withGateway({
  upstreams: ['upstream', 'other'],
  catalogue: ({ upstream, other }) => [
    ...putVendor('acme', upstream.url),
    ...putVendor('bolt', other.url),
    ...putVendor('keyless', other.url, { asksForKey: false }),
    putModel('on-keyless', { pricing: TEN_CREDITS }),
    putChain({ model: 'on-keyless', vendor: 'keyless' }),
    ...putVendor('own-server', other.url, { kind: 'vllm' }),
    putModel('on-own-server', { pricing: TEN_CREDITS }),
    putChain({ model: 'on-own-server', vendor: 'own-server' }),
    putModel('tokens', { pricing: PRICES, maxOutputTokens: 1_000_000, contextTokens: 2_000_000 }),
    putChain({ model: 'tokens', vendor: 'acme' }),
    putModel('doubled', { pricing: PRICES }),
    putChain({ model: 'doubled', vendor: 'acme', rateMultiplier: '2' }),
    putModel('two-chains', { pricing: PRICES }),
    putChain({ model: 'two-chains', vendor: 'acme', priority: 1, rateMultiplier: '2' }),
    putChain({ model: 'two-chains', vendor: 'bolt', priority: 2, rateMultiplier: '0.5' }),
    putModel('spare', { pricing: { ...PRICES, inputPrice: '100', outputPrice: '300' } }),
    putChain({ model: 'spare', vendor: 'bolt' }),
    putModel('images', {
      supportFeatures: ['image'],
      pricing: { ...byRequest('0'), billingModes: ['image'], requestPrice: null, imagePrice: '0.2' },
    }),
    putChain({ model: 'images', vendor: 'acme' }),
    putModel('ten', { pricing: TEN_CREDITS }),
    putChain({ model: 'ten', vendor: 'acme' }),
    putModel('covered', { pricing: TEN_CREDITS, subscriptionCovered: true }),
    putChain({ model: 'covered', vendor: 'acme' }),
    putModel('thousand', { pricing: byRequest('1') }),
    putChain({ model: 'thousand', vendor: 'acme' }),
    putModel('one-credit', { pricing: byRequest('0.001') }),
    putChain({ model: 'one-credit', vendor: 'acme' }),
    putModel('below-one', { pricing: byRequest('0.000999999') }),
    putChain({ model: 'below-one', vendor: 'acme' }),
    putModel('crumbs', { pricing: byRequest('0.001000001') }),
    putChain({ model: 'crumbs', vendor: 'acme' }),
  ],
})

beforeEach(async () => {
  upstream.requests.length = 0
  other.requests.length = 0
  upstream.answer(answerJson(completion({ prompt_tokens: 1, completion_tokens: 1 })))
  other.answer(answerJson(completion({ prompt_tokens: 1, completion_tokens: 1 })))
  await gateway.resetHealth()
})

interface Person {
  readonly id: AccountId
  readonly key: string
}

const completion = (usage: object, message: object = {}) => ({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'x',
  choices: [{ index: 0, message: { role: 'assistant', content: 'ok', ...message }, finish_reason: 'stop' }],
  usage,
})
const cached = (tokens: number) => ({ prompt_tokens_details: { cached_tokens: tokens } })
const broken: Answerer = answerJson({ error: { message: 'no', type: 'server_error' } }, 500)

/** Whole Credits, or to six decimals. */
const credits = (amount: number) => microCredits(BigInt(Math.round(amount * 1_000_000)))

function call(person: Pick<Person, 'key'>, model: string, fields: object = {}): Promise<Answer> {
  return postJson(
    `${gateway.baseUrl}/v1/chat/completions`,
    { model, messages: [{ role: 'user', content: 'Hi' }], ...fields },
    { authorization: `Bearer ${person.key}` },
  )
}

const said = (answer: Answer) => [answer.status, answer.body.code]

interface Bill {
  readonly row: CallLogRow
  /** What the account has less of after the call. */
  readonly paid: bigint
  /** What the ledger moved to revenue for this call. */
  readonly booked: bigint
}

/** One call that is answered 200, and what came of it. */
async function bill(person: Person, model: string, fields: object = {}): Promise<Bill> {
  const before = await gateway.account(person.id)
  expect((await call(person, model, fields)).status).toBe(200)
  const row = await gateway.lastLog()
  const after = await gateway.account(person.id)
  expect(after.held).toBe(0n)
  const charges = (await transfers(person.id)).filter(
    (transfer) => transfer.kind === 'charge' && transfer.transactionId === row.callId,
  )
  return {
    row,
    paid: before.credits - after.credits,
    booked: charges.reduce((sum, transfer) => sum + transfer.amount, 0n),
  }
}

/** The call over this model with this usage must cost exactly so many Credits, whichever way one looks at it. */
async function expectCost(usage: object, amount: number, model = 'tokens'): Promise<void> {
  upstream.answer(answerJson(completion(usage)))
  const { row, paid, booked } = await bill(await gateway.newAccount(), model)
  expect([row.amount, row.deducted, paid, booked]).toEqual([0, 0, 0, 0].map(() => credits(amount)))
}

function transfers(id: AccountId): Promise<readonly Transfer[]> {
  return gateway.storage.ledger.transfers({ accountId: id, limit: 500, after: undefined })
}

async function quotaCharged(id: AccountId): Promise<bigint> {
  const charges = (await transfers(id)).filter((transfer) => transfer.kind === 'quota-charge')
  return charges.reduce((sum, transfer) => sum + transfer.amount, 0n)
}

async function shown(person: Pick<Person, 'key'>): Promise<Readonly<Record<string, unknown>>> {
  const answer = await get(`${gateway.baseUrl}/api/v1/user/user/account`, {
    authorization: `Bearer ${person.key}`,
  })
  return answer.body.data as Readonly<Record<string, unknown>>
}

const subscribe = (quota: number): NonNullable<AccountRow['subscription']> => ({
  plan: 'PRO',
  level: 2,
  expiresAt: Date.now() + HOUR_MS,
  quota: [{ credits: credits(quota), seconds: 3_600 }],
})

function putOwnCredential(id: AccountId, vendor: string, { enabled = true } = {}): Promise<void> {
  return gateway.storage.accounts.putByok(
    id,
    vendorCode(vendor),
    { secret: new Secret('own'), fields: {} },
    { enabled },
  )
}

const credentialsSeen = (at: ScriptedUpstream) => at.requests.map((request) => request.headers.authorization)

describe('prices', () => {
  test.each<[string, object, number]>([
    [
      'one million input tokens cost input_price [2.2-03] [8-28] [D-names-05]',
      { prompt_tokens: 1_000_000, completion_tokens: 0 },
      10_000,
    ],
    [
      'one million output tokens cost output_price [2.2-04] [8-29]',
      { prompt_tokens: 0, completion_tokens: 1_000_000 },
      30_000,
    ],
    [
      'cached input costs cache_input_price and is part of the total [2.2-05] [8-30] [D-names-14] [D-names-36]',
      { prompt_tokens: 1_000, completion_tokens: 0, ...cached(600) },
      4 + 0.6,
    ],
    [
      'output of a call with a cache hit costs cache_output_price [2.2-06] [8-30] [D-names-16]',
      { prompt_tokens: 1_000, completion_tokens: 100, ...cached(1_000) },
      1 + 1.5,
    ],
    [
      'output of a call without a hit costs output_price [D-names-17]',
      { prompt_tokens: 1_000, completion_tokens: 100, ...cached(0) },
      10 + 3,
    ],
    [
      'reasoning is billed once, as output [D-names-35]',
      {
        prompt_tokens: 0,
        completion_tokens: 100,
        completion_tokens_details: { reasoning_tokens: 90 },
      },
      3,
    ],
  ])('%s', async (_name, usage, amount) => {
    await expectCost(usage, amount)
  })

  test('the sum is multiplied by the multiplier of the chain [8-32] [D-names-10]', async () => {
    await expectCost({ prompt_tokens: 1_000, completion_tokens: 100 }, 2 * 13, 'doubled')
  })

  test.each([
    ['two-chains', '100', 26],
    ['two-chains', '50', 13],
    ['tokens', '12.5', 1.625],
  ])('%s at a user_rate of %s percent costs %d Credits [D-names-10]', async (model, userRate, amount) => {
    upstream.answer(answerJson(completion({ prompt_tokens: 1_000, completion_tokens: 100 })))
    const { row, paid } = await bill(await gateway.newAccount({ userRate }), model)
    expect([row.amount, paid]).toEqual([credits(amount), credits(amount)])
  })

  test('after a failover the multiplier of the second chain counts [D-names-11]', async () => {
    upstream.answer(broken)
    other.answer(answerJson(completion({ prompt_tokens: 1_000, completion_tokens: 100 })))
    const { row, paid } = await bill(await gateway.newAccount(), 'two-chains')
    expect([row.vendorCode, row.recipe?.rateMultiplier, paid]).toEqual(['bolt', '0.5', credits(6.5)])
  })

  test('after a fallback the prices of the model actually used count [1-56] [8-31]', async () => {
    upstream.answer(broken)
    other.answer(answerJson(completion({ prompt_tokens: 1_000, completion_tokens: 100 })))
    const person = await gateway.newAccount({ fallbackModel: modelId('spare') })
    const { row, paid, booked } = await bill(person, 'tokens')
    expect([row.model, paid, booked]).toEqual(['spare', credits(130), credits(130)])
  })

  test('a model billed by image costs images times image_price [2.2-07] [D-names-06]', async () => {
    const answer = await get(`${gateway.baseUrl}/api/v1/user/user/pricing?model_id=images`)
    expect(answer.body.data).toMatchObject([{ image_price: 0.2 }])
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }
    upstream.answer(
      answerJson(completion({ prompt_tokens: 5, completion_tokens: 5 }, { images: [image, image, image] })),
    )
    const { row, paid, booked } = await bill(await gateway.newAccount(), 'images')
    expect([row.images, paid, booked]).toEqual([3, credits(600), credits(600)])
  })

  test('the usage in the body is the usage of the log row [2.3-22]', async () => {
    const usage = {
      prompt_tokens: 1_000,
      completion_tokens: 70,
      total_tokens: 1_070,
      ...cached(400),
      completion_tokens_details: { reasoning_tokens: 20 },
    }
    upstream.answer(answerJson(completion(usage)))
    const answer = await call(gateway, 'tokens')
    expect(answer.body['usage']).toEqual(usage)
    const row = await gateway.lastLog()
    expect(row.usage).toMatchObject({ input: 600, cachedInput: 400, output: 70, reasoning: 20 })
  })
})

describe('below one Credit', () => {
  test('nothing is deducted, the log keeps the exact amount [8-33] [8-34] [D-names-12] [D-names-13]', async () => {
    const person = await gateway.newAccount()
    const { row, paid, booked } = await bill(person, 'below-one')
    expect([row.amount, row.deducted, paid, booked]).toEqual([999_999n, 0n, 0n, 0n])
  })

  test('exactly one Credit is deducted [8-35]', async () => {
    const { row, paid, booked } = await bill(await gateway.newAccount(), 'one-credit')
    expect([row.amount, row.deducted, paid, booked]).toEqual([1_000_000n, 1_000_000n, 1_000_000n, 1_000_000n])
  })
})

describe('amounts', () => {
  test('two thousand charges of 1.000001 Credits sum exactly [D-names-01]', async () => {
    const person = await gateway.newAccount({ credits: 3_000 })
    const statuses = new Set<number>()
    for (let round = 0; round < 40; round++) {
      const answers = await Promise.all(Array.from({ length: 50 }, () => call(person, 'crumbs')))
      for (const answer of answers) statuses.add(answer.status)
    }
    expect([...statuses]).toEqual([200])
    await gateway.settled()
    expect(await shown(person)).toMatchObject({ credits: '999.998', held_credits: '0' })
  })

  test('no amount in an answer has more than six decimals [D-names-02]', async () => {
    const person = await gateway.newAccount({ userRate: '33.3333', monthlyCap: microCredits(1_234_567_891n) })
    await bill(person, 'crumbs')
    await bill(person, 'ten')
    const headers = { authorization: `Bearer ${person.key}` }
    const amounts: string[] = []
    for (const page of ['account', 'logs', 'models']) {
      const { body } = await get(`${gateway.baseUrl}/api/v1/user/user/${page}`, headers)
      amounts.push(...decimalsIn(body))
    }
    expect(amounts).toEqual(expect.arrayContaining(['0.333333', '3.33333', '1.234568', '0.003333']))
    expect(amounts.filter((amount) => !/\.\d{1,6}$/.test(amount))).toEqual([])
  })
})

/** Every decimal fraction in an answer but prices, which are quoted as the catalogue has them. */
function decimalsIn(value: unknown, name = ''): readonly string[] {
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([key, inner]) => decimalsIn(inner, key))
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : ''
  return /^-?\d+\.\d+$/.test(text) && !name.endsWith('price') ? [text] : []
}

describe('holds', () => {
  test('Credits are held during the call and settled after it [D-money-07] [D-money-09] [5-34]', async () => {
    const person = await gateway.newAccount({ credits: 1_000 })
    let during: Readonly<Record<string, unknown>> = {}
    upstream.answer(async (request, response) => {
      during = await shown(person)
      await answerJson(completion({ prompt_tokens: 1_000, completion_tokens: 100 }))(request, response)
    })
    expect((await call(person, 'tokens', { max_tokens: 1_000 })).status).toBe(200)
    await gateway.settled()
    expect(Number(during['held_credits'])).toBeGreaterThan(30)
    expect(Number(during['credits']) + Number(during['held_credits'])).toBeCloseTo(1_000, 6)
    expect(await shown(person)).toMatchObject({ credits: '987', held_credits: '0' })
  })

  test('a call whose hold fails reaches no upstream [D-admission-09] [D-money-10]', async () => {
    const person = await gateway.newAccount({ credits: 15 })
    let second: Answer | undefined
    upstream.script(async (request, response) => {
      second = await call(person, 'ten')
      await answerJson(completion({ prompt_tokens: 1, completion_tokens: 1 }))(request, response)
    })
    expect((await call(person, 'ten')).status).toBe(200)
    expect(second === undefined ? undefined : said(second)).toEqual([429, 42901])
    expect(upstream.requests).toHaveLength(1)
    await gateway.settled()
    expect(await shown(person)).toMatchObject({ credits: '5', held_credits: '0' })
  })

  test('an overrun takes Credits below zero once; the next call is refused [D-money-11] [D-money-12]', async () => {
    const person = await gateway.newAccount({ credits: 20 })
    upstream.answer(answerJson(completion({ prompt_tokens: 5_000, completion_tokens: 0 })))
    const { paid, booked } = await bill(person, 'tokens')
    expect([paid, booked]).toEqual([credits(50), credits(50)])
    expect(await shown(person)).toMatchObject({ credits: '-30' })
    expect(said(await call(person, 'tokens'))).toEqual([403, 40202])
    expect(upstream.requests).toHaveLength(1)
    await gateway.settled()
    expect((await gateway.account(person.id)).credits).toBe(credits(-30))
  })
})

describe('own credentials', () => {
  test('pay first: quota, Credits and cap stay as they were [1-74] [1-75] [8-37] [D-money-01]', async () => {
    const person = await gateway.newAccount({ subscription: subscribe(100), monthlyCap: credits(100) })
    await putOwnCredential(person.id, 'acme')
    const before = await gateway.account(person.id)
    const { row, paid, booked } = await bill(person, 'covered')
    expect(credentialsSeen(upstream)).toEqual(['Bearer own'])
    expect([row.byok, row.subscriptionCovered, row.deducted, paid, booked]).toEqual([true, false, 0n, 0n, 0n])
    expect(await quotaCharged(person.id)).toBe(0n)
    expect((await gateway.account(person.id)).monthSpent).toBe(before.monthSpent)
  })

  test('are passed over when the account turned them off [D-money-02]', async () => {
    const person = await gateway.newAccount()
    await putOwnCredential(person.id, 'acme', { enabled: false })
    const { row, paid } = await bill(person, 'ten')
    expect(credentialsSeen(upstream)).toEqual(['Bearer secret-of-acme-main'])
    expect([row.byok, paid]).toEqual([false, credits(10)])
  })

  test.each(['keyless', 'own-server'])(
    'pay for nothing at a server that would serve anybody: %s',
    async (vendor) => {
      const person = await gateway.newAccount()
      await putOwnCredential(person.id, vendor)
      const { row, paid } = await bill(person, `on-${vendor}`)
      expect([row.byok, paid]).toEqual([false, credits(10)])
      const poor = await gateway.newAccount({ apiDeduction: false })
      await putOwnCredential(poor.id, vendor)
      expect(said(await call(poor, `on-${vendor}`))).toEqual([403, 40202])
    },
  )

  test('apply only to chains of their vendor [D-money-03]', async () => {
    const person = await gateway.newAccount()
    await putOwnCredential(person.id, 'bolt')
    const { row, paid } = await bill(person, 'ten')
    expect(credentialsSeen(upstream)).toEqual(['Bearer secret-of-acme-main'])
    expect([row.byok, paid]).toEqual([false, credits(10)])
  })
})

describe('the subscription', () => {
  test('its quota pays before Credits, and the log says so [D-money-04] [8-36]', async () => {
    const person = await gateway.newAccount({ credits: 100, subscription: subscribe(100) })
    const { row, paid } = await bill(person, 'covered')
    expect([row.subscriptionCovered, row.deducted, paid]).toEqual([true, credits(10), 0n])
    expect(await quotaCharged(person.id)).toBe(credits(10))
    const uncovered = await bill(person, 'ten')
    expect([uncovered.row.subscriptionCovered, uncovered.paid]).toEqual([false, credits(10)])
    expect(await quotaCharged(person.id)).toBe(credits(10))
  })

  test('Credits pay once the quota is empty [D-money-05]', async () => {
    const person = await gateway.newAccount({ credits: 100, subscription: subscribe(10) })
    const covered = await bill(person, 'covered')
    const further = await bill(person, 'covered')
    expect([covered.paid, further.paid]).toEqual([0n, credits(10)])
    expect([covered.row.subscriptionCovered, further.row.subscriptionCovered]).toEqual([true, false])
  })

  test('without deduction access an empty quota is 429/42905, Credits stay [D-money-06] [D-errors-14]', async () => {
    const person = await gateway.newAccount({
      credits: 100,
      apiDeduction: false,
      subscription: subscribe(10),
    })
    await bill(person, 'covered')
    const answer = await call(person, 'covered')
    expect(said(answer)).toEqual([429, 42905])
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(3_000)
    await gateway.settled()
    expect((await gateway.account(person.id)).credits).toBe(credits(100))
  })
})

describe('the monthly cap', () => {
  /** As an operator sets it: in the gateway file, in yuan. */
  async function withCap(yuan: string): Promise<Person> {
    const email = `capped-${yuan}@example.com`
    const person = await gateway.newAccount({ email })
    const applied = await applyGatewayFile(gateway.storage, {
      text: `accounts: [{email: ${email}, monthly_cap_yuan: ${yuan}}]`,
      environment: {},
      kinds: [],
      missing: 'stays',
      mode: 'apply',
      at: Date.now(),
    })
    expect(applied).toMatchObject({ kind: 'applied' })
    return person
  }

  test('is set in yuan and shown in yuan [8-10]', async () => {
    const person = await withCap('2.5')
    expect(await shown(person)).toMatchObject({ monthly_cap_yuan: '2.5', month_spent_yuan: '0' })
    await bill(person, 'ten')
    expect(await shown(person)).toMatchObject({ monthly_cap_yuan: '2.5', month_spent_yuan: '0.01' })
  })

  test('a cap of 1 yuan stops at 1000 Credits with 429/42906 [D-errors-15] [D-money-22]', async () => {
    const person = await withCap('1')
    const { paid } = await bill(person, 'thousand')
    expect(paid).toBe(credits(1_000))
    const answer = await call(person, 'one-credit')
    expect(said(answer)).toEqual([429, 42906])
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await shown(person)).toMatchObject({ month_spent_yuan: '1', monthly_cap_yuan: '1' })
    expect(upstream.requests).toHaveLength(1)
  })

  test('counts neither what the quota pays nor what own credentials carry [D-money-19]', async () => {
    const person = await gateway.newAccount({ monthlyCap: credits(10), subscription: subscribe(30) })
    for (let round = 0; round < 3; round++) await bill(person, 'covered')
    await putOwnCredential(person.id, 'acme')
    await bill(person, 'ten')
    await gateway.storage.accounts.removeByok(person.id, vendorCode('acme'))
    expect(await shown(person)).toMatchObject({ month_spent_yuan: '0' })
    await bill(person, 'ten')
    expect(await shown(person)).toMatchObject({ month_spent_yuan: '0.01' })
    expect(said(await call(person, 'ten'))).toEqual([429, 42906])
  })

  test('is hard and forgives nothing: what lies over it is owed [D-money-24]', async () => {
    const person = await gateway.newAccount({ monthlyCap: credits(50) })
    upstream.answer(answerJson(completion({ prompt_tokens: 8_000, completion_tokens: 0 })))
    const { row, paid } = await bill(person, 'tokens', { max_tokens: 100 })
    expect([row.amount, row.deducted, row.owed, row.capped, paid]).toEqual([
      credits(80),
      credits(80),
      credits(30),
      true,
      credits(50),
    ])
    expect(await shown(person)).toMatchObject({ month_spent_yuan: '0.05', owed: '30' })
    await gateway.storage.accounts.patch(person.id, { monthlyCap: credits(60) })
    expect(await shown(person)).toMatchObject({ month_spent_yuan: '0.06', owed: '20' })
    await gateway.storage.accounts.patch(person.id, { monthlyCap: credits(0) })
    expect(await shown(person)).toMatchObject({ month_spent_yuan: '0.08', owed: '0' })
  })

  test('holds the worst case: a second call waits where the estimate would leave room [D-money-25]', async () => {
    const person = await gateway.newAccount({ monthlyCap: credits(35_000) })
    let second: Answer | undefined
    upstream.script(async (request, response) => {
      second = await call(person, 'tokens')
      await answerJson(completion({ prompt_tokens: 1_000, completion_tokens: 0 }))(request, response)
    })
    expect((await call(person, 'tokens')).status).toBe(200)
    expect(second === undefined ? undefined : said(second)).toEqual([429, 42906])
    await gateway.settled()
    expect((await call(person, 'tokens')).status).toBe(200)
  })

  test('parallel calls near it never pass it, whatever they overrun [D-money-25]', async () => {
    const person = await gateway.newAccount({ monthlyCap: credits(35) })
    upstream.answer(answerJson(completion({ prompt_tokens: 2_000, completion_tokens: 0 })))
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => call(person, 'tokens', { max_tokens: 300 })),
    )
    await gateway.settled()
    expect(answers.map((answer) => answer.status)).toContain(200)
    expect(answers.map((answer) => answer.status)).toContain(429)
    const { monthSpent, owed } = await gateway.account(person.id)
    expect(monthSpent > 0n && monthSpent <= credits(35)).toBe(true)
    const answered = answers.filter((answer) => answer.status === 200).length
    expect(monthSpent + owed).toBe(credits(20 * answered))
  })
})

describe('automatic exchange', () => {
  const autoExchange = { enabled: true, belowCredits: credits(95), step: credits(50) }

  async function withBalance(enabled: boolean, amount = 100): Promise<Person> {
    const person = await gateway.newAccount({
      credits: amount,
      autoExchange: { ...autoExchange, enabled },
    })
    await topUp(gateway, person.id, credits(200))
    return person
  }

  test('lifts Credits by a step when they fall below the threshold, not above it [5-36] [D-money-18]', async () => {
    const person = await withBalance(true, 110)
    await call(person, 'ten')
    await gateway.settled()
    expect(await shown(person)).toMatchObject({ credits: '100', balance: '0.2' })
    await call(person, 'ten')
    await gateway.settled()
    expect(await shown(person)).toMatchObject({ credits: '140', balance: '0.15' })
  })

  test('does nothing while it is off [5-33] [5-37]', async () => {
    const person = await withBalance(false, 15)
    expect((await call(person, 'ten')).status).toBe(200)
    await gateway.settled()
    expect(await shown(person)).toMatchObject({ credits: '5', balance: '0.2' })
    expect(said(await call(person, 'ten'))).toEqual([403, 40202])
    expect(await shown(person)).toMatchObject({ credits: '5', balance: '0.2' })
  })

  test('Credits and balance are two accounts of one ledger, and each movement names both sides [D-money-13]', async () => {
    const person = await withBalance(true, 100)
    await call(person, 'ten')
    await gateway.settled()
    const exchanges = (await transfers(person.id)).filter((transfer) => transfer.kind === 'exchange')
    expect(exchanges).toMatchObject([
      { debit: `${person.id}/balance`, credit: `${person.id}/credits`, amount: credits(50) },
    ])
    for (const transfer of await transfers(person.id)) {
      expect(transfer.debit).not.toBe(transfer.credit)
      expect([transfer.debit, transfer.credit].some((pool) => pool.startsWith(`${person.id}/`))).toBe(true)
    }
  })
})

describe('the ledger', () => {
  test('only grows, and a movement sent twice is booked once [D-money-15] [D-money-17]', async () => {
    const person = await gateway.newAccount({ credits: 100 })
    const opening = await transfers(person.id)
    await bill(person, 'ten')
    const afterOne = await transfers(person.id)
    await bill(person, 'ten')
    const afterTwo = await transfers(person.id)
    expect(afterOne.slice(-opening.length)).toEqual(opening)
    expect(afterTwo.slice(-afterOne.length)).toEqual(afterOne)
    expect(afterTwo.length).toBeGreaterThan(afterOne.length)
    expect(await gateway.storage.ledger.book(opening)).toBe(false)
    expect(await transfers(person.id)).toEqual(afterTwo)
    expect((await gateway.account(person.id)).credits).toBe(credits(80))
  })
})

describe('settings', () => {
  test('a changed creditsPerUnit changes the Credits of the same call [D-names-08]', async () => {
    // Of its own: where a balance was booked the rate stays.
    const fresh = await openGateway()
    await fresh.catalogue(
      ...putVendor('acme', upstream.url),
      putModel('ten', { pricing: TEN_CREDITS }),
      putChain({ model: 'ten', vendor: 'acme' }),
    )
    const paid = async () => {
      await postJson(
        `${fresh.baseUrl}/v1/chat/completions`,
        { model: 'ten', messages: [] },
        { authorization: `Bearer ${fresh.key}` },
      )
      return (await fresh.lastLog()).deducted
    }
    const { settings } = await fresh.storage.catalogue.read()
    expect(await paid()).toBe(credits(10))
    await fresh.catalogue({ kind: 'put-settings', settings: { ...settings, creditsPerUnit: '250' } })
    expect(await paid()).toBe(credits(2.5))
    await fresh.close()
  })

  test('without the setting 1 yuan costs 1000 Credits [D-names-09]', async () => {
    const dataDirectory = await mkdtemp(join(tmpdir(), 'sluice-money-'))
    const at = Date.now()
    let storage: Storage | undefined
    const person = { id: accountId(''), key: '' }
    const running = await startGateway(
      readConfig({
        SLUICE_DATA_DIR: dataDirectory,
        SLUICE_HOST: '127.0.0.1',
        SLUICE_PORT: '0',
        SLUICE_GATEWAY_PORT: '0',
        SLUICE_OPS_PORT: '0',
        SLUICE_LOG_LEVEL: 'silent',
      }),
      async (opened) => {
        storage = opened.storage
        await storage.catalogue.apply([
          ...putVendor('acme', upstream.url),
          putModel('yuan', { pricing: byRequest('1') }),
          putChain({ model: 'yuan', vendor: 'acme' }),
        ])
        person.id = await createAccount(storage, { email: 'owner@example.com' }, at)
        const opening = { credits: credits(3_000), balance: credits(0) }
        await grantOpening(storage, person.id, opening, at)
        person.key = await plainKey(storage, person.id, at)
      },
    )
    try {
      const answer = await postJson(
        `${running.baseUrl}/v1/chat/completions`,
        { model: 'yuan', messages: [] },
        { authorization: `Bearer ${person.key}` },
      )
      expect(answer.status).toBe(200)
      await vi.waitUntil(() => running.openCalls() === 0, { timeout: 60_000, interval: 5 })
      expect((await storage?.accounts.find(person.id))?.credits).toBe(credits(2_000))
    } finally {
      await running.stop()
      await rm(dataDirectory, { recursive: true, force: true })
    }
  })
})

async function plainKey(storage: Storage, owner: AccountId, at: number): Promise<string> {
  const created = await createKey(
    storage,
    {
      accountId: owner,
      name: 'test',
      secret: undefined,
      status: 'enabled',
      expiresAt: undefined,
      group: undefined,
      models: [],
      ipAllow: [],
      policy: undefined,
    },
    at,
  )
  if (created.kind !== 'created') throw new Error(`no key: ${JSON.stringify(created)}`)
  return created.plaintext.unwrap()
}

test('the month of the cap turns at local midnight, not at midnight UTC [D-money-20] [D-money-21]', async () => {
  let clock = Date.parse('2026-05-31T23:30:00+08:00')
  const spy = vi.spyOn(Date, 'now').mockImplementation(() => clock)
  const elsewhere = await openGateway()
  try {
    await elsewhere.catalogue(
      {
        kind: 'put-settings',
        settings: {
          currency: 'CNY',
          creditsPerUnit: '1000',
          otherCurrencies: { USD: '7200' },
          timezone: 'Asia/Shanghai',
          keyPrefix: 'sk-gateway-',
          limits: UNLIMITED,
        },
      },
      ...putVendor('acme', upstream.url),
      putModel('ten', { pricing: TEN_CREDITS }),
      putChain({ model: 'ten', vendor: 'acme' }),
    )
    const { key } = await elsewhere.newAccount({ monthlyCap: credits(10) })
    const status = async (at: string) => {
      clock = Date.parse(at)
      const answer = await postJson(
        `${elsewhere.baseUrl}/v1/chat/completions`,
        { model: 'ten', messages: [] },
        { authorization: `Bearer ${key}` },
      )
      await elsewhere.lastLog()
      return answer.status
    }
    expect([
      await status('2026-05-31T23:30:00+08:00'),
      await status('2026-05-31T23:59:59+08:00'),
      await status('2026-06-01T00:00:00+08:00'),
      await status('2026-06-01T07:59:59+08:00'),
      await status('2026-06-01T08:00:01+08:00'),
    ]).toEqual([200, 429, 200, 429, 429])
  } finally {
    await elsewhere.close()
    spy.mockRestore()
  }
})
