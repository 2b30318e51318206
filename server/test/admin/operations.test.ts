/** Logs, statistics, margins, prices to come, announcements and the audit log, as an admin has them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AdminGateway, openAdminGateway } from '../gateway/admin-gateway.ts'
import { type Answer, get } from '../gateway/client.ts'
import { putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { applyDuePrices } from '../../src/management/admin/due-prices.ts'

let admin: AdminGateway
let customer: { readonly id: string; readonly key: string }

beforeAll(async () => {
  admin = await openAdminGateway()
  await admin.gateway.catalogue(
    ...putVendor('acme', admin.upstream.url),
    ...putVendor('bolt', admin.upstream.url),
    putModel('plain'),
    putChain({ model: 'plain', vendor: 'acme' }),
    putModel('other'),
    putChain({ model: 'other', vendor: 'bolt' }),
  )
  customer = await admin.gateway.newAccount({ email: 'customer@example.com' })
  await admin.call('plain')
  await admin.call('plain', customer.key)
  await admin.call('other', customer.key)
  await admin.gateway.settled()
})

afterAll(() => admin.close())

type Fields = Readonly<Record<string, unknown>>
const dataOf = (answer: Answer): Fields => answer.body.data as Fields
const rowsOf = (answer: Answer): readonly Fields[] => answer.body.data as Fields[]
const lines = (text: string): readonly Fields[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Fields)

describe('logs over all accounts', () => {
  test('admin/logs: calls of all accounts, with filters and pages [D-accounts-136]', async () => {
    const all = rowsOf(await admin.get('/logs'))
    expect(all.map((row) => [row['model'], row['account_id']])).toEqual([
      ['other', customer.id],
      ['plain', customer.id],
      ['plain', admin.gateway.accountId],
    ])
    expect(rowsOf(await admin.get(`/logs?account_id=${customer.id}&model=plain`))).toHaveLength(1)
    const first = await admin.get('/logs?limit=2')
    const second = await admin.get(`/logs?limit=2&cursor=${String(first.body['next_cursor'])}`)
    expect([...rowsOf(first), ...rowsOf(second)]).toEqual(all)
    expect(second.body['next_cursor']).toBeNull()
    expect((await admin.get('/logs?colour=red')).body.message).toContain('colour is an unknown field')
  })

  test('are exported as a stream of lines, or as a table', async () => {
    const rows = lines((await admin.get('/logs/export')).text)
    expect(rows).toEqual(rowsOf(await admin.get('/logs')))
    const table = await admin.get(`/logs/export?format=csv&account_id=${customer.id}`)
    expect(table.headers.get('content-type')).toContain('text/csv')
    expect(table.text.trim().split('\r\n')).toHaveLength(3)
    expect(table.text).toContain('account_id,request_id')
  })

  test('are summed, over all accounts or one', async () => {
    const all = dataOf(await admin.get('/statistics?group_by=model&interval=total'))
    expect(all['totals']).toMatchObject({ calls: 3, deducted: '39', usage: { input: 3000, output: 300 } })
    expect(new Map((all['rows'] as Fields[]).map((row) => [row['model'], row['calls']]))).toEqual(
      new Map([
        ['other', 1],
        ['plain', 2],
      ]),
    )
    const one = dataOf(await admin.get(`/statistics?account_id=${customer.id}`))
    expect(one['totals']).toMatchObject({ calls: 2, deducted: '26' })
  })

  test('are summed by account and by key, with what those are called', async () => {
    const sums = dataOf(await admin.get('/statistics?group_by=account,key&interval=total'))
    const keys = sums['keys'] as Fields[]
    const ownerOf = (id: unknown) => keys.find((key) => key['id'] === id)?.['account_id']
    const rows = sums['rows'] as Fields[]
    const told = rows.map((row) => [row['account_id'], ownerOf(row['key_id']), row['calls']])
    expect(told).toHaveLength(2)
    expect(told).toContainEqual([customer.id, customer.id, 2])
    expect(told).toContainEqual([admin.gateway.accountId, admin.gateway.accountId, 1])
    expect(sums['accounts']).toContainEqual({ id: customer.id, name: 'customer@example.com' })
    const byModel = dataOf(await admin.get('/statistics?group_by=model&interval=total'))
    expect([byModel['keys'], byModel['accounts']]).toEqual([[], []])
  })

  test('are summed by days of the zone that is named', async () => {
    const days = dataOf(await admin.get('/statistics?interval=day&time_zone=Asia/Kolkata'))[
      'rows'
    ] as Fields[]
    // Kolkata is half an hour off the hours of UTC.
    expect(String(days.at(-1)?.['at'])).toMatch(/:30:00.000Z$/)
    expect((await admin.get('/statistics?time_zone=Nowhere')).body.message).toContain(
      'time_zone must be a time zone',
    )
  })

  test.each(['account_id', 'key_id', 'model'])(
    'where only the largest %s is told, the others are one row',
    async (field) => {
      const path = `/statistics?group_by=${field.replace('_id', '')}&largest=1&interval=total`
      const { rows, totals } = dataOf(await admin.get(path)) as { rows: Fields[]; totals: Fields }
      expect(totals).toMatchObject({ calls: 3, deducted: '39' })
      const sums = rows.map((row) => [row[field] === '(other)', row['deducted'], row['calls']])
      expect(sums).toHaveLength(2)
      expect(sums).toContainEqual([false, '26', 2])
      expect(sums).toContainEqual([true, '13', 1])
    },
  )

  test('margins by account: those that paid most one by one, all others as one', async () => {
    const report = dataOf(await admin.get('/margin/accounts'))
    expect(report).toMatchObject({
      accounts: [
        { account_id: customer.id, account_name: 'customer@example.com', calls: 2, revenue: '26' },
        { account_id: admin.gateway.accountId, calls: 1, revenue: '13' },
      ],
      others: null,
      totals: { calls: 3, free_calls: 0, byok_calls: 0, revenue: '39' },
    })
    const [first, ...none] = dataOf(await admin.get('/margin/accounts?limit=1'))['accounts'] as Fields[]
    expect([first?.['account_id'], none]).toEqual([customer.id, []])
    expect(dataOf(await admin.get('/margin/accounts?limit=1'))['others']).toMatchObject({
      accounts: 1,
      calls: 1,
      revenue: '13',
    })
    expect((await admin.get('/margin/accounts?from=2026-01-01T00:00:00Z')).body.message).toContain(
      'at most 31 days',
    )
  })

  test('margins: what each chain brought in, and what it cost where that is known', async () => {
    const chains = rowsOf(await admin.get('/chains'))
    const plain = chains.find((chain) => chain['model_id'] === 'plain')
    const cost = { input_price: 4, output_price: 10 }
    const changed = await admin.patch(`/chains/${String(plain?.['id'])}`, { cost })
    expect(dataOf(changed)).toMatchObject({ cost: { input_price: 4, output_price: 10 } })
    const report = dataOf(await admin.get('/margin'))
    // 1000 in at 4 and 100 out at 10 yuan a million are 0.005 yuan, 5 Credits a call.
    expect(report).toMatchObject({
      calls: 3,
      complete: true,
      chains: [
        { model: 'plain', calls: 2, revenue: '26', cost: '10', margin: '16', byok_calls: 0, free_calls: 0 },
        { model: 'other', calls: 1, revenue: '13', cost: null, margin: null },
      ],
    })
    expect(rowsOf(await admin.get('/audit?limit=1'))).toMatchObject([{ action: 'chain.change' }])
    // The customer called a chain without stated costs too.
    expect(dataOf(await admin.get('/margin/accounts'))).toMatchObject({
      accounts: [
        { account_id: customer.id, cost: null, margin: null },
        { account_id: admin.gateway.accountId, cost: '5', margin: '8' },
      ],
    })
    const [day] = (dataOf(await admin.get('/margin?timezone=Asia/Kolkata'))['days'] as Fields[]).slice(-1)
    expect(day).toMatchObject({ chains: report['chains'] })
    // Kolkata is half an hour off the hours of UTC.
    expect(String((await lastTwoDays())[1]?.['at'])).toMatch(/T18:30:00.000Z$/)
    expect((await admin.get('/margin?timezone=Nowhere')).body.message).toContain(
      'timezone must be a time zone',
    )
    const wrong = await admin.patch(`/chains/${String(plain?.['id'])}`, { cost: { input_price: 1 } })
    expect(wrong.body.message).toContain('cost.output_price is missing')
  })

  /** Of two whole days, so that a midnight lies between them. */
  async function lastTwoDays(): Promise<readonly Fields[]> {
    const from = new Date(Date.now() - 86_400_000).toISOString()
    const report = dataOf(await admin.get(`/margin?timezone=Asia/Kolkata&from=${from}`))
    return report['days'] as Fields[]
  }

  test('any account’s call is explained with its key, and no call is made', async () => {
    const { rows } = { rows: rowsOf(await admin.get(`/logs?account_id=${customer.id}`)) }
    const asked = { key_id: rows[0]?.['key_id'], body: { model: 'plain', messages: [] } }
    expect(dataOf(await admin.post('/explain', asked))).toMatchObject({
      model: 'plain',
      routes: [{ chains: [{ vendor_code: 'acme' }] }],
    })
    expect(rowsOf(await admin.get(`/logs?account_id=${customer.id}`))).toHaveLength(rows.length)
    expect((await admin.post('/explain', { ...asked, key_id: 'key_none' })).status).toBe(404)
    expect((await admin.post('/explain', { body: asked.body })).status).toBe(400)
  })

  test('free calls are listed with the reason', async () => {
    const cheap = await admin.gateway.newAccount({ userRate: '1' })
    await admin.call('plain', cheap.key)
    const own = await admin.gateway.newAccount()
    await admin.patch(`/accounts/${own.id}`, { byok: [{ vendor: 'acme', secret: 'own' }] })
    await admin.call('plain', own.key)
    await admin.gateway.settled()
    const rows = rowsOf(await admin.get('/free-calls'))
    expect(rows).toMatchObject([
      { account_id: own.id, why: 'own-credential' },
      { account_id: cheap.id, why: 'below-one-credit', amount: '0.13' },
    ])
  })
})

describe('prices to come', () => {
  const pricing = { input_price: 100, output_price: 300 }

  test('hold from their moment on, not before, and are written down', async () => {
    const effective = new Date(Date.now() + 3_600_000).toISOString()
    const made = await admin.post('/price-changes', { model_id: 'other', effective_at: effective, pricing })
    expect(made.status).toBe(201)
    expect(dataOf(made)).toMatchObject({ status: 'pending', effective_at: effective })
    const { storage } = admin.gateway
    expect(await applyDuePrices(storage, Date.parse(effective) - 1)).toBe(0)
    await admin.call('other')
    expect((await admin.gateway.lastLog()).deducted).toBe(13_000_000n)
    expect(await applyDuePrices(storage, Date.parse(effective))).toBe(1)
    expect(await applyDuePrices(storage, Date.parse(effective))).toBe(0)
    await admin.gateway.running.pipeline.refreshCatalogue()
    await admin.call('other')
    expect((await admin.gateway.lastLog()).deducted).toBe(130_000_000n)
    expect(rowsOf(await admin.get('/audit?limit=1'))).toMatchObject([
      { action: 'price.apply', subject: 'other', actor: { account_id: null } },
    ])
    expect(rowsOf(await admin.get('/price-changes?status=applied'))).toHaveLength(1)
  })

  test('are cancelled while they are pending', async () => {
    const at = new Date(Date.now() + 7_200_000).toISOString()
    const made = await admin.post('/price-changes', { model_id: 'plain', effective_at: at, pricing })
    const path = `/price-changes/${String(dataOf(made)['id'])}`
    expect(dataOf(await admin.remove(path))).toMatchObject({ status: 'cancelled' })
    expect((await admin.remove(path)).body.code).toBe(40900)
    expect(await applyDuePrices(admin.gateway.storage, Date.parse(at))).toBe(0)
  })

  test.each([
    [
      { model_id: 'plain', effective_at: '2020-01-01T00:00:00Z', pricing },
      'effective_at must lie in the future',
    ],
    [{ model_id: 'plain', effective_at: 'soon', pricing }, 'effective_at must be'],
    [
      { model_id: 'plain', effective_at: '2199-01-01T00:00:00Z', pricing: { input_price: 1 } },
      'pricing.output_price is missing',
    ],
  ])('refuse %j', async (body, message) => {
    const answer = await admin.post('/price-changes', body)
    expect(answer.status).toBe(400)
    expect(answer.body.message).toContain(message)
  })

  test('a price list from a file is looked at first, and applied as it was looked at', async () => {
    const file = 'models:\n  - model_id: plain\n    pricing: {input_price: 20, output_price: 60}\n'
    const dry = dataOf(await admin.post('/prices/import', { file }))
    expect(dry).toMatchObject({
      mode: 'dry-run',
      differences: [
        {
          model_id: 'plain',
          fields: [
            { field: 'input_price', from: 10, to: 20 },
            { field: 'output_price', from: 30, to: 60 },
            { field: 'cache_input_price', from: 1, to: null },
          ],
        },
      ],
    })
    await admin.call('plain')
    expect((await admin.gateway.lastLog()).deducted).toBe(13_000_000n)
    const { review } = dry as { review: string }
    await admin.patch('/models/plain', { pricing: { input_price: 11, output_price: 30 } })
    expect((await admin.post('/prices/import', { file, review })).body.code).toBe(40900)
    const again = dataOf(await admin.post('/prices/import', { file })) as { review: string }
    const applied = dataOf(await admin.post('/prices/import', { file, review: again.review }))
    expect(applied).toMatchObject({ mode: 'applied' })
    const [entry] = rowsOf(await admin.get('/audit?action=price.import'))
    expect(entry).toMatchObject({ subject: 'plain' })
    expect(JSON.stringify(entry)).toContain('"input_price","from":11,"to":20')
    await admin.call('plain')
    expect((await admin.gateway.lastLog()).deducted).toBe(26_000_000n)
  })

  test('a wrong price list is refused with line and path', async () => {
    const file = 'models:\n  - model_id: nobody\n    pricing: {input_price: 20, output_price: 60}\n'
    expect((await admin.post('/prices/import', { file })).body.message).toContain(
      'refers to an unknown model: nobody',
    )
    const broken = await admin.post('/prices/import', { file: 'models:\n  - pricing: {input_price: x}\n' })
    expect(broken.status).toBe(400)
    expect(broken.body.message).toContain('file:2:')
  })
})

test.each([
  ['yaml', 'application/yaml', 'model_id: plain'],
  ['json', 'application/json', '"model_id": "plain"'],
])('what is stored is exported as a gateway file in %s, without secrets', async (format, type, row) => {
  const answer = await admin.get(`/gateway-file?format=${format}`)
  expect(answer.headers.get('content-type')).toContain(type)
  expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="gateway.${format}"`)
  expect(answer.text).toContain(row)
  expect(answer.text).not.toMatch(/^ *"?secret"?:/m)
  const path = '/prices/import'
  expect(dataOf(await admin.post(path, { file: answer.text }))).toMatchObject({ differences: [] })
})

describe('health', () => {
  test('what goes through now, who serves and what waits are told of every instance', async () => {
    await admin.call('plain')
    const health = dataOf(await admin.get('/health'))
    expect(health['traffic']).toMatchObject({ failed: expect.any(Number), calls: expect.any(Number) })
    expect((health['traffic'] as { calls: number }).calls).toBeGreaterThan(0)
    expect(health['instances']).toMatchObject([{ state: 'running', epoch: expect.any(Number) }])
    expect(health['waiting']).toEqual({ verifications: 0, top_ups: 0, suspect_calls: 0 })
  })

  test('findings are those of the doctor, each with what to do', async () => {
    const findings = rowsOf(await admin.get('/findings'))
    const of = (check: string) => findings.find((one) => one['check'] === check)
    expect(of('node')).toMatchObject({
      state: 'ok',
      code: 'node-good',
      parameters: { version: process.versions.node },
      fix: null,
    })
    expect(of('phone messages')).toMatchObject({
      state: 'warning',
      code: 'phone-absent',
      parameters: {},
      fix: expect.stringContaining('SLUICE_SMS_URL'),
    })
    expect(of('currencies')).toMatchObject({ found: expect.stringContaining('priced in CNY') })
  })
})

describe('announcements', () => {
  const publicUrl = () => `${admin.gateway.baseUrl}/api/v1/user/user/announcements`

  test('are shown to all accounts while they are valid', async () => {
    const made = await admin.post('/announcements', { title: 'Maintenance', body: 'On <b>Sunday</b>.' })
    expect(made.status).toBe(201)
    const id = String(dataOf(made)['id'])
    const later = { title: 'Later', body: 'x', starts_at: new Date(Date.now() + 86_400_000).toISOString() }
    await admin.post('/announcements', later)
    expect(rowsOf(await get(publicUrl()))).toMatchObject([{ id, body: 'On <b>Sunday</b>.', level: 'info' }])
    expect(rowsOf(await admin.get('/announcements'))).toHaveLength(2)
    await admin.patch(`/announcements/${id}`, { level: 'critical' })
    expect(rowsOf(await get(publicUrl()))).toMatchObject([{ id, level: 'critical', title: 'Maintenance' }])
    await admin.remove(`/announcements/${id}`)
    expect(rowsOf(await get(publicUrl()))).toEqual([])
    expect((await admin.remove(`/announcements/${id}`)).body.code).toBe(40403)
  })

  test('end after they begin', async () => {
    const body = { title: 'x', body: 'x', starts_at: '2030-01-02T00:00:00Z', ends_at: '2030-01-01T00:00:00Z' }
    expect((await admin.post('/announcements', body)).body.message).toContain('ends_at must lie after')
  })
})

describe('requests to be verified', () => {
  test('are decided once, and the decision takes effect with the next call [D-accounts-112]', async () => {
    const { storage } = admin.gateway
    await admin.gateway.catalogue(
      putModel('verified-only', { requiredVerification: 1 }),
      putChain({ model: 'verified-only', vendor: 'acme' }),
    )
    const { id: accountId, key } = await admin.gateway.newAccount()
    await storage.customers.verifications.submit({
      id: 'ver_test',
      accountId,
      kind: 'personal',
      status: 'pending',
      submittedAt: Date.now(),
      decidedAt: undefined,
      decidedBy: undefined,
      reason: undefined,
      statement: { legal_name: 'A. Person', id_number: '1' },
      documents: [],
    })
    expect((await admin.call('verified-only', key)).body.code).toBe(40203)
    expect(rowsOf(await admin.get('/verifications?status=pending'))).toMatchObject([
      { id: 'ver_test', statement: { legal_name: 'A. Person' } },
    ])
    const decided = await admin.post('/verifications/ver_test/decide', { verdict: 'approved' })
    expect(dataOf(decided)).toMatchObject({ status: 'approved', decided_by: admin.adminId })
    expect((await admin.call('verified-only', key)).status).toBe(200)
    const twice = await admin.post('/verifications/ver_test/decide', { verdict: 'rejected' })
    expect(twice.body.code).toBe(40900)
    expect(rowsOf(await admin.get(`/audit?subject=${accountId}`))).toMatchObject([
      { action: 'verification.decide' },
    ])
  })
})

describe('the audit log', () => {
  test('says who did what from where, in one chain that is verified and exported whole', async () => {
    await admin.patch('/settings', { limits: { concurrency: 3 } })
    await admin.patch('/settings', { limits: {} })
    const [newest] = rowsOf(await admin.get('/audit?action=settings.change&limit=1'))
    expect(newest).toMatchObject({
      actor: { account_id: admin.adminId, address: '127.0.0.1' },
      changes: [{ field: 'limits', from: { concurrency: 3 }, to: {} }],
    })
    const verdict = dataOf(await admin.get('/audit/verify'))
    expect(verdict).toMatchObject({ whole: true, why: null })
    const exported = lines((await admin.get('/audit/export')).text)
    expect(exported).toHaveLength(Number(verdict['entries']))
    expect(exported.map((entry) => entry['sequence'])).toEqual(exported.map((_, index) => index + 1))
    expect(exported.at(-1)?.['hash']).toBe((verdict['head'] as Fields)['hash'])
    expect(dataOf(await admin.post('/verify'))).toEqual({ whole: true, differences: [] })
  })

  test('an end that was cut off shows against a head that was kept', async () => {
    const { head } = dataOf(await admin.get('/audit/verify')) as { head: { sequence: number; hash: string } }
    const ask = (sequence: number, hash: string) =>
      admin.get(`/audit/verify?known_sequence=${sequence}&known_hash=${hash}`)
    expect(dataOf(await ask(head.sequence, head.hash))).toMatchObject({ whole: true })
    expect(dataOf(await ask(head.sequence + 1, head.hash))).toMatchObject({ whole: false })
    expect(dataOf(await ask(head.sequence, 'f'.repeat(64)))).toMatchObject({ whole: false })
  })
})
