/** Accounts in an admin's hands: every change takes effect at once and is written down. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AdminGateway, openAdminGateway } from '../gateway/admin-gateway.ts'
import { type Answer, get, postJson } from '../gateway/client.ts'
import { openCustomer } from '../gateway/customer.ts'
import { putChain, putGroup, putModel, putVendor } from '../gateway/gateway.ts'

const USER = '/api/v1/user/user'

let admin: AdminGateway

beforeAll(async () => {
  admin = await openAdminGateway()
  await admin.gateway.catalogue(
    ...putVendor('acme', admin.upstream.url),
    ...putVendor('bolt', admin.upstream.url),
    putModel('plain'),
    putChain({ model: 'plain', vendor: 'acme' }),
    putModel('spare'),
    putChain({ model: 'spare', vendor: 'bolt' }),
    putModel('verified-only', { requiredVerification: 1 }),
    putChain({ model: 'verified-only', vendor: 'acme' }),
    putModel('pro-only', { requiredPlan: 2 }),
    putChain({ model: 'pro-only', vendor: 'acme' }),
    putGroup({ name: 'chat-group', protocol: 'chat', models: ['plain'] }),
    {
      kind: 'put-plan',
      plan: {
        code: 'PRO',
        level: 2,
        price: '199',
        currency: 'CNY',
        periodDays: 30,
        quota: [{ credits: '5000', seconds: 3600 }],
      },
    },
  )
})

afterAll(() => admin.close())

type Fields = Readonly<Record<string, unknown>>
const dataOf = (answer: Answer): Fields => answer.body.data as Fields
const change = (id: string, fields: Fields) => admin.patch(`/accounts/${id}`, fields)
const read = async (id: string) => dataOf(await admin.get(`/accounts/${id}`))
const call = (key: string, model = 'plain') => admin.call(model, key)
const signIn = (body: Fields) => postJson(`${admin.gateway.baseUrl}${USER}/sign-in`, body)
const lastEntry = async (): Promise<Fields> => {
  const [entry] = (await admin.get('/audit?limit=1')).body.data as Fields[]
  return entry ?? {}
}

describe('PATCH admin/accounts/{id}', () => {
  test('changes the password: sign-in follows it, sessions end, the log keeps no secret [D-accounts-116]', async () => {
    const { id } = await admin.gateway.newAccount({ email: 'password@example.com' })
    const before = await admin.gateway.signIn(id)
    const answer = await change(id, { password: 'correct horse battery' })
    expect(answer.status).toBe(200)
    const entry = await lastEntry()
    const wrong = await signIn({ email: 'password@example.com', password: 'something else' })
    expect(wrong.status).toBe(401)
    const right = await signIn({ email: 'password@example.com', password: 'correct horse battery' })
    expect(right.status).toBe(200)
    const old = await get(`${admin.gateway.baseUrl}${USER}/account`, before.headers)
    expect(old.status).toBe(401)
    expect(entry).toMatchObject({ action: 'account.change', subject: id })
    expect(JSON.stringify(entry)).not.toContain('horse')
    expect(JSON.stringify(entry)).toContain('[secret]')
  })

  test('changes the role [D-accounts-117]', async () => {
    const { id } = await admin.gateway.newAccount()
    expect((await change(id, { role: 'admin' })).status).toBe(200)
    expect(await read(id)).toMatchObject({ role: 'admin' })
    const session = await admin.gateway.signIn(id)
    expect((await get(`${admin.gateway.baseUrl}/api/v1/admin/settings`, session.headers)).status).toBe(200)
    await change(id, { role: 'user' })
    expect((await get(`${admin.gateway.baseUrl}/api/v1/admin/settings`, session.headers)).status).toBe(403)
  })

  test('changes the verification: admission follows at once [D-accounts-118]', async () => {
    const { id, key } = await admin.gateway.newAccount()
    expect((await call(key, 'verified-only')).body.code).toBe(40203)
    await change(id, { verification: 'personal' })
    expect((await call(key, 'verified-only')).status).toBe(200)
    expect(await read(id)).toMatchObject({ verification: 'personal' })
    await change(id, { verification: 'none' })
    expect((await call(key, 'verified-only')).body.code).toBe(40203)
  })

  test('changes the user_rate: billing follows it [D-accounts-119]', async () => {
    const { id, key } = await admin.gateway.newAccount()
    await change(id, { user_rate: 50 })
    await call(key)
    // 1000 in at 10 and 100 out at 30 yuan a million are 0.013 yuan, 13 Credits, at half the rate 6.5.
    expect((await admin.gateway.lastLog()).deducted).toBe(6_500_000n)
    expect(await read(id)).toMatchObject({ user_rate: '50' })
  })

  test('changes credits and balance, each by one transaction of the ledger [D-accounts-120]', async () => {
    const { id } = await admin.gateway.newAccount({ credits: 100 })
    const count = async () =>
      (await admin.gateway.storage.ledger.transfers({ accountId: id, limit: 50, after: undefined })).length
    const before = await count()
    const answer = await change(id, { credits: 250.5, balance: '12.34' })
    expect(dataOf(answer)).toMatchObject({ credits: '250.5', balance: '12.34' })
    expect(await read(id)).toMatchObject({ credits: '250.5', balance: '12.34' })
    expect(await count()).toBe(before + 2)
    await change(id, { credits: 10 })
    expect(await read(id)).toMatchObject({ credits: '10' })
    expect(await count()).toBe(before + 3)
    await change(id, { credits: 10 })
    expect(await count()).toBe(before + 3)
    expect(await admin.gateway.storage.ledger.verify()).toEqual([])
  })

  test('changes api_deduction: calls follow it [D-accounts-121]', async () => {
    const { id, key } = await admin.gateway.newAccount()
    await change(id, { api_deduction: false })
    expect((await call(key)).body.code).toBe(40202)
    await change(id, { api_deduction: true })
    expect((await call(key)).status).toBe(200)
  })

  test('changes monthly_cap_yuan: calls follow it [D-accounts-122]', async () => {
    const { id, key } = await admin.gateway.newAccount()
    await change(id, { monthly_cap_yuan: 0.0001 })
    expect((await call(key)).body.code).toBe(42906)
    await change(id, { monthly_cap_yuan: 0 })
    expect((await call(key)).status).toBe(200)
  })

  test('changes auto_exchange: exchange follows it [D-accounts-123]', async () => {
    const { id, key } = await admin.gateway.newAccount({ credits: 20 })
    await change(id, { balance: 5, auto_exchange: { enabled: true, below_credits: 15, step_yuan: 1 } })
    expect((await call(key)).status).toBe(200)
    await admin.gateway.settled()
    // 20 less 13 is below 15, so 1 yuan became 1000 Credits.
    expect(await read(id)).toMatchObject({
      credits: '1007',
      balance: '4',
      auto_exchange: { enabled: true, below_credits: 15, step_yuan: 1 },
    })
  })

  test('changes the subscription: the plan level follows it [D-accounts-124]', async () => {
    const { id, key } = await admin.gateway.newAccount()
    expect((await call(key, 'pro-only')).body.code).toBe(40203)
    await change(id, { subscription: { plan: 'PRO', days: 30 } })
    expect((await call(key, 'pro-only')).status).toBe(200)
    expect(await read(id)).toMatchObject({
      plan: 'PRO',
      quota: [{ credits: '5000', seconds: 3600, used: '0', remaining: '5000', resets_at: null }],
    })
    await change(id, { subscription: null })
    expect((await call(key, 'pro-only')).body.code).toBe(40203)
  })

  test('changes the fallback_model: fallback follows it [D-accounts-125]', async () => {
    const { id, key } = await admin.gateway.newAccount()
    await change(id, { fallback_model: 'spare' })
    admin.upstream.script((_request, response) => {
      response.writeHead(503, { 'content-type': 'application/json' })
      response.end('{"error":{"message":"down","type":"server_error"}}')
    })
    const answer = await call(key)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('gw-model')).toBe('spare')
    await admin.gateway.resetHealth()
  })

  test('changes the limits: the account is held to them [D-accounts-126]', async () => {
    const { id, key } = await admin.gateway.newAccount()
    await change(id, { limits: { windows: [{ dimension: 'requests', limit: 1, seconds: 3600 }] } })
    expect((await call(key)).status).toBe(200)
    expect((await call(key)).body.code).toBe(42902)
    await change(id, { limits: {} })
    expect((await call(key)).status).toBe(200)
  })

  test('changes byok: the upstream sees the new credential, and it cannot be read back [D-accounts-127]', async () => {
    const { id, key } = await admin.gateway.newAccount()
    const answer = await change(id, { byok: [{ vendor: 'acme', secret: 'sk-the-customers-own' }] })
    expect(dataOf(answer)['byok']).toEqual([{ vendor: 'acme', enabled: true }])
    expect((await call(key)).status).toBe(200)
    expect(admin.upstream.requests.at(-1)?.headers.authorization).toBe('Bearer sk-the-customers-own')
    expect(JSON.stringify([await read(id), await lastEntry()])).not.toContain('sk-the-customers-own')
  })

  test('changes keys: the key list follows it, a made key is shown once [D-accounts-128]', async () => {
    const { id } = await admin.gateway.newAccount()
    const answer = await change(id, { keys: [{ name: 'made by admin', models: ['plain'] }] })
    const [made] = dataOf(answer)['new_keys'] as { name: string; key: string }[]
    expect(made?.name).toBe('made by admin')
    expect((await call(made?.key ?? '')).status).toBe(200)
    const listed = (await read(id))['keys'] as Fields[]
    expect(listed.map((key) => key['name'])).toContain('made by admin')
    expect(JSON.stringify(listed)).not.toContain(made?.key)
    await change(id, { keys: [{ name: 'made by admin', status: 'disabled' }] })
    expect((await call(made?.key ?? '')).body.code).toBe(40102)
    const found = listed.find((key) => key['name'] === 'made by admin')
    expect((await admin.remove(`/accounts/${id}/keys/${String(found?.['id'])}`)).status).toBe(200)
    expect((await call(made?.key ?? '')).body.code).toBe(40101)
  })

  test('keys by themselves: made and shown once, changed, rotated and deleted, each in the audit log without its secret', async () => {
    const { id } = await admin.gateway.newAccount()
    const keys = `/accounts/${id}/keys`
    const answer = await admin.post(keys, { name: 'build', models: ['plain'] })
    expect(answer.status).toBe(201)
    const made = dataOf(answer)
    const first = String(made['key'])
    expect((await call(first)).status).toBe(200)
    expect(await lastEntry()).toMatchObject({ action: 'key.create', subject: id })
    const one = `${keys}/${String(made['id'])}`
    const rotated = dataOf(await admin.post(`${one}/rotate`))
    const second = String(rotated['key'])
    expect([(await call(first)).body.code, (await call(second)).status]).toEqual([40101, 200])
    expect(await lastEntry()).toMatchObject({ action: 'key.rotate', subject: id })
    const changed = dataOf(await admin.patch(one, { status: 'disabled' }))
    expect(changed).toMatchObject({ name: 'build', models: ['plain'], status: 'disabled' })
    expect((await call(second)).body.code).toBe(40102)
    expect(await lastEntry()).toMatchObject({ action: 'key.change', subject: id })
    expect((await admin.remove(one)).status).toBe(200)
    expect((await call(second)).body.code).toBe(40101)
    for (const gone of [await admin.patch(one, { status: 'enabled' }), await admin.post(`${one}/rotate`)])
      expect(gone.body.code).toBe(40403)
    const log = JSON.stringify((await admin.get(`/audit?subject=${id}`)).body)
    expect(log).not.toContain(first)
    expect(log).not.toContain(second)
  })

  test('the keys of all accounts are one list, with whose they are and when they were used last', async () => {
    const one = await admin.gateway.newAccount({ email: 'one@lists.example.com' })
    const other = await admin.gateway.newAccount({ email: 'other@lists.example.com' })
    const made = dataOf(await admin.post(`/accounts/${other.id}/keys`, { name: 'never used' }))
    await call(one.key)
    await admin.gateway.settled()
    const list = async (query: string) => (await admin.get(`/keys?${query}`)).body.data as Fields[]
    const rows = await list('search=lists.example')
    expect(rows.map((row) => [row['id'], row['account_id'], row['account_name']])).toEqual(
      expect.arrayContaining([[made['id'], other.id, 'other@lists.example.com']]),
    )
    expect(new Set(rows.map((row) => row['account_id']))).toEqual(new Set([one.id, other.id]))
    expect(rows.find((row) => row['id'] === made['id'])).toMatchObject({
      last_used_at: null,
      status: 'enabled',
    })
    expect(rows.filter((row) => row['last_used_at'] !== null)).toMatchObject([{ account_id: one.id }])
    expect(JSON.stringify(rows)).not.toContain(one.key)
    await admin.patch(`/accounts/${other.id}/keys/${String(made['id'])}`, { status: 'disabled' })
    expect(await list(`state=disabled&account_id=${other.id}`)).toMatchObject([{ id: made['id'] }])
    expect(await list(`state=disabled&account_id=${one.id}`)).toEqual([])
    const [first] = await list('search=lists.example&limit=1')
    const next = (await admin.get('/keys?search=lists.example&limit=1')).body['next_cursor']
    const [second] = await list(`search=lists.example&limit=1&cursor=${String(next)}`)
    expect([first?.['id'], second?.['id']]).toEqual(rows.slice(0, 2).map((row) => row['id']))
  })

  test('a key is only reached through the account whose it is', async () => {
    const [{ id }, other] = [await admin.gateway.newAccount(), await admin.gateway.newAccount()]
    const made = dataOf(await admin.post(`/accounts/${id}/keys`, { name: 'mine' }))
    const place = `/accounts/${other.id}/keys/${String(made['id'])}`
    const answers = [
      await admin.patch(place, { status: 'disabled' }),
      await admin.post(`${place}/rotate`),
      await admin.remove(place),
    ]
    expect(answers.map(({ body }) => body.code)).toEqual([40403, 40403, 40403])
    expect((await call(String(made['key']))).status).toBe(200)
    const refused = await admin.post(`/accounts/${id}/keys`, { name: 'k', group: 'nobody' })
    expect(refused.body.code).toBe(40000)
  })

  test('changes email and phone: sign-in follows them [D-accounts-139]', async () => {
    const { id } = await admin.gateway.newAccount({ email: 'before@example.com' })
    await change(id, {
      password: 'correct horse battery',
      email: 'After@Example.com',
      phone: '+8613800138000',
    })
    expect(await read(id)).toMatchObject({ email: 'after@example.com', phone: '+8613800138000' })
    const password = 'correct horse battery'
    expect((await signIn({ email: 'after@example.com', password })).status).toBe(200)
    expect((await signIn({ phone: '+8613800138000', password })).status).toBe(200)
    expect((await signIn({ email: 'before@example.com', password })).status).toBe(401)
  })

  test.each([
    ['a field nobody knows', { colour: 'red' }, ['colour']],
    [
      'several wrong types',
      { credits: true, limits: { windows: [{ dimension: 'x' }] } },
      ['credits', 'limits.windows[0].dimension', 'limits.windows[0].limit', 'limits.windows[0].seconds'],
    ],
    [
      'what only the file’s readers know',
      { user_rate: -1, fallback_model: 'nobody' },
      ['fallback_model', 'user_rate'],
    ],
    ['a balance below nothing', { balance: -5 }, ['balance']],
    ['a bad range in a key', { keys: [{ name: 'k', ip_allow: ['10.0.0.0/99'] }] }, ['keys[0].ip_allow[0]']],
  ])('refuses %s with every path, and changes nothing', async (_what, fields, paths) => {
    const { id } = await admin.gateway.newAccount()
    const before = await read(id)
    const answer = await change(id, fields)
    expect(answer.status).toBe(400)
    expect(answer.body.code).toBe(40000)
    const details = (answer.body.error as Fields)['details'] as { fields: { path: string }[] }
    expect(details.fields.map((field) => field.path).sort()).toEqual([...paths].sort())
    expect(await read(id)).toEqual(before)
  })

  test('keeps e-mail and phone in the form registration keeps, and finds the account however they are written', async () => {
    const { id } = await admin.gateway.newAccount()
    const answer = await change(id, { email: ' Ｏne@Example.COM', phone: '+86 (139) 0013-8000' })
    expect(answer.status).toBe(200)
    expect(await read(id)).toMatchObject({ email: 'one@example.com', phone: '+8613900138000' })
    for (const written of ['ONE@example.com', '+86 139 0013 8000', '+8613900138000'])
      expect(await read(encodeURIComponent(written))).toMatchObject({ id })
    const { id: other } = await admin.gateway.newAccount()
    expect((await change(other, { phone: '+86-139-0013-8000' })).body.message).toContain(
      'phone belongs to another account',
    )
    expect((await change(other, { phone: '12345' })).body.message).toContain('phone must be a phone number')
    expect((await admin.post('/accounts', { phone: '+86 139 0013 8000' })).status).toBe(400)
  })

  test('refuses an address that another account has', async () => {
    const { id } = await admin.gateway.newAccount()
    await admin.gateway.newAccount({ email: 'taken@example.com' })
    const answer = await change(id, { email: 'taken@example.com' })
    expect(answer.status).toBe(400)
    expect(answer.body.message).toContain('email belongs to another account')
  })

  test('nothing to change is no entry in the audit log', async () => {
    const { id } = await admin.gateway.newAccount()
    await change(id, { user_rate: 80 })
    const before = await lastEntry()
    expect((await change(id, { user_rate: 80 })).status).toBe(200)
    expect(await lastEntry()).toEqual(before)
  })
})

describe('accounts', () => {
  test('are listed page by page and found by part of their address [D-accounts-114]', async () => {
    await admin.gateway.newAccount({ email: 'needle-1@example.com' })
    await admin.gateway.newAccount({ email: 'needle-2@example.com', status: 'suspended' })
    const found = await admin.get('/accounts?search=NEEDLE-')
    expect((found.body.data as Fields[]).map((row) => row['email'])).toEqual([
      'needle-1@example.com',
      'needle-2@example.com',
    ])
    const suspended = await admin.get('/accounts?search=needle-&status=suspended')
    expect(suspended.body.data).toHaveLength(1)
    expect((await admin.get('/accounts?search=needl_-')).body.data).toEqual([])
    const first = await admin.get('/accounts?limit=1')
    const second = await admin.get(`/accounts?limit=1&cursor=${String(first.body['next_cursor'])}`)
    expect(second.body.data).toHaveLength(1)
    expect(second.body.data).not.toEqual(first.body.data)
  })

  test('is found by part of its name, and by the id of a key', async () => {
    const customer = await openCustomer(admin.gateway, { balanceYuan: 1 })
    await customer.send('PATCH', 'account', { name: 'Zoë 100% Larsson' })
    const made = await customer.send('POST', 'organisations', { name: 'Larsson & Sons' })
    const organisation = made.body.data as { readonly id: string }
    const names = async (search: string) => {
      const { body } = await admin.get(`/accounts?search=${encodeURIComponent(search)}`)
      return (body.data as { readonly id: string; readonly name: string | null }[]).map(({ id, name }) => [
        id,
        name,
      ])
    }
    expect(await names('larsson')).toEqual([
      [customer.id, 'Zoë 100% Larsson'],
      [organisation.id, 'Larsson & Sons'],
    ])
    expect(await names('100%')).toEqual([[customer.id, 'Zoë 100% Larsson']])
    expect(await names(customer.keyId)).toEqual([[customer.id, 'Zoë 100% Larsson']])
    expect(await read(organisation.id)).toMatchObject({ name: 'Larsson & Sons' })
  })

  test('are added with what they begin with', async () => {
    const answer = await admin.post('/accounts', {
      email: 'new@example.com',
      credits: 100,
      keys: [{ name: 'first', group: 'chat-group' }],
    })
    expect(answer.status).toBe(201)
    expect(dataOf(answer)).toMatchObject({ email: 'new@example.com', credits: '100', role: 'user' })
    const [made] = dataOf(answer)['new_keys'] as { key: string }[]
    expect((await call(made?.key ?? '')).status).toBe(200)
    const again = await admin.post('/accounts', { email: 'new@example.com' })
    expect(again.status).toBe(400)
    expect((await admin.post('/accounts', {})).body.message).toContain('must have an email or a phone')
  })

  test('one that does not exist is 404', async () => {
    expect((await admin.get('/accounts/acc_nobody')).body.code).toBe(40403)
    expect((await change('acc_nobody', { user_rate: 1 })).body.code).toBe(40403)
  })

  test('an unchanged account is answered with 304', async () => {
    const { id } = await admin.gateway.newAccount()
    const url = `${admin.gateway.baseUrl}/api/v1/admin/accounts/${id}`
    const first = await get(url, admin.headers)
    const etag = first.headers.get('etag') ?? ''
    const second = await get(url, { ...admin.headers, 'if-none-match': etag })
    expect(second.status).toBe(304)
    expect(second.text).toBe('')
    await change(id, { user_rate: 42 })
    const third = await get(url, { ...admin.headers, 'if-none-match': etag })
    expect(third.status).toBe(200)
  })
})

describe('grants', () => {
  test('raise Credits by one ledger transaction, once per Idempotency-Key [D-accounts-129]', async () => {
    const { id } = await admin.gateway.newAccount({ credits: 10 })
    const key = { 'idempotency-key': 'grant-1' }
    const grants = await Promise.all(
      Array.from({ length: 5 }, () => admin.post(`/accounts/${id}/grants`, { credits: 5 }, key)),
    )
    expect(grants.map((answer) => answer.status)).toEqual([201, 201, 201, 201, 201])
    expect(grants.filter((answer) => dataOf(answer)['repeated'] === false)).toHaveLength(1)
    expect(new Set(grants.map((answer) => dataOf(answer)['transaction_id'])).size).toBe(1)
    expect(await read(id)).toMatchObject({ credits: '15' })
    const other = await admin.post(`/accounts/${id}/grants`, { credits: 6 }, key)
    expect(other.status).toBe(422)
    expect(other.body.code).toBe(40004)
    expect(await read(id)).toMatchObject({ credits: '15' })
    const entries = (await admin.get(`/audit?subject=${id}&action=account.grant`)).body.data as unknown[]
    expect(entries).toHaveLength(1)
  })

  test('give balance too, take back, and never leave less than nothing', async () => {
    const { id } = await admin.gateway.newAccount({ credits: 10 })
    await admin.post(`/accounts/${id}/grants`, { balance: '2.5', reason: 'sorry' })
    expect(await read(id)).toMatchObject({ balance: '2.5' })
    expect((await admin.post(`/accounts/${id}/grants`, { credits: -4 })).status).toBe(201)
    expect(await read(id)).toMatchObject({ credits: '6' })
    const tooMuch = await admin.post(`/accounts/${id}/grants`, { credits: -7 })
    expect(tooMuch.status).toBe(409)
    expect(await read(id)).toMatchObject({ credits: '6' })
  })

  test.each([
    [{}, ''],
    [{ credits: 1, balance: 1 }, ''],
    [{ credits: 0 }, 'credits'],
    [{ credits: '1.0000001' }, 'credits'],
    [{ credits: '1e40' }, 'credits'],
    [{ credits: 'many' }, 'credits'],
  ])('refuse %j', async (body, path) => {
    const answer = await admin.post(`/accounts/${admin.gateway.accountId}/grants`, body)
    expect(answer.status).toBe(400)
    const details = (answer.body.error as Fields)['details'] as { fields: { path: string }[] }
    expect(details.fields.map((field) => field.path)).toEqual([path])
  })
})

describe('suspension', () => {
  test('ends calls and sessions with the next request, and is taken back', async () => {
    const { id, key } = await admin.gateway.newAccount()
    const session = await admin.gateway.signIn(id)
    const suspended = await admin.post(`/accounts/${id}/suspend`, { reason: 'fraud' })
    expect(dataOf(suspended)).toMatchObject({ status: 'suspended' })
    expect((await call(key)).body.code).toBe(40303)
    expect((await get(`${admin.gateway.baseUrl}${USER}/account`, session.headers)).status).toBe(401)
    expect(await lastEntry()).toMatchObject({
      action: 'account.suspend',
      subject: id,
      actor: { account_id: admin.adminId, address: '127.0.0.1' },
      changes: [
        { field: 'status', from: 'active', to: 'suspended' },
        { field: 'reason', from: null, to: 'fraud' },
      ],
    })
    await admin.post(`/accounts/${id}/activate`)
    expect((await call(key)).status).toBe(200)
  })

  test.each([{ role: 'user' }, { status: 'suspended' }])(
    'nobody takes their own access away: %j',
    async (fields) => {
      await admin.freshAdmin()
      const answer = await change(admin.adminId, fields)
      expect(answer).toMatchObject({ status: 409, body: { code: 40900 } })
      expect((await admin.get('/settings')).status).toBe(200)
    },
  )

  test('an admin cannot suspend their own account', async () => {
    const answer = await admin.post(`/accounts/${admin.adminId}/suspend`)
    expect(answer.body.code).toBe(40900)
  })
})

describe('impersonation', () => {
  test('opens a session of the customer’s for an hour, which is no admin’s and is written down', async () => {
    const { id } = await admin.gateway.newAccount({ email: 'customer@example.com' })
    const answer = await admin.post(`/accounts/${id}/impersonate`, { reason: 'ticket 7' })
    expect(answer.status).toBe(201)
    const { token, expires_at } = dataOf(answer) as { token: string; expires_at: string }
    const left = Date.parse(expires_at) - Date.now()
    expect(left).toBeGreaterThan(3_500_000)
    expect(left).toBeLessThanOrEqual(3_600_000)
    const headers = { authorization: `Bearer ${token}` }
    const account = await get(`${admin.gateway.baseUrl}${USER}/account`, headers)
    expect(dataOf(account)).toMatchObject({ email: 'customer@example.com' })
    expect((await get(`${admin.gateway.baseUrl}/api/v1/admin/settings`, headers)).status).toBe(403)
    const entry = await lastEntry()
    expect(entry).toMatchObject({ action: 'account.impersonate', subject: id })
    expect(JSON.stringify(entry)).toContain('ticket 7')
    expect(JSON.stringify(entry)).not.toContain(token)
  })

  test('needs a reason, and no admin is impersonated', async () => {
    const { id } = await admin.gateway.newAccount({ role: 'admin' })
    expect((await admin.post(`/accounts/${id}/impersonate`, {})).status).toBe(400)
    const answer = await admin.post(`/accounts/${id}/impersonate`, { reason: 'curious' })
    expect(answer.body.code).toBe(40900)
  })
})
