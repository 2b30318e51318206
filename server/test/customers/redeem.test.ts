/** Codes that are worth money: made in the management API, redeemed once by whoever has them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AdminGateway, openAdminGateway } from '../gateway/admin-gateway.ts'
import { type Answer, readAnswer } from '../gateway/client.ts'
import { type Customer, openCustomer } from '../gateway/customer.ts'

let admin: AdminGateway
let now = Date.UTC(2027, 0, 1)

beforeAll(async () => {
  admin = await openAdminGateway({ now: () => now })
})
afterAll(() => admin.close())

interface Made {
  readonly batch: { readonly id: string }
  readonly codes: readonly string[]
}

async function make(body: object): Promise<Made> {
  const answer = await admin.post('/code-batches', body)
  expect(answer.status, answer.text).toBe(201)
  return answer.body.data as never
}

const customerOf = (): Promise<Customer> => openCustomer(admin.gateway, { credits: 0 })
const redeem = (customer: Customer, code: unknown, headers?: Record<string, string>) =>
  customer.send('POST', 'redeem', { code }, headers)
const said = ({ status, body }: Answer) => [status, body.code]

describe('making codes', () => {
  test('they are shown once: afterwards only hashes are stored, and lists show a hint', async () => {
    const { batch, codes } = await make({ credits: '5', count: 3, note: 'fair' })
    expect(new Set(codes).size).toBe(3)
    const shown = await admin.get(`/code-batches/${batch.id}/codes`)
    expect(shown.body.data).toMatchObject(codes.map((code) => ({ hint: code.slice(0, 5), status: 'open' })))
    const everything = [shown, await admin.get('/code-batches'), await admin.get('/audit')]
    for (const { text } of everything) for (const code of codes) expect(text).not.toContain(code)
  })

  test('a batch comes as CSV too', async () => {
    const response = await fetch(`${admin.gateway.baseUrl}/api/v1/admin/code-batches/csv`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...admin.headers },
      body: JSON.stringify({ yuan: 2.5, count: 2, expires_at: '2027-02-01T00:00:00Z' }),
    })
    const [head, one = '', other] = (await response.text()).split('\r\n')
    expect([response.status, response.headers.get('content-type')]).toEqual([201, 'text/csv; charset=utf-8'])
    expect(head).toBe('code,credits,yuan,expires_at')
    expect(one).toMatch(/^([0-9A-Z]{5}-){3}[0-9A-Z]{5},,2\.5,2027-02-01T00:00:00\.000Z$/)
    expect(other).not.toBe(one)
    const batch = await admin.get(`/code-batches/${response.headers.get('x-batch-id') ?? ''}`)
    expect(batch.body.data).toMatchObject({ yuan: '2.5', credits: null, count: 2, redeemed: 0 })
    const customer = await customerOf()
    const redeemed = await redeem(customer, one.split(',')[0])
    expect(redeemed.body.data).toMatchObject({ credits: null, yuan: '2.5', account: { balance: '2.5' } })
  })

  test('under one Idempotency-Key makes one batch, and says which it was', async () => {
    const headers = { 'idempotency-key': 'spring' }
    // Of a moment of its own, so that it is the newest.
    now += 1_000
    const first = await admin.post('/code-batches', { credits: 1, count: 2 }, headers)
    const again = await admin.post('/code-batches', { credits: 1, count: 2 }, headers)
    const { batch } = first.body.data as Made
    expect([first.status, ...said(again)]).toEqual([201, 409, 40900])
    expect(again.text).toContain(batch.id)
    expect(said(await admin.post('/code-batches', { credits: 1, count: 3 }, headers))).toEqual([422, 40004])
    expect((await admin.get('/code-batches?limit=1')).body.data).toMatchObject([{ id: batch.id }])
  })

  test('is written into the audit log', async () => {
    const { batch } = await make({ credits: 7, count: 2 })
    const { body } = await admin.get(`/audit?subject=${batch.id}`)
    expect(body.data).toMatchObject([
      {
        action: 'codes.create',
        changes: [
          { field: 'count', from: null, to: 2 },
          { field: 'credits', from: null, to: '7' },
        ],
      },
    ])
  })

  test.each([
    ['nothing says what they are worth', { count: 1 }],
    ['two things say what they are worth', { count: 1, credits: 1, yuan: 1 }],
    ['they are worth nothing', { count: 1, credits: 0 }],
    ['they are worth less than nothing', { count: 1, credits: -1 }],
    ['they are worth more than can be booked', { count: 1, yuan: 1_000_000_000 }],
    ['there are none', { count: 0, credits: 1 }],
    ['there are more than 10 000', { count: 10_001, credits: 1 }],
    ['they are over already', { count: 1, credits: 1, expires_at: '2020-01-01T00:00:00Z' }],
  ])('is refused where %s', async (_, body) => {
    expect(said(await admin.post('/code-batches', body))).toEqual([400, 40000])
  })
})

describe('redeeming', () => {
  test('adds what the code is worth, once, and the statement shows it', async () => {
    const { codes } = await make({ credits: '12.5', count: 1 })
    const customer = await customerOf()
    const first = await redeem(customer, codes[0])
    expect(first.body.data).toMatchObject({
      credits: '12.5',
      yuan: null,
      account: { credits: '12.5', balance: '0' },
    })
    const again = await redeem(customer, codes[0])
    expect(said(again)).toEqual([409, 40900])
    expect(again.text).toContain('by you')
    expect(await customer.ask('GET', 'account')).toMatchObject({ credits: '12.5' })
  })

  test('case, dashes and letters that look alike make no difference', async () => {
    const { codes } = await make({ credits: 1, count: 1 })
    const typed = (codes[0] ?? '')
      .replaceAll('-', ' ')
      .replaceAll('0', 'o')
      .replaceAll('1', 'l')
      .toLowerCase()
    expect(said(await redeem(await customerOf(), typed))).toEqual([200, 0])
  })

  test('of fifty people at once one is given it', async () => {
    const { batch, codes } = await make({ credits: 3, count: 1 })
    const people = await Promise.all(Array.from({ length: 50 }, customerOf))
    const answers = await Promise.all(people.map((customer) => redeem(customer, codes[0])))
    const statuses = answers.map(({ status }) => status).toSorted((one, other) => one - other)
    expect(statuses).toEqual([200, ...Array.from({ length: 49 }, () => 409)])
    const list = (await admin.get(`/code-batches/${batch.id}/codes`)).body.data as readonly object[]
    const winner = people[answers.findIndex(({ status }) => status === 200)]
    expect(list).toMatchObject([{ status: 'redeemed', redeemed_by: winner?.id }])
  })

  test('an Idempotency-Key answers the same again, and is of one code', async () => {
    const { codes } = await make({ credits: 3, count: 2 })
    const customer = await customerOf()
    const key = { 'idempotency-key': 'k' }
    const first = await redeem(customer, codes[0], key)
    expect((await redeem(customer, codes[0], key)).text).toBe(first.text)
    expect(said(await redeem(customer, codes[1], key))).toEqual([422, 40004])
    expect(await customer.ask('GET', 'account')).toMatchObject({ credits: '3' })
  })

  test('an expired or voided code says so, and opens nothing', async () => {
    const { codes } = await make({ credits: 3, count: 1, expires_at: new Date(now + 1_000).toISOString() })
    const voided = await make({ credits: 3, count: 2 })
    const one = await admin.post('/codes/void', { code: voided.codes[0]?.toLowerCase() })
    expect(one.body.data).toMatchObject({ status: 'void' })
    expect(said(await admin.post('/codes/void', { code: voided.codes[0] }))).toEqual([409, 40900])
    expect(said(await admin.post('/codes/void', { code: 'no such code' }))).toEqual([404, 40403])
    expect((await admin.post(`/code-batches/${voided.batch.id}/void`)).body.data).toEqual({ voided: 1 })
    expect(said(await admin.post('/code-batches/bat_none/void'))).toEqual([404, 40403])
    now += 1_000
    const customer = await customerOf()
    for (const code of [...codes, ...voided.codes])
      expect(said(await redeem(customer, code))).toEqual([409, 40900])
    expect(await customer.ask('GET', 'account')).toMatchObject({ credits: '0' })
  })
})

describe('guessing', () => {
  test('after twenty wrong codes an account has to wait, also with a right one, and nothing else does', async () => {
    const { codes } = await make({ credits: 3, count: 2 })
    const customer = await customerOf()
    const answers: Answer[] = []
    for (let tries = 0; tries < 21; tries += 1)
      answers.push(await redeem(customer, tries % 2 === 0 ? 'AAAAA-AAAAA-AAAAA-AAAAA' : 'unreadable'))
    expect(answers.slice(0, 20).map(said)).toEqual(Array.from({ length: 20 }, () => [400, 40005]))
    expect(said(answers[20] as Answer)).toEqual([429, 42908])
    expect(said(await redeem(customer, codes[0]))).toEqual([429, 42908])
    expect(said(await redeem(await customerOf(), codes[1]))).toEqual([200, 0])
    now += 3_600_000
    expect(said(await redeem(customer, codes[0]))).toEqual([200, 0])
  })

  test('one address has to wait after a hundred wrong codes, whichever accounts it uses', async () => {
    now += 3_600_000
    const statuses: number[] = []
    for (let account = 0; account < 11; account += 1) {
      const customer = await customerOf()
      const answers = await Promise.all(Array.from({ length: 10 }, () => redeem(customer, 'wrong')))
      statuses.push(...answers.map(({ status }) => status))
    }
    expect(statuses.filter((status) => status === 400)).toHaveLength(100)
    expect(statuses.filter((status) => status === 429)).toHaveLength(10)
    now += 3_600_000
  })

  test('an API key redeems nothing, nor does nobody', async () => {
    const customer = await customerOf()
    const byKey = await redeem(customer, 'x', { authorization: `Bearer ${customer.key}` })
    expect(said(byKey)).toEqual([403, 40304])
    const byNobody = await readAnswer(
      await fetch(`${admin.gateway.baseUrl}/api/v1/user/user/redeem`, { method: 'POST', body: '{}' }),
    )
    expect(byNobody.status).toBe(401)
  })
})
