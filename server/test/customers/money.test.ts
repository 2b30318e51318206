/** Exchange, plans, own credentials, statements. */
import { DAY_MS } from '../../src/core/durations.ts'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Answer, postJson } from '../gateway/client.ts'
import { type Customer, openCustomer } from '../gateway/customer.ts'
import { putChain, putModel, putVendor, TOKEN_PRICES } from '../gateway/gateway.ts'
import { answerOk } from '../gateway/scripted-upstream.ts'
import { renewDue } from '../../src/management/money/subscriptions.ts'
import { withGateway } from '../gateway/with-gateway.ts'

let customer: Customer

const plan = { periodDays: 30, quota: [{ credits: '50', seconds: 18_000 }] }

const { gateway, upstream } = await withGateway({
  upstreams: ['upstream'],
  catalogue: ({ upstream }) => [
    ...putVendor('acme', upstream.url),
    ...putVendor('cloud', upstream.url, { kind: 'bedrock' }),
    ...putVendor('own-server', upstream.url, { kind: 'ollama' }),
    ...putVendor('keyless', upstream.url, { asksForKey: false }),
    putModel('ten', {
      subscriptionCovered: true,
      requiredPlan: 1,
      pricing: {
        ...TOKEN_PRICES,
        billingModes: ['request'],
        inputPrice: null,
        outputPrice: null,
        cacheInputPrice: null,
        requestPrice: '0.01',
      },
    }),
    putChain({ model: 'ten', vendor: 'acme' }),
    putModel('free'),
    putChain({ model: 'free', vendor: 'acme' }),
    { kind: 'put-plan', plan: { code: 'PLUS', level: 1, price: '99', currency: 'CNY', ...plan } },
    { kind: 'put-plan', plan: { code: 'PRO', level: 2, price: '199.5', currency: 'CNY', ...plan } },
  ],
})

beforeAll(async () => {
  upstream.answer(answerOk({ prompt_tokens: 1, completion_tokens: 1 }))
})
beforeEach(async () => {
  upstream.requests.length = 0
  customer = await openCustomer(gateway, { credits: 1_000, balanceYuan: 500 })
})
// What one test bought is not renewed in another.
afterEach(() => customer.send('DELETE', 'subscription'))

const said = ({ status, body }: Answer) => [status, body.code]
const once = (key: string) => ({ 'idempotency-key': key })
const call = (model: string) =>
  postJson(
    `${gateway.baseUrl}/v1/chat/completions`,
    { model, messages: [{ role: 'user', content: 'Hi' }] },
    { authorization: `Bearer ${customer.key}` },
  )
const funds = async () => {
  const { credits, balance }: { credits: string; balance: string } = await customer.ask('GET', 'account')
  return [credits, balance]
}

describe('manual exchange', () => {
  test('balance falls, Credits rise by the rate [5-35] [D-accounts-110]', async () => {
    const exchanged = await customer.ask('POST', 'exchange', { yuan: '1.5' })
    expect(exchanged).toMatchObject({
      currency: 'CNY',
      exchanged_yuan: '1.5',
      exchanged_credits: '1500',
      credits: '2500',
      balance: '498.5',
    })
    expect(await funds()).toEqual(['2500', '498.5'])
    await customer.ask('POST', 'exchange', { credits: 0.000001 })
    expect(await funds()).toEqual(['2500.000001', '498.5'])
  })

  test('under one Idempotency-Key it happens once, however often it is asked at once, and answers the same', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => customer.send('POST', 'exchange', { yuan: 2 }, once('k1'))),
    )
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(answers[0]?.status).toBe(200)
    expect(await funds()).toEqual(['3000', '498'])
    expect((await customer.send('POST', 'exchange', { credits: 2000 }, once('k1'))).text).toBe(
      answers[0]?.text,
    )
    expect(said(await customer.send('POST', 'exchange', { yuan: 3 }, once('k1')))).toEqual([422, 40004])
    expect(await funds()).toEqual(['3000', '498'])
    await customer.ask('POST', 'exchange', { yuan: 3 }, once('k2'))
    expect(await funds()).toEqual(['6000', '495'])
  })

  test('the keys of one account are none of another', async () => {
    await customer.ask('POST', 'exchange', { yuan: 1 }, once('shared'))
    const other = await openCustomer(gateway, { credits: 0, balanceYuan: 5 })
    await other.ask('POST', 'exchange', { yuan: 4 }, once('shared'))
    expect(await other.ask('GET', 'account')).toMatchObject({ credits: '4000', balance: '1' })
  })

  test('more than the balance holds is refused whole, and in parallel no yuan too many is taken', async () => {
    const refused = await customer.send('POST', 'exchange', { yuan: '500.000001' }, once('big'))
    expect(said(refused)).toEqual([409, 40900])
    expect(refused.body.message).toContain('500 CNY')
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => customer.send('POST', 'exchange', { yuan: 100 })),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(5)
    expect(await funds()).toEqual(['501000', '0'])
  })

  test.each([
    [{}],
    [{ yuan: 1, credits: 1000 }],
    [{ yuan: 0 }],
    [{ yuan: -1 }],
    [{ yuan: '0.0000001' }],
    [{ yuan: 'NaN' }],
    [{ yuan: 1e30 }],
    [{ yuan: 1, balance: 5 }],
  ])('unreadable moves nothing: %j', async (body) => {
    expect((await customer.send('POST', 'exchange', body)).status).toBe(400)
    expect(await funds()).toEqual(['1000', '500'])
  })

  test('a key may not exchange', async () => {
    const headers = { authorization: `Bearer ${customer.key}` }
    expect(said(await customer.send('POST', 'exchange', { yuan: 1 }, headers))).toEqual([403, 40304])
  })
})

describe('plans', () => {
  test('a plan is bought from the balance, opens its models, and its quota pays [D-accounts-111]', async () => {
    expect(said(await call('ten'))).toEqual([403, 40203])
    expect(await customer.ask('GET', 'plans')).toMatchObject([
      { code: 'PLUS', level: 1, price_yuan: '99', price_credits: '99000', period_days: 30 },
      { code: 'PRO', level: 2, price_yuan: '199.5' },
    ])
    const quote = await customer.ask('GET', 'subscription/quote?plan=PLUS')
    expect(quote).toMatchObject({ change: 'new', due_yuan: '99', refunded_yuan: '0', affordable: true })
    const bought = await customer.ask('POST', 'subscription', { plan: 'PLUS' })
    expect(bought).toMatchObject({ plan: 'PLUS', level: 1, auto_renew: true, due_yuan: '99' })
    expect(await funds()).toEqual(['1000', '401'])
    expect((await call('ten')).status).toBe(200)
    await gateway.settled()
    expect(await funds()).toEqual(['1000', '401'])
    const shown: { expires_at: string } = await customer.ask('GET', 'subscription')
    expect(shown).toMatchObject({
      plan: 'PLUS',
      next_plan: 'PLUS',
      pay_from: 'balance',
      quota: [{ credits: '50', seconds: 18_000, used: '10', remaining: '40' }],
    })
    expect(Date.parse(shown.expires_at) - Date.now()).toBeGreaterThan(30 * DAY_MS - 60_000)
    expect(await customer.ask('GET', 'account')).toMatchObject({
      plan: 'PLUS',
      plan_expires_at: shown.expires_at,
    })
  })

  test('bought under one key it is bought once; the same again without one is refused', async () => {
    const body = { plan: 'PLUS' }
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => customer.send('POST', 'subscription', body, once('p'))),
    )
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(await funds()).toEqual(['1000', '401'])
    expect(said(await customer.send('POST', 'subscription', body))).toEqual([409, 40900])
    expect(said(await customer.send('POST', 'subscription', { plan: 'PRO' }, once('p')))).toEqual([
      422, 40004,
    ])
  })

  test('an upgrade begins at once and gives back what was not used, to the last µCr', async () => {
    await customer.ask('POST', 'subscription', { plan: 'PLUS' })
    const upgraded: { refunded_credits: string; due_credits: string } = await customer.ask(
      'POST',
      'subscription',
      { plan: 'PRO' },
    )
    expect(upgraded).toMatchObject({ plan: 'PRO', level: 2, price_yuan: '199.5' })
    const back = Number(upgraded.refunded_credits)
    expect(back).toBeGreaterThan(98_990)
    expect(back).toBeLessThanOrEqual(99_000)
    const { balance } = await gateway.account(customer.id)
    expect(balance).toBe(
      500_000_000_000n - 99_000_000_000n + BigInt(Math.round(back * 1e6)) - 199_500_000_000n,
    )
    const lower = await customer.send('POST', 'subscription', { plan: 'PLUS' })
    expect(said(lower)).toEqual([409, 40900])
    expect(lower.body.message).toContain('next_plan')
  })

  test('Credits can pay; where there are too few the answer says how many are missing, and nothing happens', async () => {
    const poor = await customer.send('POST', 'subscription', { plan: 'PLUS', pay_from: 'credits' })
    expect(said(poor)).toEqual([409, 40900])
    expect(poor.body.message).toContain('98000 Credits')
    expect(await customer.ask('GET', 'subscription')).toMatchObject({ plan: null, quota: [] })
    await customer.ask('POST', 'exchange', { credits: 98_000 })
    await customer.ask('POST', 'subscription', { plan: 'PLUS', pay_from: 'credits' })
    expect(await funds()).toEqual(['0', '402'])
  })

  test('cancelled it runs to its end and is not renewed; otherwise it is, once, with the plan chosen', async () => {
    await customer.ask('POST', 'subscription', { plan: 'PRO' })
    const { expires_at: end }: { expires_at: string } = await customer.ask('GET', 'subscription')
    expect(await customer.ask('DELETE', 'subscription')).toMatchObject({ auto_renew: false, plan: 'PRO' })
    const catalogue = await gateway.storage.catalogue.read()
    const renew = (at: number) => renewDue(gateway.storage, catalogue, at)
    expect(await renew(Date.parse(end) + 1)).toEqual({ renewed: 0, failed: 0 })
    expect(await customer.ask('PATCH', 'subscription', { next_plan: 'PLUS' })).toMatchObject({
      plan: 'PRO',
      auto_renew: true,
      next_plan: 'PLUS',
      renews_at: end,
    })
    expect(await renew(Date.parse(end) - 1)).toEqual({ renewed: 0, failed: 0 })
    const rounds = await Promise.all([renew(Date.parse(end)), renew(Date.parse(end)), renew(Date.parse(end))])
    expect(rounds.reduce((sum, { renewed }) => sum + renewed, 0)).toBe(1)
    expect(await customer.ask('GET', 'subscription')).toMatchObject({
      plan: 'PLUS',
      expires_at: new Date(Date.parse(end) + 30 * DAY_MS).toISOString(),
    })
    expect(await funds()).toEqual(['1000', '201.5'])
  })

  test('a renewal that finds too little money is not made, and money that comes later makes it', async () => {
    await customer.ask('POST', 'subscription', { plan: 'PLUS' })
    await customer.ask('POST', 'exchange', { yuan: 401 })
    const { renews_at: due }: { renews_at: string } = await customer.ask('GET', 'subscription')
    const catalogue = await gateway.storage.catalogue.read()
    expect(await renewDue(gateway.storage, catalogue, Date.parse(due))).toEqual({ renewed: 0, failed: 1 })
    expect(await renewDue(gateway.storage, catalogue, Date.parse(due))).toEqual({ renewed: 0, failed: 0 })
    await customer.ask('PATCH', 'subscription', { pay_from: 'credits' })
    expect(await renewDue(gateway.storage, catalogue, Date.parse(due))).toEqual({ renewed: 1, failed: 0 })
    expect(await funds()).toEqual(['303000', '0'])
  })

  test('an operator’s subscription takes the place of a bought one: it is not renewed and gives nothing back', async () => {
    await customer.ask('POST', 'subscription', { plan: 'PLUS' })
    const given = { plan: 'PLUS', level: 1, expiresAt: Date.now() + DAY_MS, quota: [] }
    await gateway.storage.accounts.patch(customer.id, { subscription: given })
    expect(await customer.ask('GET', 'subscription')).toMatchObject({ auto_renew: false, started_at: null })
    const catalogue = await gateway.storage.catalogue.read()
    expect(await renewDue(gateway.storage, catalogue, Date.now() + 40 * DAY_MS)).toEqual({
      renewed: 0,
      failed: 0,
    })
    expect(await customer.ask('GET', 'subscription/quote?plan=PRO')).toMatchObject({
      change: 'upgrade',
      refunded_yuan: '0',
      due_yuan: '199.5',
    })
  })

  test.each([
    ['POST', { plan: 'NOTHING' }, 400],
    ['POST', { plan: 'PLUS', pay_from: 'savings' }, 400],
    ['POST', { plan: 'PLUS', level: 3 }, 400],
    ['PATCH', { auto_renew: true }, 409],
    ['DELETE', undefined, 409],
  ])('without a subscription, %s %j is refused with %s', async (method, body, status) => {
    expect((await customer.send(method, 'subscription', body)).status).toBe(status)
    expect(await funds()).toEqual(['1000', '500'])
  })
})

describe('own credentials', () => {
  const secret = 'sk-of-my-own-vendor-account'

  test('are put, listed without secret, switched, removed; calls follow [D-accounts-109]', async () => {
    expect(await customer.ask('PUT', 'byok/acme', { secret })).toEqual({
      vendor: 'acme',
      vendor_name: 'ACME',
      enabled: true,
    })
    const list = await customer.send('GET', 'byok')
    expect(list.body.data).toEqual([{ vendor: 'acme', vendor_name: 'ACME', enabled: true }])
    expect(list.text).not.toContain(secret)
    expect((await call('free')).status).toBe(200)
    await gateway.settled()
    expect(upstream.requests.at(-1)?.headers.authorization).toBe(`Bearer ${secret}`)
    expect((await gateway.lastLog()).byok).toBe(true)
    await customer.ask('PATCH', 'byok/acme', { enabled: false })
    await call('free')
    await gateway.settled()
    expect(upstream.requests.at(-1)?.headers.authorization).toBe('Bearer secret-of-acme-main')
    expect(await customer.ask('DELETE', 'byok/acme')).toEqual({ vendor: 'acme', deleted: true })
    expect(await customer.ask('GET', 'byok')).toEqual([])
    expect(said(await customer.send('DELETE', 'byok/acme'))).toEqual([404, 40403])
    expect(said(await customer.send('PATCH', 'byok/acme', { enabled: true }))).toEqual([404, 40403])
  })

  test.each([
    ['nobody', { secret }],
    ['acme', {}],
    ['acme', { secret: '' }],
    ['acme', { secret, fields: { 'Not A Name': 'x' } }],
    ['acme', { secret, base_url: 'http://169.254.169.254/' }],
    ['acme', { secret: ' ' }],
    ['cloud', { fields: { region: 'us-east-1' } }],
    ['cloud', { secret, fields: { region: '@127.0.0.1:9090/' } }],
    ['cloud', { secret, fields: { region: 'evil.example' } }],
    ['own-server', { secret }],
    ['keyless', { secret }],
  ])('unreadable is refused: %s %j', async (vendor, body) => {
    expect((await customer.send('PUT', `byok/${vendor}`, body)).status).toBe(400)
    expect(await customer.ask('GET', 'byok')).toEqual([])
  })
})

interface Statement {
  readonly opening: { readonly credits: string; readonly balance: string }
  readonly closing: { readonly credits: string; readonly balance: string }
  readonly entries: readonly {
    readonly at: string
    readonly kind: string
    readonly credits: string
    readonly balance: string
  }[]
  readonly next_cursor: string | null
}

describe('statements', () => {
  const sum = (start: string, changes: readonly string[]) =>
    changes.reduce(
      (total, change) => total + Math.round(Number(change) * 1e6),
      Math.round(Number(start) * 1e6),
    ) / 1e6

  test('opening + entries = closing, page by page, and the account agrees', async () => {
    await customer.ask('POST', 'exchange', { yuan: 2 })
    await customer.ask('POST', 'subscription', { plan: 'PLUS' })
    await customer.ask('POST', 'subscription', { plan: 'PRO' })
    for (let index = 0; index < 3; index += 1) await call('ten')
    await gateway.settled()
    const entries: Statement['entries'][number][] = []
    let page: Statement
    let cursor = ''
    do {
      page = await customer.ask('GET', `statements?limit=2${cursor}`)
      entries.push(...page.entries)
      cursor = `&cursor=${page.next_cursor ?? ''}`
    } while (page.next_cursor !== null)
    const { opening, closing } = page
    expect(entries.map(({ kind }) => kind)).toEqual([
      'grant',
      'top-up',
      'exchange',
      'subscription',
      'refund',
      'subscription',
    ])
    for (const pool of ['credits', 'balance'] as const) {
      expect(
        sum(
          opening[pool],
          entries.map((entry) => entry[pool]),
        ),
      ).toBe(Number(closing[pool]))
    }
    expect([closing.credits, closing.balance]).toEqual(await funds())
    const from = entries.find(({ kind }) => kind === 'exchange')?.at ?? ''
    const later: Statement = await customer.ask('GET', `statements?from=${encodeURIComponent(from)}`)
    expect(later.opening).toEqual({ credits: '1000', balance: '500' })
    const empty: Statement = await customer.ask('GET', 'statements?month=2020-02')
    expect(empty).toMatchObject({
      from: '2020-01-31T16:00:00.000Z',
      to: '2020-02-29T15:59:59.999Z',
      opening: { credits: '0', balance: '0' },
      entries: [],
      closing: { credits: '0', balance: '0' },
    })
  })

  test('exported as CSV and NDJSON, each entry with what was there after it', async () => {
    await customer.ask('POST', 'exchange', { yuan: 2 })
    const csv = await customer.send('GET', 'statements/export')
    expect(csv.headers.get('content-type')).toContain('text/csv')
    const lines = csv.text.trimEnd().split('\r\n')
    expect(lines[0]).toBe('id,at,kind,credits,balance,reference,credits_after,balance_after')
    expect(lines).toHaveLength(4)
    expect(lines[3]).toMatch(/,exchange,2000,-2,manual,3000,498$/)
    const ndjson = await customer.send('GET', 'statements/export?format=ndjson')
    const rows = ndjson.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as object)
    expect(rows.at(-1)).toMatchObject({ kind: 'exchange', credits_after: '3000', balance_after: '498' })
  })

  test.each(['month=2026-13', 'month=2026-01&from=1', 'from=2&to=1', 'format=xml', 'cursor=unreadable'])(
    'a period that is none is refused: %s',
    async (query) => {
      expect((await customer.send('GET', `statements?${query}`)).status).toBe(400)
    },
  )
})
