/** Prices are in their own currency, what money is worth does not change under anybody's hands, and no amount is more than can be kept. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type AdminGateway, openAdminGateway } from '../gateway/admin-gateway.ts'
import { putVendor } from '../gateway/gateway.ts'
import { type Answer, get, postJson } from '../gateway/client.ts'

let admin: AdminGateway
beforeEach(async () => {
  admin = await openAdminGateway()
})
afterEach(() => admin.close())

type Fields = Readonly<Record<string, unknown>>
const dataOf = (answer: Answer): Fields => answer.body.data as Fields
const setRate = (rate: unknown) => admin.patch('/settings', { credits_per_yuan: rate })
const read = async () => dataOf(await admin.get(`/accounts/${admin.gateway.accountId}`))

describe('prices in another currency', () => {
  test('a call is charged at the rate of its price, shown with it, and a new rate holds for the next', async () => {
    const { gateway } = admin
    await gateway.catalogue(...putVendor('acme', admin.upstream.url))
    const pricing = { currency: 'USD', input_price: 1, output_price: 10, request_price: 0 }
    const added = await admin.post('/models', { model_id: 'dollars', pricing })
    expect(added).toMatchObject({
      status: 201,
      body: { data: { pricing: { currency: 'USD', input_price: 1 } } },
    })
    const cost = { input_price: 5, output_price: 50 }
    const chain = { model_id: 'dollars', vendor: 'acme', protocol: 'chat' }
    const unnamed = await admin.post('/chains', { ...chain, cost })
    expect(unnamed).toMatchObject({ status: 400 })
    expect(unnamed.body.message).toMatch(/cost\.currency must be named: the price so far is in USD/)
    expect(await admin.post('/chains', { ...chain, cost: { ...cost, currency: 'CNY' } })).toMatchObject({
      status: 201,
      body: { data: { cost: { currency: 'CNY' } } },
    })
    // 1000 tokens in, 100 out: 0.002 dollars.
    const paid = async () => {
      expect((await admin.call('dollars')).status).toBe(200)
      const { deducted, recipe } = await gateway.lastLog()
      return { deducted, recipe }
    }
    expect(await paid()).toMatchObject({
      deducted: 14_400_000n,
      recipe: { currency: 'USD', creditsPerUnit: '7200' },
    })
    await admin.post(`/accounts/${gateway.accountId}/grants`, { balance: 100 })
    expect(await admin.patch('/settings', { currencies: { USD: '7300.5' } })).toMatchObject({
      status: 200,
      body: { data: { currency: 'CNY', currencies: { CNY: 1000, USD: 7300.5 } } },
    })
    expect(await paid()).toMatchObject({ deducted: 14_601_000n, recipe: { creditsPerUnit: '7300.5' } })
    const rows = (await admin.get('/logs')).body.data as readonly Fields[]
    expect(rows.map(({ recipe }) => recipe)).toMatchObject([
      { currency: 'USD', credits_per_unit: '7300.5' },
      { currency: 'USD', credits_per_unit: '7200' },
    ])
    // Costs are in yuan: twice 0.005 + 0.005 of them, for 29.001 Credits brought in.
    const report = dataOf(await admin.get('/margin'))
    expect(report['chains']).toMatchObject([{ revenue: '29.001', cost: '20', margin: '9.001' }])
    const listed = await fetch(`${gateway.baseUrl}/api/v1/user/user/pricing`)
    expect(await listed.json()).toMatchObject({
      data: [{ model_id: 'dollars', currency: 'USD', input_price: 1, output_price: 10 }],
    })
    expect(await gateway.storage.ledger.verify()).toEqual([])
  })

  test('a price without a currency never takes the place of one in another', async () => {
    const pricing = { currency: 'USD', input_price: 1, output_price: 10 }
    await admin.post('/models', { model_id: 'dollars', pricing })
    const relabelled = { pricing: { input_price: 2, output_price: 20 } }
    const refused = await admin.patch('/models/dollars', relabelled)
    expect(refused).toMatchObject({ status: 400, body: { code: 40000 } })
    expect(refused.body.message).toMatch(/pricing\.currency must be named: the price so far is in USD/)
    const later = { model_id: 'dollars', ...relabelled, effective_at: Date.now() + 1e6 }
    expect((await admin.post('/price-changes', later)).body.message).toMatch(
      /pricing\.currency must be named/,
    )
    const unknown = { pricing: { ...pricing, currency: 'EUR' } }
    expect((await admin.patch('/models/dollars', unknown)).body.message).toMatch(/EUR has no rate/)
    expect((await admin.patch('/settings', { currency: 'EUR' })).body.message).toMatch(/has no rate/)
    expect((await admin.patch('/settings', { currency: 'USD' })).status).toBe(200)
    expect((await admin.patch('/models/dollars', relabelled)).status).toBe(200)
    expect(dataOf(await admin.get('/models/dollars'))).toMatchObject({
      pricing: { currency: 'USD', input_price: 2 },
    })
  })
})

test('every amount of money is shown with its currency, in refusals too', async () => {
  const { gateway } = admin
  const plan = { code: 'PLUS', price: 10, quota: [{ credits: 100, seconds: 3600 }] }
  expect(await admin.post('/plans', plan)).toMatchObject({ status: 201 })
  expect((await admin.patch('/settings', { currency: 'USD' })).status).toBe(200)
  const { headers } = await gateway.signIn()
  const at = (path: string): string => `${gateway.baseUrl}/api/v1/user/user/${path}`
  for (const path of ['account', 'statements', 'subscription/quote?plan=PLUS'])
    expect((await get(at(path), headers)).body.data, path).toMatchObject({ currency: 'USD' })
  expect((await get(at('plans'), headers)).body.data).toMatchObject([{ code: 'PLUS', currency: 'USD' }])
  expect(await read()).toMatchObject({ currency: 'USD' })
  const exchanged = await postJson(at('exchange'), { yuan: 5 }, headers)
  expect(exchanged.body.message).toBe('the balance holds 0 USD, which is too little')
  const bought = await postJson(at('subscription'), { plan: 'PLUS' }, headers)
  expect(bought.body.message).toMatch(/^the balance lacks [\d.]+ USD for the plan PLUS$/)
})

describe('credits_per_yuan', () => {
  test('changes freely before there is a balance, and caps and steps are worth as many yuan', async () => {
    const set = { monthly_cap_yuan: 100, auto_exchange: { enabled: false, below_credits: 5, step_yuan: 20 } }
    expect((await admin.patch(`/accounts/${admin.gateway.accountId}`, set)).status).toBe(200)
    expect((await setRate(2000)).status).toBe(200)
    await expect(read()).resolves.toMatchObject({
      monthly_cap_yuan: '100',
      auto_exchange: { below_credits: 5, step_yuan: 20 },
    })
    const account = await admin.gateway.account()
    expect(account.monthlyCap).toBe(200_000_000_000n)
  })

  test('is refused once a balance was booked, with the reason and what to do', async () => {
    await admin.post(`/accounts/${admin.gateway.accountId}/grants`, { balance: 100 })
    const refused = await setRate(2000)
    expect(refused).toMatchObject({ status: 409, body: { code: 40900 } })
    expect(refused.body.message).toMatch(
      /currencies.CNY cannot change.*a balance has been booked.*user rates instead/,
    )
    await expect(read()).resolves.toMatchObject({ balance: '100' })
    expect((await setRate('1000.0')).status).toBe(200)
    expect((await admin.patch('/settings', { timezone: 'UTC' })).status).toBe(200)
  })
})

describe('amounts beyond what can be kept', () => {
  const grant = (body: Fields) => admin.post(`/accounts/${admin.gateway.accountId}/grants`, body)

  test.each([
    { credits: 1_000_000_001 },
    { credits: '999999999999' },
    { credits: '-999999999999' },
    { balance: 1_000_001 },
    { balance: '999999999999' },
  ])('grant of %j', async (body) => {
    const answer = await grant(body)
    expect(answer).toMatchObject({ status: 400, body: { code: 40000 } })
    expect(answer.body.message).toMatch(/at most/)
  })

  test('a pool that is full takes nothing more and gives still', async () => {
    const full = await admin.patch(`/accounts/${admin.gateway.accountId}`, { credits: 1_000_000_000 })
    expect(full.status).toBe(200)
    await admin.gateway.storage.ledger.book(
      Array.from({ length: 999 }, (_, sequence) => ({
        transactionId: 'much',
        sequence,
        at: Date.now(),
        debit: 'platform/grants',
        credit: `${admin.gateway.accountId}/credits`,
        amount: (10n ** 15n) as never,
        kind: 'grant' as const,
        reference: undefined,
      })),
    )
    const answer = await grant({ credits: 1 })
    expect(answer).toMatchObject({ status: 400, body: { code: 40000 } })
    expect(answer.body.message).toMatch(/more credits than 1000000000000 Credits/)
    expect((await grant({ credits: -1 })).status).toBe(201)
  })

  test('an own cap of more yuan than can be kept', async () => {
    await setRate(1_000_000)
    const { headers } = await admin.gateway.signIn()
    const answer = await fetch(`${admin.gateway.baseUrl}/api/v1/user/user/account`, {
      method: 'PATCH',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ monthly_cap_yuan: '999999999' }),
    })
    expect(answer.status).toBe(400)
  })
})
