/** One form for one thing, wherever it is written: moments, amounts set once, tables that are none. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AdminGateway, openAdminGateway } from '../gateway/admin-gateway.ts'
import { postJson, readAnswer } from '../gateway/client.ts'
import { type Customer, openCustomer } from '../gateway/customer.ts'

let admin: AdminGateway
let customer: Customer

beforeAll(async () => {
  admin = await openAdminGateway()
  customer = await openCustomer(admin.gateway)
})
afterAll(() => admin.close())

describe('moments in requests', () => {
  const at = Date.parse('2031-01-31T12:00:00.000Z')

  test.each([at, String(at), '2031-01-31T12:00:00Z', at / 1_000])('%j ends a key', async (written) => {
    const key = { name: 'ends', expires_at: written }
    const made: { readonly expires_at: string } = await customer.ask('POST', 'keys', key)
    expect(made.expires_at).toBe('2031-01-31T12:00:00.000Z')
  })

  test.each([at, String(at), '2031-01-31T12:00:00Z'])('%j ends a batch of codes', async (written) => {
    const answer = await admin.post('/code-batches', { credits: 1, count: 1, expires_at: written })
    expect(answer.status).toBe(201)
    expect(answer.text).toContain('"expires_at":"2031-01-31T12:00:00.000Z"')
  })
})

describe('an amount that is set', () => {
  const set = async (credits: number, key: string) =>
    readAnswer(
      await fetch(`${admin.gateway.baseUrl}/api/v1/admin/accounts/${customer.id}`, {
        method: 'PATCH',
        headers: { ...admin.headers, 'content-type': 'application/json', 'idempotency-key': key },
        body: JSON.stringify({ credits }),
      }),
    )
  const spendable = async () => {
    const { credits, held } = await admin.gateway.account(customer.id)
    return (credits - held) / 1_000_000n
  }

  test('is set once under an idempotency key', async () => {
    expect((await set(500, 'one')).status).toBe(200)
    await admin.post(`/accounts/${customer.id}/grants`, { credits: 7 })
    expect((await set(500, 'one')).status).toBe(200)
    expect(await spendable()).toBe(507n)
    const other = await set(600, 'one')
    expect([other.status, other.body.code]).toEqual([422, 40004])
    expect((await set(500, 'two')).status).toBe(200)
    expect(await spendable()).toBe(500n)
  })
})

test('a table of prices is told what is read instead', async () => {
  const answer = await admin.post('/prices/import', { file: 'model,input,output\nplain,1,2\n' })
  expect(answer.status).toBe(400)
  expect(answer.body.message).toMatch(/looks like a table: what is read is a gateway file/)
  expect((await admin.post('/prices/import', { file: 'models: []' })).status).toBe(200)
})

test('a target that is none is named', async () => {
  const answer = await postJson(`${admin.gateway.baseUrl}/api/v1/user/user/verification-codes`, {
    channel: 'email',
    target: 'nobody',
    purpose: 'sign_in',
  })
  expect(answer.status).toBe(400)
  expect(answer.body.error).toMatchObject({ details: { fields: [{ in: 'body', path: 'target' }] } })
})

test('a session says when it ends unused and when it ends anyway', async () => {
  const [session]: readonly object[] = await customer.ask('GET', 'sessions')
  expect(session).toMatchObject({ expires_at: expect.any(String), ends_at: expect.any(String) })
})
