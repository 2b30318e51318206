/** Impersonating a customer: reading, little else, nothing that outlives it, and all of it written down. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AdminGateway, openAdminGateway } from '../gateway/admin-gateway.ts'
import { get } from '../gateway/client.ts'
import { type Customer, openCustomer } from '../gateway/customer.ts'

let admin: AdminGateway
let customer: Customer
let headers: Record<string, string>

beforeAll(async () => {
  admin = await openAdminGateway()
  customer = await openCustomer(admin.gateway, { balanceYuan: 10 })
  headers = await lookInto(customer.id)
})
afterAll(() => admin.close())

async function lookInto(id: string): Promise<Record<string, string>> {
  const answer = await admin.post(`/accounts/${id}/impersonate`, { reason: 'ticket 7' })
  const { token } = answer.body.data as { readonly token: string }
  return { authorization: `Bearer ${token}` }
}

const entries = async () =>
  (await admin.gateway.storage.audit.page({ subject: customer.id }, { limit: 50, cursor: undefined })).entries

describe('an admin who impersonates a customer', () => {
  test.each([
    ['POST', 'keys', { name: 'mine' }],
    ['POST', 'keys/1/rotate', {}],
    ['PUT', 'byok/openai', { secret: 'sk-theirs' }],
    ['POST', 'exchange', { yuan: 1 }],
    ['POST', 'redeem', { code: 'AAAA' }],
    ['POST', 'top-ups', { amount_yuan: 10 }],
    ['POST', 'subscription', { plan: 'PRO' }],
    ['PUT', 'password', { password: 'correct horse battery' }],
    ['POST', 'organisations', { name: 'theirs' }],
    ['PATCH', 'account', { alerts: { webhook_url: 'https://example.com/' } }],
    ['PATCH', 'account', { auto_exchange: { enabled: true } }],
    ['PATCH', 'account', { monthly_cap_yuan: 1 }],
  ])('may not %s %s %j', async (method, path, body) => {
    const answer = await customer.send(method, path, body, { ...headers, 'idempotency-key': 'one' })
    expect([answer.status, answer.body.code]).toEqual([403, 40304])
    expect(answer.body.message).toMatch(/owner/)
  })

  test.each([{}, { reason: '' }, { reason: ' \t ' }])('says why, in words: %j', async (body) => {
    const answer = await admin.post(`/accounts/${customer.id}/impersonate`, body)
    expect([answer.status, answer.body.code]).toEqual([400, 40000])
  })

  test('reads, and reading leaves no entry', async () => {
    const before = (await entries()).length
    expect((await customer.send('GET', 'account', undefined, headers)).status).toBe(200)
    expect((await customer.send('GET', 'keys', undefined, headers)).status).toBe(200)
    expect(await entries()).toHaveLength(before)
  })

  test('changes what a route lets it change, under the admin’s name', async () => {
    const answer = await customer.send('PATCH', 'account', { name: 'Ada' }, headers)
    expect(answer.status).toBe(200)
    const disabled = await customer.send('PATCH', `keys/${customer.keyId}`, { status: 'disabled' }, headers)
    expect(disabled.status).toBe(200)
    const [key, account] = await entries()
    expect(account).toMatchObject({
      action: 'impersonation.act',
      actor: { accountId: admin.adminId },
      subject: customer.id,
      changes: [{ to: 'PATCH /api/v1/user/user/account' }, { field: 'with', to: ['name'] }],
    })
    expect(key?.changes).toMatchObject([
      { to: 'PATCH /api/v1/user/user/keys/:id' },
      { field: 'of', to: { id: customer.keyId } },
      { field: 'with', to: ['status'] },
    ])
  })

  test('sees nothing from the moment they are no admin any more', async () => {
    const other = await admin.gateway.newAdmin()
    const opened = await fetch(`${admin.gateway.baseUrl}/api/v1/admin/accounts/${customer.id}/impersonate`, {
      method: 'POST',
      headers: { ...other.headers, 'content-type': 'application/json' },
      body: JSON.stringify({ reason: 'ticket 8' }),
    })
    const { data } = (await opened.json()) as { readonly data: { readonly token: string } }
    const seen = () =>
      get(`${admin.gateway.baseUrl}/api/v1/user/user/account`, { authorization: `Bearer ${data.token}` })
    expect((await seen()).status).toBe(200)
    await admin.patch(`/accounts/${other.id}`, { role: 'user' })
    expect((await seen()).status).toBe(401)
  })
})
