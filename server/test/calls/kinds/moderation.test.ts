/** `POST /v1/moderations`: passed on byte for byte both ways, charged by the call or by what was read, or free. */
import OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import { get, postJson } from '../../gateway/client.ts'
import { putChain, putModel, putVendor, NO_TOKEN_PRICES, TOKEN_PRICES } from '../../gateway/gateway.ts'
import { openStand } from '../../gateway/open-stand.ts'
import { answerJson, hangUp } from '../../gateway/scripted-upstream.ts'

const PATH = '/v1/moderations'
const BY_CALL = { ...NO_TOKEN_PRICES, billingModes: ['request' as const], requestPrice: '0.002' }
const FREE = { ...BY_CALL, requestPrice: '0' }
const BY_TOKEN = { ...TOKEN_PRICES, outputPrice: null, cacheInputPrice: null }

const modelOf = (model: string, pricing: typeof NO_TOKEN_PRICES, vendor = 'acme') => [
  putModel(model, { pricing }),
  putChain({ model, vendor, protocol: 'moderation' }),
]

const { gateway, upstream, spare } = await openStand((at) => [
  ...putVendor('acme', at.upstream),
  ...putVendor('spare', at.spare, { kind: 'mistral' }),
  ...putVendor('sandbox', 'https://sandbox.invalid', { kind: 'sandbox' }),
  ...modelOf('guard', BY_CALL),
  putChain({ model: 'guard', vendor: 'spare', protocol: 'moderation', priority: 2 }),
  ...modelOf('free-guard', FREE),
  ...modelOf('token-guard', BY_TOKEN),
  putModel('sandbox-guard', { pricing: BY_CALL }),
  putChain({
    model: 'sandbox-guard',
    vendor: 'sandbox',
    protocol: 'moderation',
    forward: 'sandbox-moderate',
  }),
])

function post(body: object | string, key = gateway.key) {
  return postJson(`${gateway.baseUrl}${PATH}`, body, { authorization: `Bearer ${key}` })
}

const JUDGED = { id: 'modr-1', model: 'upstream', results: [{ flagged: false }] }

test('bytes of request and answer pass as they are, but for the model’s name [D-moderation-01]', async () => {
  const sent = '{ "model":"guard", "input":["a\\u0041", "b"],"own":1e3 }'
  const answered = '{"id":"modr-1", "model" : "guard-upstream","results":[{"flagged":false,"score":1.0e-3}]}'
  upstream.answer(answerJson(answered))
  const answer = await fetch(`${gateway.baseUrl}${PATH}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: sent,
  })
  expect(await answer.text()).toBe(answered.replace('guard-upstream', 'guard'))
  expect(upstream.requests.map(({ path, body }) => [path, body.toString()])).toEqual([
    ['/moderations', sent.replace('"guard"', '"guard-upstream"')],
  ])
})

describe('the official SDK', () => {
  const client = () => new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.baseUrl}/v1`, maxRetries: 0 })

  test('gets texts judged one by one, and a message as one [D-moderation-02]', async () => {
    const texts = await client().moderations.create({ model: 'sandbox-guard', input: ['hello', 'flag me'] })
    expect(texts.results.map(({ flagged }) => flagged)).toEqual([false, true])
    expect(texts.results[1]?.categories.harassment).toBe(true)
    expect(texts.model).toBe('sandbox-guard')
    const message = await client().moderations.create({
      model: 'sandbox-guard',
      input: [
        { type: 'text', text: 'flag me' },
        { type: 'image_url', image_url: { url: 'https://pictures.example/a.png' } },
      ],
    })
    expect(message.results).toHaveLength(1)
  })

  test('gets an error it understands', async () => {
    const asked = client().moderations.create({ model: 'sandbox-guard', input: [] })
    await expect(asked).rejects.toMatchObject({ status: 400 })
  })
})

describe('is charged', () => {
  test('by the call, whatever was sent [D-moderation-03]', async () => {
    upstream.answer(answerJson(JUDGED))
    await post({ model: 'guard', input: 'x'.repeat(50_000) })
    const row = await gateway.lastLog()
    expect(row).toMatchObject({
      endpoint: PATH,
      clientProtocol: 'moderation',
      amount: 2_000_000n,
      deducted: 2_000_000n,
      recipe: { lines: [{ class: 'request', quantity: 1, price: '0.002', per: 1 }] },
    })
  })

  test('nothing where the operator says so, and that to whoever has nothing [D-moderation-04]', async () => {
    upstream.answer(answerJson(JUDGED))
    expect((await post({ model: 'free-guard', input: 'x' })).status).toBe(200)
    expect(await gateway.lastLog()).toMatchObject({ amount: 0n, deducted: 0n })
    const poor = await gateway.newAccount({ credits: 0 })
    expect((await post({ model: 'free-guard', input: 'x' }, poor.key)).status).toBe(200)
    expect((await post({ model: 'guard', input: 'x' }, poor.key)).body.code).toBe(40202)
  })

  test.each<[string, object, object]>([
    ['as the vendor tells', { usage: { prompt_tokens: 7, total_tokens: 7 } }, { input: 7, output: 0 }],
    ['as counted here, where it tells none', {}, { input: 5, output: 0 }],
    [
      'for no more than was sent',
      { usage: { prompt_tokens: 10 ** 9, completion_tokens: 10 ** 9 } },
      { input: 10_056, output: 0 },
    ],
  ])('by tokens of its input, %s [D-moderation-05]', async (_what, told, usage) => {
    upstream.answer(answerJson({ ...JUDGED, ...told }))
    await post({ model: 'token-guard', input: 'a few words of English' })
    expect((await gateway.lastLog()).usage).toMatchObject(usage)
  })

  test('nothing when the upstream refuses [D-moderation-06]', async () => {
    upstream.answer(answerJson({ error: { message: 'too long', type: 'invalid_request_error' } }, 400))
    expect((await post({ model: 'guard', input: 'x' })).status).toBe(400)
    expect(await gateway.lastLog()).toMatchObject({ amount: 0n, httpStatus: 400 })
  })

  test('once, when the first chain fails and the next answers [D-moderation-07]', async () => {
    upstream.answer(hangUp)
    spare.answer(answerJson(JUDGED))
    expect((await post({ model: 'guard', input: 'x' })).status).toBe(200)
    expect(await gateway.lastLog()).toMatchObject({ vendorCode: 'spare', amount: 2_000_000n })
  })
})

describe('is refused', () => {
  test.each([
    ['an unknown model', { model: 'nobody', input: 'x' }, 502, 50201],
    ['no model', { input: 'x' }, 400, 40002],
    ['no JSON', '{"model":', 400, 40000],
  ])('with %s', async (_what, sent, status, code) => {
    const answer = await post(sent)
    expect([answer.status, answer.body.code]).toEqual([status, code])
  })

  test('elsewhere: 404/40403, which tells where to call [D-moderation-08]', async () => {
    const { status, body } = await postJson(
      `${gateway.baseUrl}/v1/embeddings`,
      { model: 'guard', input: 'x' },
      { authorization: `Bearer ${gateway.key}` },
    )
    expect([status, body.code]).toEqual([404, 40403])
    expect(body.message).toContain(`call it at ${PATH}`)
  })
})

test('the catalogue tells where the model is called [D-moderation-09]', async () => {
  const { body } = await get(`${gateway.baseUrl}/api/v1/user/user/models`)
  expect(body.data).toContainEqual(expect.objectContaining({ model_id: 'guard', endpoints: [PATH] }))
})
