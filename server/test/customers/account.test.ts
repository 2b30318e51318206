/** The account as its owner sees and sets it. */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { postJson } from '../gateway/client.ts'
import { type Customer, openCustomer } from '../gateway/customer.ts'
import { putChain, putModel, putVendor, TEN_CREDITS } from '../gateway/gateway.ts'
import { answerOk } from '../gateway/scripted-upstream.ts'
import type { AccountView } from '../../src/management/accounts/accounts.ts'
import { microCredits } from '../../src/core/money.ts'
import { withGateway } from '../gateway/with-gateway.ts'

let customer: Customer

const { gateway, upstream } = await withGateway({
  upstreams: ['upstream'],
  catalogue: ({ upstream }) => [
    ...putVendor('acme', upstream.url),
    putModel('ten', { pricing: TEN_CREDITS }),
    putChain({ model: 'ten', vendor: 'acme' }),
  ],
})

beforeAll(async () => {
  upstream.answer(answerOk({ prompt_tokens: 1, completion_tokens: 1 }))
})
beforeEach(async () => {
  customer = await openCustomer(gateway, { credits: 100, balanceYuan: 2 })
})

const call = (key: string) =>
  postJson(
    `${gateway.baseUrl}/v1/chat/completions`,
    { model: 'ten', messages: [{ role: 'user', content: 'Hi' }] },
    { authorization: `Bearer ${key}` },
  )
const account = (): Promise<AccountView & Record<string, unknown>> => customer.ask('GET', 'account')

describe('GET …/account', () => {
  test('holds every field the decisions name [D-accounts-19] [D-accounts-25] [D-accounts-26] [D-accounts-27] [D-accounts-28] [D-accounts-29] [D-accounts-30] [D-accounts-31] [D-accounts-32] [D-accounts-33] [D-accounts-34] [D-accounts-35]', async () => {
    const expiresAt = Date.now() + 86_400_000
    await gateway.storage.accounts.patch(customer.id, {
      verification: 1,
      userRate: '80',
      apiDeduction: true,
      monthlyCap: microCredits(5_000_000_000n),
      subscription: { plan: 'PRO', level: 2, expiresAt, quota: [] },
    })
    await customer.ask('PATCH', 'account', { fallback_model: 'ten' })
    expect(await account()).toMatchObject({
      credits: '100',
      held_credits: '0',
      owed: '0',
      balance: '2',
      api_deduction: true,
      verification: 'personal',
      plan: 'PRO',
      plan_expires_at: new Date(expiresAt).toISOString(),
      user_rate: '80',
      fallback_model: 'ten',
      monthly_cap_yuan: '5',
      month_spent_yuan: '0',
    })
    expect((await call(customer.key)).status).toBe(200)
    await gateway.settled()
    expect(await account()).toMatchObject({ credits: '92', month_spent_yuan: '0.008' })
  })

  test('amounts are decimal text with at most six decimals [D-accounts-36]', async () => {
    const shown = await account()
    for (const name of [
      'credits',
      'held_credits',
      'owed',
      'balance',
      'user_rate',
      'monthly_cap_yuan',
      'month_spent_yuan',
    ]) {
      expect(shown[name]).toMatch(/^-?\d+(\.\d{1,6})?$/)
    }
  })

  test('an API key reads its account, and may not change it [D-accounts-20]', async () => {
    const headers = { authorization: `Bearer ${customer.key}` }
    expect(await customer.ask('GET', 'account', undefined, headers)).toMatchObject({ id: customer.id })
    const refused = await customer.send('PATCH', 'account', { api_deduction: false }, headers)
    expect([refused.status, refused.body.code]).toEqual([403, 40304])
  })

  test('what has not changed is not sent again', async () => {
    const first = await customer.send('GET', 'account')
    const etag = first.headers.get('etag') ?? ''
    expect(etag).not.toBe('')
    const again = await customer.send('GET', 'account', undefined, { 'if-none-match': etag })
    expect([again.status, again.text]).toEqual([304, ''])
    await customer.ask('PATCH', 'account', { name: 'Ada' })
    const changed = await customer.send('GET', 'account', undefined, { 'if-none-match': etag })
    expect(changed.status).toBe(200)
  })
})

describe('PATCH …/account', () => {
  test('fallback_model, and null takes it away [D-accounts-37]', async () => {
    await customer.ask('PATCH', 'account', { fallback_model: 'ten' })
    expect(await account()).toMatchObject({ fallback_model: 'ten' })
    await customer.ask('PATCH', 'account', { fallback_model: null })
    expect(await account()).toMatchObject({ fallback_model: null })
    const unknown = await customer.send('PATCH', 'account', { fallback_model: 'nothing', name: 'Eve' })
    expect(unknown.status).toBe(400)
    expect(unknown.body.message).toContain('fallback_model refers to an unknown model')
    expect(await account()).toMatchObject({ name: null })
  })

  test('api_deduction, and calls follow it [D-accounts-38]', async () => {
    await customer.ask('PATCH', 'account', { api_deduction: false })
    expect(await account()).toMatchObject({ api_deduction: false })
    expect((await call(customer.key)).body.code).toBe(40202)
    await customer.ask('PATCH', 'account', { api_deduction: true })
    expect((await call(customer.key)).status).toBe(200)
    await gateway.settled()
  })

  test('monthly_cap_yuan, and calls follow it [D-accounts-39]', async () => {
    await customer.ask('PATCH', 'account', { monthly_cap_yuan: '0.01' })
    expect(await account()).toMatchObject({ monthly_cap_yuan: '0.01' })
    expect((await call(customer.key)).status).toBe(200)
    await gateway.settled()
    expect((await call(customer.key)).body.code).toBe(42906)
    await customer.ask('PATCH', 'account', { monthly_cap_yuan: 0 })
    expect((await call(customer.key)).status).toBe(200)
    await gateway.settled()
  })

  test('auto_exchange, and exchange follows it [D-accounts-40]', async () => {
    const exchange = { enabled: true, below_credits: '95', step_yuan: 0.05 }
    await customer.ask('PATCH', 'account', { auto_exchange: exchange })
    expect(await account()).toMatchObject({ auto_exchange: { ...exchange, step_yuan: '0.05' } })
    await call(customer.key)
    await gateway.settled()
    expect(await account()).toMatchObject({ credits: '140', balance: '1.95' })
    await customer.ask('PATCH', 'account', { auto_exchange: { enabled: false } })
    expect(await account()).toMatchObject({ auto_exchange: { enabled: false, below_credits: '95' } })
    const useless = await customer.send('PATCH', 'account', {
      auto_exchange: { enabled: true, step_yuan: 0 },
    })
    expect(useless.body.message).toContain('auto_exchange.step_yuan must be above 0')
  })

  test('the profile: name, language, time zone, alerts [D-accounts-41]', async () => {
    const alerts = {
      email: true,
      low_credits: '50',
      failures_per_hour: 10,
      webhook_url: 'https://example.com/hook',
    }
    const profile = { name: 'Ada 爱达', language: 'zh-CN', time_zone: 'Asia/Shanghai', alerts }
    await customer.ask('PATCH', 'account', profile)
    expect(await account()).toMatchObject(profile)
    await customer.ask('PATCH', 'account', { language: null, alerts: { low_credits: null } })
    expect(await account()).toMatchObject({
      ...profile,
      language: null,
      alerts: { ...alerts, low_credits: null },
    })
  })

  test('what an account may not change itself stays as it was [D-accounts-42]', async () => {
    const before = await account()
    const forbidden = {
      id: 'acc_other',
      credits: '999999',
      held_credits: '0',
      balance: '999999',
      role: 'admin',
      status: 'active',
      verification: 'enterprise',
      plan: 'PROMAX',
      user_rate: '1',
      email: 'other@example.com',
      password_hash: 'x',
      policy: {},
      limits: {},
    }
    for (const [name, value] of Object.entries(forbidden)) {
      const answer = await customer.send('PATCH', 'account', { name: 'Eve', [name]: value })
      expect(answer.status).toBe(400)
      expect(answer.body.message).toContain(`${name} is an unknown field`)
    }
    expect(await account()).toEqual(before)
  })

  test.each([
    ['http://127.0.0.1:9/hook', '127.0.0.1'],
    ['http://[::1]/hook', '::1'],
    ['https://10.1.2.3/hook', '10.1.2.3'],
    ['http://localhost/hook', ''],
  ])(
    'a webhook to the operator’s own network is refused when it is set, with what to change: %s',
    async (url, address) => {
      const answer = await customer.send('PATCH', 'account', { alerts: { webhook_url: url } })
      expect(answer).toMatchObject({ status: 400, body: { code: 40000 } })
      const { details } = answer.body.error as { readonly details?: { readonly fields?: readonly object[] } }
      expect(details?.fields).toMatchObject([
        {
          in: 'body',
          path: 'alerts.webhook_url',
          message: expect.stringMatching(
            new RegExp(`leads to .*${address.replaceAll('.', '\\.')}, which is private.*SLUICE_FETCH_ALLOW`),
          ),
        },
      ])
      expect(await account()).toMatchObject({ alerts: { webhook_url: null } })
    },
  )

  test('all errors are reported together, each with its path', async () => {
    const answer = await customer.send('PATCH', 'account', {
      monthly_cap_yuan: '-1',
      auto_exchange: { below_credits: '1.0000001', step_yuan: 'much' },
      time_zone: 'Mars/Olympus',
      alerts: { failures_per_hour: 0, webhook_url: 'file:///etc/passwd' },
      api_deduction: 'yes',
    })
    expect(answer.status).toBe(400)
    const { details } = answer.body.error as {
      readonly details?: { readonly fields?: readonly { path: string }[] }
    }
    expect(details?.fields?.map(({ path }) => path).sort()).toEqual([
      'alerts.failures_per_hour',
      'alerts.webhook_url',
      'api_deduction',
      'auto_exchange.below_credits',
      'auto_exchange.step_yuan',
      'monthly_cap_yuan',
      'time_zone',
    ])
  })
})
