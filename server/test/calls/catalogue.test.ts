/** What the catalogue, the pricing endpoint and the model list show. */
import { beforeAll, describe, expect, test } from 'vitest'
import { type Answer, get, postJson } from '../gateway/client.ts'
import { putChain, putGroup, putModel, putVendor, TOKEN_PRICES } from '../gateway/gateway.ts'
import { answerJson } from '../gateway/scripted-upstream.ts'
import { modelId } from '../../src/core/ids.ts'
import { withGateway } from '../gateway/with-gateway.ts'

const MODELS = '/api/v1/user/user/models'
const PRICING = '/api/v1/user/user/pricing'

const { gateway, upstream } = await withGateway({
  upstreams: ['upstream'],
  catalogue: ({ upstream }) => [
    ...putVendor('acme', upstream.url),
    ...putVendor('bolt', upstream.url),
    putModel('two-chains', { name: 'Two Chains', supportFeatures: ['text', 'image'] }),
    putChain({ model: 'two-chains', vendor: 'acme', forward: 'acme-two', rateMultiplier: '1.25' }),
    putChain({ model: 'two-chains', vendor: 'bolt', forward: 'bolt-two', priority: 2 }),
    putModel('hidden', { clientVisible: false }),
    putChain({ model: 'hidden', vendor: 'acme' }),
    putModel('switched-off', { status: 'disabled' }),
    putChain({ model: 'switched-off', vendor: 'acme' }),
    putModel('resting', { status: 'maintenance' }),
    putChain({ model: 'resting', vendor: 'acme' }),
    putModel('pro-only', { requiredPlan: 2 }),
    putChain({ model: 'pro-only', vendor: 'acme' }),
    putModel('images', {
      supportFeatures: ['image'],
      pricing: {
        ...TOKEN_PRICES,
        billingModes: ['image'],
        inputPrice: null,
        outputPrice: null,
        imagePrice: '0.2',
      },
    }),
    putChain({ model: 'images', vendor: 'acme' }),
    putModel('per-request', {
      pricing: {
        ...TOKEN_PRICES,
        billingModes: ['request'],
        inputPrice: null,
        outputPrice: null,
        requestPrice: '0.01',
      },
    }),
    putChain({ model: 'per-request', vendor: 'acme' }),
    putModel('videos', {
      supportFeatures: ['video'],
      pricing: {
        ...TOKEN_PRICES,
        billingModes: ['video_second'],
        inputPrice: null,
        outputPrice: null,
        videoPrice: '0.5',
      },
    }),
    putChain({ model: 'videos', vendor: 'acme' }),
    putModel('claude-sonnet-4.5'),
    putChain({ model: 'claude-sonnet-4.5', vendor: 'acme', forward: 'claude-sonnet-4-5' }),
    putGroup({ name: 'm', protocol: 'messages', models: ['pro-only'] }),
  ],
})

beforeAll(async () => {
  upstream.answer(
    answerJson({
      object: 'chat.completion',
      model: 'x',
      choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 1, completion_tokens: 1 },
    }),
  )
})

type Row = Readonly<Record<string, unknown>>
const rowsOf = (answer: Answer): readonly Row[] => answer.body.data as readonly Row[]
const catalogue = async (): Promise<readonly Row[]> => rowsOf(await get(gateway.baseUrl + MODELS))
const pricing = async (query = '', headers: Record<string, string> = {}): Promise<readonly Row[]> =>
  rowsOf(await get(gateway.baseUrl + PRICING + query, headers))
const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` })
const callModel = (model: string): Promise<Answer> =>
  postJson(`${gateway.baseUrl}/v1/chat/completions`, { model, messages: [] }, bearer(gateway.key))

describe('the catalogue', () => {
  test('is public, in its own envelope [4.5-01] [4.5-02] [4.5-03] [4.5-04] [4-09] [9-02] [5-02]', async () => {
    const answer = await get(gateway.baseUrl + MODELS)
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({ code: 0, message: 'ok' })
    expect(Array.isArray(answer.body.data)).toBe(true)
  })

  test('a row holds exactly the contract’s fields [2.1-01] [2.1-02] [2.1-03] [2.1-04] [2.1-05] [2.1-06] [2.1-10] [2.1-11] [2.1-12] [2.1-13]', async () => {
    const row = (await catalogue()).find((entry) => entry['forward_model_id'] === 'acme-two')
    expect(row).toEqual({
      id: expect.any(Number),
      model_id: 'two-chains',
      name: 'Two Chains',
      status: 'enabled',
      client_visible: true,
      rate_multiplier: 1.25,
      vendor_code: 'acme',
      vendor_name: 'ACME',
      forward_model_id: 'acme-two',
      endpoints: expect.arrayContaining(['/v1/chat/completions', '/v1/messages']),
    })
    expect(Number.isInteger(row?.['id'])).toBe(true)
    const ids = (await catalogue()).map((entry) => entry['id'])
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('model_id is the value to send, forward_model_id what the upstream gets [2.1-13] [2.1-02]', async () => {
    expect((await callModel('two-chains')).status).toBe(200)
    expect(upstream.requests.at(-1)?.json()).toMatchObject({ model: 'acme-two' })
  })

  test('each row is one usable chain [2.1-14] [2.1-15]', async () => {
    const rows = (await catalogue()).filter((row) => row['model_id'] === 'two-chains')
    expect(rows.map((row) => row['vendor_code'])).toEqual(['acme', 'bolt'])
  })

  test.each([
    ['[D-catalogue-02] [2.1-07]', 'hidden'],
    ['[D-catalogue-03] [D-catalogue-01]', 'switched-off'],
    ['[D-catalogue-04] [D-catalogue-01]', 'resting'],
  ])('%s %s is not listed', async (_id, model) => {
    expect((await catalogue()).map((row) => row['model_id'])).not.toContain(model)
  })

  test('a hidden model can be called by its id [2.1-08]', async () => {
    expect((await callModel('hidden')).status).toBe(200)
  })

  test('a model above the caller’s level is listed and refused with 40203 [2.1-16] [2.1-17]', async () => {
    expect((await catalogue()).map((row) => row['model_id'])).toContain('pro-only')
    const answer = await callModel('pro-only')
    expect([answer.status, answer.body.code]).toEqual([403, 40203])
  })

  test('the Claude family is shown with dots [9-07]', async () => {
    expect((await catalogue()).map((row) => row['model_id'])).toContain('claude-sonnet-4.5')
  })

  test('a changed chain leaves model_id as it was, and the next call uses the new name [9-05] [1-38] [9-06]', async () => {
    await gateway.catalogue(putModel('moving'), putChain({ model: 'moving', vendor: 'acme', forward: 'v1' }))
    await callModel('moving')
    expect(upstream.requests.at(-1)?.json()).toMatchObject({ model: 'v1' })
    await gateway.catalogue(
      putChain({ model: 'moving', vendor: 'acme', forward: 'v1', status: 'disabled' }),
      putChain({ model: 'moving', vendor: 'acme', forward: 'v2' }),
    )
    expect((await callModel('moving')).body['model']).toBe('moving')
    expect(upstream.requests.at(-1)?.json()).toMatchObject({ model: 'v2' })
  })
})

describe('pricing', () => {
  test('is public, in its own envelope [4.5-05] [4-10] [9-03] [5-03] [D-catalogue-05]', async () => {
    const answer = await get(gateway.baseUrl + PRICING)
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({ code: 0, message: 'ok' })
  })

  test('an entry has the contract’s and the decisions’ fields [2.2-01] [2.2-02] [D-names-19] [D-names-20] [D-names-21] [D-names-22] [D-names-23] [D-names-24] [D-names-25] [D-names-26]', async () => {
    const [row] = await pricing('?model_id=two-chains&vendor_code=acme')
    expect(row).toMatchObject({
      model_id: 'two-chains',
      name: 'Two Chains',
      vendor_code: 'acme',
      vendor_name: 'ACME',
      currency: 'CNY',
      support_features: ['text', 'image'],
      billing_modes: ['token'],
      input_price: 10,
      output_price: 30,
      cache_input_price: 1,
      cache_output_price: 30,
      cache_write_price: 10,
      cache_write_1h_price: 10,
      image_price: 0,
      video_price: 0,
      request_price: 0,
      rate_multiplier: 1.25,
    })
    const features = (await pricing()).flatMap((entry) => entry['support_features'] as string[])
    expect(features.every((feature) => ['text', 'image', 'audio', 'video'].includes(feature))).toBe(true)
  })

  test.each([
    ['[D-names-30] [2.2-09]', 'two-chains', 'token'],
    ['[D-names-31] [2.2-09]', 'images', 'image'],
    ['[D-names-32] [2.2-09]', 'videos', 'video_second'],
    ['[D-names-33] [2.2-09]', 'per-request', 'request'],
  ])('%s %s shows billing mode %s', async (_id, model, mode) => {
    const [row] = await pricing(`?model_id=${model}`)
    expect(row?.['billing_modes']).toEqual([mode])
    if (mode === 'image') expect(row?.['image_price']).toBe(0.2)
    if (mode === 'video_second') expect(row?.['video_price']).toBe(0.5)
  })

  test('anonymous callers see user_rate 100 everywhere [2.2-11] [4.5-06]', async () => {
    expect(new Set((await pricing()).map((row) => row['user_rate']))).toEqual(new Set([100]))
  })

  test('an API key sees the account’s own rate [2.2-10] [4.5-07] [5-04] [D-catalogue-09]', async () => {
    const { key } = await gateway.newAccount({ userRate: '80' })
    expect(new Set((await pricing('', bearer(key))).map((row) => row['user_rate']))).toEqual(new Set([80]))
  })

  test('a wrong key is refused, not treated as anonymous', async () => {
    expect((await get(gateway.baseUrl + PRICING, bearer('sk-gateway-wrong'))).status).toBe(401)
  })

  test('filters by model_id and by vendor_code [D-catalogue-07] [D-catalogue-06]', async () => {
    expect((await pricing('?model_id=images')).map((row) => row['model_id'])).toEqual(['images'])
    expect(new Set((await pricing('?vendor_code=bolt')).map((row) => row['vendor_code']))).toEqual(
      new Set(['bolt']),
    )
  })
})

describe('GET /v1/models', () => {
  const list = (key: string, headers: Record<string, string> = {}, base = gateway.baseUrl): Promise<Answer> =>
    get(`${base}/v1/models`, { ...bearer(key), ...headers })
  const idsOf = (answer: Answer): readonly unknown[] => rowsOf(answer).map((row) => row['id'])

  test('needs a key [D-addresses-22]', async () => {
    const answer = await get(`${gateway.baseUrl}/v1/models`)
    expect([answer.status, answer.body.code]).toEqual([401, 40001])
  })

  test('follows the key’s allow list and group [D-addresses-23]', async () => {
    const allowed = await gateway.newKey(gateway.accountId, { models: [modelId('two-chains')] })
    expect(idsOf(await list(allowed.key))).toEqual(['two-chains'])
    const bound = await gateway.newKey(gateway.accountId, { group: 'm' })
    expect(idsOf(await list(bound.key))).toEqual(['pro-only'])
  })

  test('lists a hidden model only for a key that names it [D-addresses-42]', async () => {
    expect(idsOf(await list(gateway.key))).not.toContain('hidden')
    const naming = await gateway.newKey(gateway.accountId, { models: [modelId('hidden')] })
    expect(idsOf(await list(naming.key))).toEqual(['hidden'])
  })

  test('is the chat listing, no copy of the catalogue [D-addresses-24] [4.5-09] [D-addresses-26]', async () => {
    const answer = await list(gateway.key)
    expect(answer.body).toMatchObject({ object: 'list' })
    for (const row of rowsOf(answer)) {
      expect(row).toMatchObject({ object: 'model' })
      expect(Object.keys(row)).not.toEqual(expect.arrayContaining(['forward_model_id']))
      expect(JSON.stringify(row)).not.toMatch(/price|multiplier/)
    }
  })

  test('an anthropic-version header selects the messages shape [D-addresses-25]', async () => {
    const answer = await list(gateway.key, { 'anthropic-version': '2023-06-01' })
    expect(answer.body).toMatchObject({ has_more: expect.any(Boolean) })
    expect(rowsOf(answer)[0]).toMatchObject({ type: 'model', display_name: expect.any(String) })
  })

  test('tells when a model came into the catalogue, in both shapes, whatever was changed since', async () => {
    const before = rowsOf(await list(gateway.key))
    const stored = (await gateway.storage.catalogue.read()).models
    for (const { id, created } of before) {
      const at = stored.get(modelId(String(id)))?.createdAt ?? 0
      expect(created).toBe(Math.floor(at / 1000))
      expect(Math.abs(Date.now() - at)).toBeLessThan(3_600_000)
    }
    const model = stored.get(modelId('two-chains'))
    if (model === undefined) throw new Error('there is no such model')
    const { chains: _chains, createdAt, ...fields } = model
    await gateway.catalogue({ kind: 'put-model', model: fields })
    expect(rowsOf(await list(gateway.key))).toEqual(before)
    const messages = rowsOf(await list(gateway.key, { 'anthropic-version': '2023-06-01' }))
    expect(messages.find(({ id }) => id === 'two-chains')).toMatchObject({
      created_at: new Date(createdAt).toISOString(),
    })
  })

  test('is served at gateway_base_url too, there with x-api-key as well [D-addresses-07]', async () => {
    const bound = await gateway.newKey(gateway.accountId, { group: 'm' })
    expect((await list(bound.key, {}, gateway.gatewayUrl)).status).toBe(200)
    expect((await get(`${gateway.gatewayUrl}/v1/models`, { 'x-api-key': bound.key })).status).toBe(200)
    expect((await get(`${gateway.baseUrl}/v1/models`, { 'x-api-key': bound.key })).status).toBe(401)
  })

  test('an unbound key is 403/40301 there, whatever the shape [D-addresses-11]', async () => {
    for (const headers of [{}, { 'anthropic-version': '2023-06-01' }]) {
      const answer = await list(gateway.key, headers, gateway.gatewayUrl)
      expect([answer.status, answer.body.code]).toEqual([403, 40301])
    }
  })
})

test('the public protocol endpoints are under /v1 only [9-01]', async () => {
  for (const path of ['/chat/completions', '/responses', '/messages', '/v2/messages']) {
    expect((await postJson(gateway.baseUrl + path, {}, bearer(gateway.key))).status).toBe(404)
  }
})

test('catalogue and pricing need no key', async () => {
  expect((await get(gateway.baseUrl + MODELS)).status).toBe(200)
  expect((await get(gateway.baseUrl + PRICING)).status).toBe(200)
})
