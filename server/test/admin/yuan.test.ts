/** What money in yuan is worth does not change under anybody's hands, and no amount is more than can be kept. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type AdminGateway, openAdminGateway } from '../gateway/admin-gateway.ts'
import type { Answer } from '../gateway/client.ts'

let admin: AdminGateway
beforeEach(async () => {
  admin = await openAdminGateway()
})
afterEach(() => admin.close())

type Fields = Readonly<Record<string, unknown>>
const dataOf = (answer: Answer): Fields => answer.body.data as Fields
const setRate = (rate: unknown) => admin.patch('/settings', { credits_per_yuan: rate })
const read = async () => dataOf(await admin.get(`/accounts/${admin.gateway.accountId}`))

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
    expect(refused.body.message).toMatch(/a balance in yuan has been booked.*user rates instead/)
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
