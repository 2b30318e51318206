/** The catalogue in an admin's hands: listed, changed, and what is changed takes effect. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AdminGateway, openAdminGateway } from '../gateway/admin-gateway.ts'
import { type Answer, get } from '../gateway/client.ts'
import { answerJson } from '../gateway/scripted-upstream.ts'

let admin: AdminGateway
/** Where the gateway's clock stands still, epoch ms. */
let stopped: number | undefined

beforeAll(async () => {
  admin = await openAdminGateway({ now: () => stopped ?? Date.now() })
  await admin.post('/vendors', { code: 'acme', kind: 'openai-compatible', base_url: admin.upstream.url })
  await admin.post('/models', { model_id: 'plain', pricing: { input_price: 10, output_price: 30 } })
  await admin.post('/chains', { model_id: 'plain', vendor: 'acme', protocol: 'chat', forward_model_id: 'up' })
})

afterAll(() => admin.close())

type Fields = Readonly<Record<string, unknown>>
const dataOf = (answer: Answer): Fields => answer.body.data as Fields
const rowsOf = (answer: Answer): readonly Fields[] => answer.body.data as Fields[]
const pathsOf = (answer: Answer): readonly string[] =>
  ((answer.body.error as Fields)['details'] as { fields: { path: string }[] }).fields.map(({ path }) => path)
const lastEntry = async (): Promise<Fields> => rowsOf(await admin.get('/audit?limit=1'))[0] ?? {}

describe('vendors and credentials', () => {
  test('admin/vendors: listed and changed, and calls follow [D-accounts-130]', async () => {
    expect(rowsOf(await admin.get('/vendors'))).toMatchObject([{ code: 'acme', credentials: ['main'] }])
    expect((await admin.call('plain')).status).toBe(200)
    const off = await admin.patch('/vendors/acme', { status: 'disabled' })
    expect(dataOf(off)).toMatchObject({ status: 'disabled', kind: 'openai-compatible' })
    expect((await admin.call('plain')).body.code).toBe(50201)
    await admin.patch('/vendors/acme', { status: 'enabled' })
    expect((await admin.call('plain')).status).toBe(200)
    expect(await lastEntry()).toMatchObject({
      action: 'vendor.change',
      subject: 'acme',
      changes: [{ field: 'status', from: 'disabled', to: 'enabled' }],
    })
  })

  test('a credential’s secret is written, used and never read back', async () => {
    const [credential] = rowsOf(await admin.get('/credentials'))
    const id = String(credential?.['id'])
    expect(credential).toMatchObject({ vendor: 'acme', name: 'main', secret_set: false })
    const answer = await admin.patch(`/credentials/${id}`, { secret: 'sk-upstream-1' })
    expect(dataOf(answer)).toMatchObject({ secret_set: true })
    expect(answer.text).not.toContain('sk-upstream-1')
    await admin.call('plain')
    expect(admin.upstream.requests.at(-1)?.headers.authorization).toBe('Bearer sk-upstream-1')
    expect(JSON.stringify(await lastEntry())).not.toContain('sk-upstream-1')
    expect((await admin.get('/credentials')).text).not.toContain('sk-upstream-1')
  })

  test('what looks like a variable in a request is meant as it is written', async () => {
    const answer = await admin.post('/credentials', { vendor: 'acme', name: 'literal', secret: '${PATH}' })
    expect(answer.status).toBe(201)
    const { credentials } = await admin.gateway.storage.catalogue.read()
    const stored = [...credentials.values()].find((one) => one.name === 'literal')
    expect(stored?.secret.secret?.unwrap()).toBe('${PATH}')
  })

  test('a credential is tested by a real, cheap call', async () => {
    const [credential] = rowsOf(await admin.get('/credentials')).filter((one) => one['name'] === 'main')
    const path = `/credentials/${String(credential?.['id'])}/test`
    const before = admin.upstream.requests.length
    expect(dataOf(await admin.post(path))).toMatchObject({ ok: true, status: 200, outcome: 'answered' })
    expect(admin.upstream.requests.length).toBe(before + 1)
    expect(admin.upstream.requests.at(-1)?.json()).toMatchObject({ model: 'up', max_tokens: 16 })
    admin.upstream.script(
      answerJson({ error: { message: 'no such key', type: 'invalid_request_error' } }, 401),
    )
    expect(dataOf(await admin.post(path))).toMatchObject({ ok: false, status: 401, message: 'no such key' })
    const [unused] = rowsOf(await admin.get('/credentials')).filter((one) => one['name'] === 'literal')
    expect((await admin.post(`/credentials/${String(unused?.['id'])}/test`)).body.code).toBe(40900)
  })

  test.each([
    ['an unknown kind', { code: 'x', kind: 'acme-cloud' }, ['kind']],
    ['a bad address', { code: 'x', kind: 'openai', base_url: 'ftp://x' }, ['base_url']],
    ['no kind', { code: 'x' }, ['kind']],
    ['an unknown field', { code: 'x', kind: 'openai', colour: 1 }, ['colour']],
  ])('a vendor with %s is refused with its path', async (_what, body, paths) => {
    const answer = await admin.post('/vendors', body)
    expect(answer.status).toBe(400)
    expect(pathsOf(answer)).toEqual(paths)
  })

  test('what is there already is not added again', async () => {
    expect((await admin.post('/vendors', { code: 'acme', kind: 'openai' })).body.code).toBe(40900)
  })
})

describe('models and chains', () => {
  test('admin/models: listed and changed, and the catalogue and calls follow [D-accounts-131]', async () => {
    const made = await admin.post('/models', {
      model_id: 'vendor/with slash'.replace(' ', '-'),
      pricing: { input_price: '0.9', output_price: 2 },
    })
    expect(made.status).toBe(201)
    const path = `/models/${encodeURIComponent('vendor/with-slash')}`
    expect(dataOf(await admin.get(path))).toMatchObject({ pricing: { input_price: 0.9, output_price: 2 } })
    await admin.patch('/models/plain', { name: 'Plain One' })
    const listed = rowsOf(await get(`${admin.gateway.baseUrl}/api/v1/user/user/models`))
    expect(listed).toMatchObject([{ model_id: 'plain', name: 'Plain One' }])
    await admin.patch('/models/plain', { pricing: { input_price: 20, output_price: 60 } })
    await admin.call('plain')
    expect((await admin.gateway.lastLog()).deducted).toBe(26_000_000n)
    await admin.patch('/models/plain', { pricing: { input_price: 10, output_price: 30 } })
    const nobody = await admin.patch('/models/nobody', { name: 'x' })
    expect(nobody.body.code).toBe(40403)
  })

  test('admin/chains: listed with health, changed, switched, and calls follow [D-accounts-132]', async () => {
    const [chain] = rowsOf(await admin.get('/chains'))
    expect(chain).toMatchObject({
      model_id: 'plain',
      vendor: 'acme',
      usable: true,
      health: { state: 'healthy' },
    })
    const id = String(chain?.['id'])
    await admin.call('plain')
    await admin.gateway.settled()
    const recent = dataOf(await admin.get(`/chains/${id}`))['recent'] as Fields
    expect(recent['attempts']).toBeGreaterThan(0)
    expect(recent['first_byte_ms_median']).not.toBeNull()
    await admin.patch(`/chains/${id}`, { rate_multiplier: 2 })
    await admin.call('plain')
    expect((await admin.gateway.lastLog()).deducted).toBe(26_000_000n)
    await admin.patch(`/chains/${id}`, { rate_multiplier: 1 })
    for (const verb of ['disable', 'drain']) {
      const off = await admin.post(`/chains/${id}/${verb}`)
      expect(dataOf(off)).toMatchObject({
        status: verb === 'drain' ? 'maintenance' : 'disabled',
        usable: false,
      })
      expect((await admin.call('plain')).body.code).toBe(50201)
      expect(dataOf(await admin.post(`/chains/${id}/enable`))).toMatchObject({
        status: 'enabled',
        usable: true,
      })
      expect((await admin.call('plain')).status).toBe(200)
    }
    expect(dataOf(await admin.post(`/chains/${id}/test`))).toMatchObject({ ok: true })
  })

  test('a chain takes another credential and upstream model, with the next call, and stays the same chain', async () => {
    await admin.post('/models', { model_id: 'moved', pricing: { input_price: 10, output_price: 30 } })
    await admin.post('/credentials', { vendor: 'acme', name: 'second', secret: 'sk-second' })
    const body = { model_id: 'moved', vendor: 'acme', credential: 'main', protocol: 'chat' }
    const made = dataOf(await admin.post('/chains', { ...body, forward_model_id: 'old' }))
    const twin = dataOf(
      await admin.post('/chains', { ...body, forward_model_id: 'twin', status: 'disabled' }),
    )
    const path = `/chains/${String(made['id'])}`
    admin.upstream.script(answerJson({ error: { message: 'slow', type: 'rate_limit_error' } }, 429))
    expect((await admin.call('moved')).status).toBe(429)
    const wanted = { credential: 'second', forward_model_id: 'new', priority: 3 }
    const changed = await admin.patch(path, wanted)
    expect(dataOf(changed)).toMatchObject({ id: made['id'], ...wanted, health: { state: 'healthy' } })
    expect(await lastEntry()).toMatchObject({
      action: 'chain.change',
      subject: String(made['id']),
      changes: [
        { field: `chain ${String(made['id'])}: credential`, from: 'main', to: 'second' },
        { field: `chain ${String(made['id'])}: forward_model_id`, from: 'old', to: 'new' },
        { from: 1, to: 3 },
      ],
    })
    expect((await admin.call('moved')).status).toBe(200)
    const sent = admin.upstream.requests.at(-1)
    expect(sent?.json()).toMatchObject({ model: 'new' })
    expect(sent?.headers.authorization).toBe('Bearer sk-second')
    const onTwin = await admin.patch(path, { credential: 'main', forward_model_id: 'twin' })
    expect(onTwin).toMatchObject({ status: 409, body: { code: 40900 } })
    expect(onTwin.body.message).toContain(`chain ${String(twin['id'])}`)
    const unknown = await admin.patch(path, { credential: 'third' })
    expect(unknown.status).toBe(400)
    expect(pathsOf(unknown)).toEqual(['credential'])
    expect((await admin.patch(path, { forward_model_id: '' })).status).toBe(400)
    const chains = rowsOf(await admin.get('/chains')).filter((chain) => chain['model_id'] === 'moved')
    expect(chains.map((chain) => String(chain['forward_model_id'])).sort()).toEqual(['new', 'twin'])
    const entry = await lastEntry()
    expect((await admin.patch(path, wanted)).status).toBe(200)
    expect(await lastEntry()).toEqual(entry)
  })

  test('reset: a chain marked unusable is tried again [D-accounts-133]', async () => {
    const [chain] = rowsOf(await admin.get('/chains'))
    const id = String(chain?.['id'])
    admin.upstream.script(
      answerJson({ error: { message: 'slow down', type: 'rate_limit_error' } }, 429, {
        'retry-after': '300',
      }),
    )
    // Within a second of the refusal; after that one call is let through.
    stopped = Date.now()
    expect((await admin.call('plain')).status).toBe(429)
    expect((await admin.call('plain')).body.code).toBe(42904)
    expect(dataOf(await admin.get(`/chains/${id}`))).toMatchObject({ health: { state: 'rate-limited' } })
    stopped = undefined
    expect(dataOf(await admin.post(`/chains/${id}/reset`))).toMatchObject({ health: { state: 'healthy' } })
    expect((await admin.call('plain')).status).toBe(200)
    expect(await lastEntry()).toMatchObject({
      action: 'chain.reset',
      changes: [{ field: 'health', from: 'rate-limited', to: 'healthy' }],
    })
  })

  test('a chain whose model has no usable price cannot be enabled', async () => {
    const body = { model_id: 'plain', vendor: 'acme', credential: 'main', protocol: 'video' }
    const enabled = await admin.post('/chains', body)
    expect(enabled.status).toBe(400)
    expect(pathsOf(enabled)).toEqual(['status'])
    const made = await admin.post('/chains', { ...body, status: 'disabled' })
    expect(made.status).toBe(201)
    const id = String(dataOf(made)['id'])
    const refused = await admin.post(`/chains/${id}/enable`)
    expect(refused.body.code).toBe(40900)
    expect(refused.body.message).toContain('video_second')
    expect((await admin.patch(`/chains/${id}`, { status: 'enabled' })).status).toBe(400)
  })

  test('prices are not taken from under a chain that is enabled', async () => {
    const pricing = { billing_modes: ['video_second'], video_price: 1 }
    const answer = await admin.patch('/models/plain', { pricing })
    expect(answer.status).toBe(400)
    expect(pathsOf(answer)).toEqual(['pricing'])
  })

  test('a chain to an unknown vendor or model is refused with its path', async () => {
    const vendor = await admin.post('/chains', { model_id: 'plain', vendor: 'nobody', protocol: 'chat' })
    expect(pathsOf(vendor)).toEqual(['vendor'])
    const model = await admin.post('/chains', { model_id: 'nobody', vendor: 'acme', protocol: 'chat' })
    expect(pathsOf(model)).toEqual(['model_id'])
  })
})

describe('groups, plans, settings', () => {
  test('admin/groups: listed and changed, and keys follow [D-accounts-134]', async () => {
    const made = await admin.post('/groups', { name: 'team', protocol: 'chat', models: ['plain'] })
    expect(made.status).toBe(201)
    const { key } = await admin.gateway.newAccount({ keyFields: { group: 'team' } })
    expect((await admin.call('plain', key)).status).toBe(200)
    expect(rowsOf(await admin.get('/groups/team/keys'))).toMatchObject([
      { account_id: expect.any(String), hint: key.slice(0, 17), status: 'enabled' },
    ])
    await admin.patch('/groups/team', { models: [] })
    expect((await admin.call('plain', key)).body.code).toBe(40301)
    expect(rowsOf(await admin.get('/groups'))).toEqual([{ name: 'team', protocol: 'chat', models: [] }])
    expect((await admin.remove('/groups/team')).status).toBe(200)
    expect(rowsOf(await admin.get('/groups'))).toEqual([])
    expect((await admin.remove('/groups/team')).body.code).toBe(40403)
    expect((await admin.get('/groups/team/keys')).body.code).toBe(40403)
  })

  test('admin/plans: listed and changed, and subscriptions follow [D-accounts-135]', async () => {
    const made = await admin.post('/plans', {
      code: 'PLUS',
      price: 99,
      quota: [{ credits: 100, seconds: 3600 }],
    })
    expect(dataOf(made)).toMatchObject({ code: 'PLUS', level: 1, price: 99, period_days: 30 })
    await admin.patch('/plans/PLUS', { price: '89.5' })
    expect(rowsOf(await admin.get('/plans'))).toMatchObject([{ code: 'PLUS', price: 89.5 }])
    const { id } = await admin.gateway.newAccount()
    expect(dataOf(await admin.patch(`/accounts/${id}`, { subscription: { plan: 'PLUS' } }))).toMatchObject({
      plan: 'PLUS',
    })
    expect((await admin.remove('/plans/PLUS')).status).toBe(200)
    const gone = await admin.patch(`/accounts/${id}`, { subscription: { plan: 'PLUS' } })
    expect(pathsOf(gone)).toEqual(['subscription.plan'])
  })

  test('settings are read and changed', async () => {
    const answer = await admin.patch('/settings', { limits: { concurrency: 7 } })
    expect(dataOf(answer)).toMatchObject({ currencies: { CNY: 1000, USD: 7200 }, limits: { concurrency: 7 } })
    expect(dataOf(await admin.get('/settings'))).toEqual(dataOf(answer))
    expect(pathsOf(await admin.patch('/settings', { timezone: 'Mars/Base' }))).toEqual(['timezone'])
    await admin.patch('/settings', { limits: {} })
  })
})
