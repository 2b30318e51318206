/** `POST /v1/embeddings`: passed on byte for byte both ways, and charged by its input. */
import OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import { modelId, vendorCode } from '../../../src/core/ids.ts'
import { Secret } from '../../../src/core/secret.ts'
import { get, postJson } from '../../gateway/client.ts'
import { putChain, putGroup, putModel, putVendor, TOKEN_PRICES } from '../../gateway/gateway.ts'
import { openStand } from '../../gateway/open-stand.ts'
import { answerJson, hangUp } from '../../gateway/scripted-upstream.ts'

const PATH = '/v1/embeddings'
/** Google's own calls lead to the same chains. */
const PATHS = [PATH, '/v1beta/models/{model}:embedContent', '/v1beta/models/{model}:batchEmbedContents']
/** 10 yuan a million tokens of input, 1 000 Credits a yuan. */
const PRICES = { ...TOKEN_PRICES, outputPrice: null, cacheInputPrice: null }
const MICRO_CREDITS_PER_TOKEN = 10_000n

/** Kinds of vendors that know no `encoding_format`; SDKs decode what they get as base64 all the same. */
const NUMBERS_ALONE = ['dashscope', 'zhipu', 'fireworks', 'lm-studio']

const { gateway, upstream, spare } = await openStand((at) => [
  ...putVendor('acme', at.upstream),
  ...putVendor('spare', at.spare),
  ...putVendor('sandbox', 'https://sandbox.invalid', { kind: 'sandbox' }),
  putModel('embed', { pricing: PRICES, contextTokens: 8_192 }),
  putChain({ model: 'embed', vendor: 'acme', protocol: 'embeddings' }),
  putChain({ model: 'embed', vendor: 'spare', protocol: 'embeddings', priority: 2 }),
  putModel('other-embed', { pricing: PRICES }),
  putChain({ model: 'other-embed', vendor: 'spare', protocol: 'embeddings' }),
  putModel('sandbox-embed', { pricing: PRICES }),
  putChain({ model: 'sandbox-embed', vendor: 'sandbox', protocol: 'embeddings', forward: 'sandbox-embed' }),
  ...putVendor('google', at.upstream, { kind: 'google' }),
  ...putVendor('dashscope', at.upstream, { kind: 'dashscope' }),
  ...putVendor('voyage', at.upstream, { kind: 'voyage' }),
  ...putVendor('cohere', at.upstream, { kind: 'cohere' }),
  ...NUMBERS_ALONE.slice(1).flatMap((kind) => putVendor(kind, at.upstream, { kind })),
  ...['google', 'voyage', 'cohere', ...NUMBERS_ALONE].flatMap((vendor) => [
    putModel(`of-${vendor}`, { pricing: PRICES }),
    putChain({ model: `of-${vendor}`, vendor, protocol: 'embeddings' }),
  ]),
  putModel('talk'),
  putChain({ model: 'talk', vendor: 'acme' }),
  putModel('clip', {
    supportFeatures: ['video'],
    pricing: { ...PRICES, billingModes: ['request'], requestPrice: '1' },
  }),
  putChain({ model: 'clip', vendor: 'acme', protocol: 'video' }),
  putGroup({ name: 'vectors', protocol: 'embeddings', models: ['embed'] }),
  putGroup({ name: 'talkers', protocol: 'chat', models: ['talk', 'embed'] }),
])

function post(body: object | string, { key = gateway.key, path = PATH } = {}) {
  return postJson(`${gateway.baseUrl}${path}`, body, { authorization: `Bearer ${key}` })
}

function answerOf(usage: object | undefined) {
  return answerJson({
    object: 'list',
    data: [{ object: 'embedding', index: 0, embedding: [0.1, -0.2] }],
    model: 'embed-upstream',
    ...(usage === undefined ? {} : { usage }),
  })
}

describe('bytes', () => {
  test('of the request and of the answer pass as they are, but for the model’s name [D-embeddings-01]', async () => {
    const sent =
      '{ "input":["a\\u0041","b"] , "model":"embed","encoding_format":"base64",  "dimensions": 3, "own":{"x":1e3} }'
    const answered =
      '{"object":"list",\n "data":[{"object":"embedding","index":0,"embedding":"AACAPwAAAEA="}], "model" : "embed-upstream", "usage":{"prompt_tokens":4,"total_tokens":4}, "own":1.50}'
    upstream.answer(answerJson(answered))
    const answer = await fetch(`${gateway.baseUrl}${PATH}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: sent,
    })
    expect(await answer.text()).toBe(answered.replace('embed-upstream', 'embed'))
    expect(answer.headers.get('gw-model')).toBe('embed')
    const [request] = upstream.requests
    expect([request?.method, request?.path]).toEqual(['POST', '/embeddings'])
    expect(request?.body.toString()).toBe(sent.replace('"embed"', '"embed-upstream"'))
    expect(request?.headers.authorization).toBe('Bearer secret-of-acme-main')
  })

  test('floats keep every digit [D-embeddings-02]', async () => {
    const digits = '0.0023064255000000001'
    upstream.answer(
      answerJson(
        `{"object":"list","data":[{"embedding":[${digits},-1E-7]}],"model":"x","usage":{"prompt_tokens":1,"total_tokens":1}}`,
      ),
    )
    const answer = await fetch(`${gateway.baseUrl}${PATH}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}` },
      body: '{"model":"embed","input":"a","encoding_format":"float"}',
    })
    expect(await answer.text()).toContain(`[${digits},-1E-7]`)
  })
})

describe('the official SDK', () => {
  const client = () => new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.baseUrl}/v1`, maxRetries: 0 })

  test('gets vectors of the sandbox, as base64 by its own wish and as numbers [D-embeddings-03]', async () => {
    // The SDK asks for base64 and decodes it where nothing is said.
    const decoded = await client().embeddings.create({ model: 'sandbox-embed', input: ['one', 'two'] })
    const plain = await client().embeddings.create({
      model: 'sandbox-embed',
      input: ['one', 'two'],
      encoding_format: 'float',
    })
    expect(decoded.data).toHaveLength(2)
    expect(decoded.data[0]?.embedding).toHaveLength(64)
    expect(decoded.data.map((each) => each.embedding)).toEqual(plain.data.map((each) => each.embedding))
    expect(decoded.data[0]?.embedding).not.toEqual(decoded.data[1]?.embedding)
    expect([decoded.model, decoded.usage]).toEqual(['sandbox-embed', { prompt_tokens: 2, total_tokens: 2 }])
  })

  test('gets as many dimensions as it asks for [D-embeddings-04]', async () => {
    const { data } = await client().embeddings.create({ model: 'sandbox-embed', input: 'one', dimensions: 7 })
    expect(data[0]?.embedding).toHaveLength(7)
  })

  test('gets an error it understands', async () => {
    await expect(client().embeddings.create({ model: 'sandbox-embed', input: [] })).rejects.toMatchObject({
      status: 400,
    })
    await expect(client().embeddings.create({ model: 'nobody', input: 'a' })).rejects.toMatchObject({
      status: 502,
    })
  })
})

describe('is charged', () => {
  test('by the tokens of its input, and the row tells how [D-embeddings-05]', async () => {
    upstream.answer(answerOf({ prompt_tokens: 100_000, total_tokens: 100_000 }))
    await post({ model: 'embed', input: 'x'.repeat(200_000), user: 'someone' })
    const row = await gateway.lastLog()
    expect(row).toMatchObject({
      endpoint: PATH,
      clientProtocol: 'embeddings',
      upstreamProtocol: 'embeddings',
      model: 'embed',
      httpStatus: 200,
      ending: 'complete',
      user: 'someone',
      usage: { input: 100_000, output: 0 },
      usageSource: 'upstream',
      usageSuspect: undefined,
      amount: 100_000n * MICRO_CREDITS_PER_TOKEN,
      recipe: { lines: [{ class: 'input', quantity: 100_000, price: '10', per: 1_000_000 }] },
    })
    expect(row.deducted).toBe(row.amount)
  })

  test('by the total where nothing else is told', async () => {
    upstream.answer(answerOf({ total_tokens: 1_234 }))
    await post({ model: 'embed', input: 'x'.repeat(5_000) })
    expect((await gateway.lastLog()).usage).toMatchObject({ input: 1_234, output: 0 })
  })

  test.each([
    ['a text', 'a few words of English', 5],
    ['tokens', [1, 2, 3, 4, 5, 6, 7], 7],
    [
      'lists of tokens',
      [
        [1, 2],
        [3, 4, 5],
      ],
      5,
    ],
  ])(
    'by our own count of %s where the upstream tells no usage [D-embeddings-06]',
    async (_what, input, tokens) => {
      upstream.answer(answerOf(undefined))
      await post({ model: 'embed', input })
      expect(await gateway.lastLog()).toMatchObject({
        usage: { input: tokens, output: 0 },
        usageSource: 'estimated',
      })
    },
  )

  test('for no more than the request can have held, and the row says both numbers [D-embeddings-07]', async () => {
    upstream.answer(answerOf({ prompt_tokens: 999_999_999, total_tokens: 999_999_999 }))
    const body = { model: 'embed', input: 'hi' }
    await post(body)
    const row = await gateway.lastLog()
    const most = JSON.stringify(body).length + 10_000
    expect(row.usage).toMatchObject({ input: most, output: 0 })
    expect(row.usageSuspect).toMatchObject({ inputReported: 999_999_999, inputCharged: most })
  })

  test('nothing when the upstream refuses [D-embeddings-09]', async () => {
    upstream.answer(answerJson({ error: { message: 'too long', type: 'invalid_request_error' } }, 400))
    const { status, body } = await post({ model: 'embed', input: 'x' })
    expect([status, body.error?.message]).toEqual([400, 'too long'])
    expect(spare.requests).toHaveLength(0)
    expect(await gateway.lastLog()).toMatchObject({ amount: 0n, httpStatus: 400 })
  })

  test('and holds the worst case of its input before it goes out [D-embeddings-08]', async () => {
    const account = await gateway.newAccount({ credits: 1_000 })
    const held: bigint[] = []
    upstream.answer(async (request, response) => {
      held.push((await gateway.account(account.id)).held)
      await answerOf({ prompt_tokens: 10, total_tokens: 10 })(request, response)
    })
    const body = { model: 'embed', input: 'x'.repeat(1_000) }
    await post(body, { key: account.key })
    expect(held).toEqual([BigInt(JSON.stringify(body).length) * MICRO_CREDITS_PER_TOKEN])
  })

  test('nobody who has nothing: 402 without asking upstream', async () => {
    const poor = await gateway.newAccount({ credits: 0 })
    const { body } = await post({ model: 'embed', input: 'x' }, { key: poor.key })
    expect(body.code).toBe(40202)
    expect(upstream.requests).toHaveLength(0)
  })

  test('the customer’s own credential, where there is one [D-embeddings-10]', async () => {
    const owner = await gateway.newAccount({ credits: 10 })
    await gateway.storage.accounts.putByok(
      owner.id,
      vendorCode('acme'),
      { secret: new Secret('own-secret'), fields: {} },
      { enabled: true },
    )
    upstream.answer(answerOf({ prompt_tokens: 10, total_tokens: 10 }))
    await post({ model: 'embed', input: 'x' }, { key: owner.key })
    expect(upstream.requests[0]?.headers.authorization).toBe('Bearer own-secret')
    expect(await gateway.lastLog()).toMatchObject({ byok: true, deducted: 0n })
  })
})

describe('goes on', () => {
  test('over the next chain, when the first fails [D-embeddings-11]', async () => {
    upstream.answer(hangUp)
    spare.answer(answerOf({ prompt_tokens: 3, total_tokens: 3 }))
    expect((await post({ model: 'embed', input: 'x' })).status).toBe(200)
    expect(await gateway.lastLog()).toMatchObject({ vendorCode: 'spare', usage: { input: 3 } })
  })

  test('with the fallback model, when all chains fail, but only with one that makes vectors [D-embeddings-12]', async () => {
    upstream.answer(answerJson({ error: { message: 'busy' } }, 503))
    spare.script(
      answerJson({ error: { message: 'busy' } }, 503),
      answerOf({ prompt_tokens: 3, total_tokens: 3 }),
    )
    const account = await gateway.newAccount({ credits: 10, fallbackModel: modelId('other-embed') })
    const { status, headers } = await post({ model: 'embed', input: 'x' }, { key: account.key })
    expect([status, headers.get('gw-model')]).toEqual([200, 'other-embed'])
    await gateway.resetHealth()
    spare.answer(answerJson({ error: { message: 'busy' } }, 503))
    const talker = await gateway.newAccount({ credits: 10, fallbackModel: modelId('talk') })
    expect((await post({ model: 'embed', input: 'x' }, { key: talker.key })).status).toBe(503)
    expect(upstream.requests.map(({ path }) => path)).toEqual(['/embeddings', '/embeddings'])
  })

  test('not with an answer that is no document', async () => {
    upstream.answer(answerJson('data: {"object":"list"}\n\n', 200, { 'content-type': 'text/event-stream' }))
    spare.answer(answerOf({ prompt_tokens: 3, total_tokens: 3 }))
    expect((await post({ model: 'embed', input: 'x' })).body.data).toHaveLength(1)
  })
})

describe('is refused', () => {
  test.each([
    ['an unknown model', { model: 'nobody', input: 'x' }, 502, 50201],
    ['no model', { input: 'x' }, 400, 40002],
    ['no object', '[]', 400, 40000],
    ['no JSON', '{"model":', 400, 40000],
  ])('with %s', async (_what, sent, status, code) => {
    const answer = await post(sent)
    expect([answer.status, answer.body.code]).toEqual([status, code])
  })

  test.each([
    [PATH, { model: 'talk', input: 'x' }, '/v1/chat/completions'],
    [PATH, { model: 'clip', input: 'x' }, '/v1/videos'],
    ['/v1/chat/completions', { model: 'embed', messages: [] }, PATH],
    ['/v1/messages', { model: 'embed', max_tokens: 1, messages: [] }, PATH],
    ['/v1/messages/count_tokens', { model: 'embed', messages: [] }, PATH],
  ])('at %s for %o: 404/40403, and told where to call [D-embeddings-15]', async (path, sent, right) => {
    const { status, body } = await post(sent, { path })
    expect([status, body.code]).toEqual([404, 40403])
    expect(body.message).toContain(`not served at ${path}`)
    expect(body.message).toContain(`call it at ${right}`)
  })

  test('to a key of another group, and not to one of its own [D-embeddings-13]', async () => {
    const account = await gateway.newAccount({ credits: 10 })
    const { key: talker } = await gateway.newKey(account.id, { group: 'talkers' })
    expect((await post({ model: 'embed', input: 'x' }, { key: talker })).body.code).toBe(40301)
    const { key } = await gateway.newKey(account.id, { group: 'vectors' })
    upstream.answer(answerOf({ prompt_tokens: 3, total_tokens: 3 }))
    expect((await post({ model: 'embed', input: 'x' }, { key })).status).toBe(200)
    expect((await post({ model: 'other-embed', input: 'x' }, { key })).body.code).toBe(40301)
  })

  test('beyond a limit of the key [D-embeddings-14]', async () => {
    const account = await gateway.newAccount({ credits: 10 })
    const { key } = await gateway.newKey(account.id, {
      policy: { concurrency: undefined, windows: [{ dimension: 'requests', limit: 1, seconds: 3_600 }] },
    })
    upstream.answer(answerOf({ prompt_tokens: 3, total_tokens: 3 }))
    expect((await post({ model: 'embed', input: 'x' }, { key })).status).toBe(200)
    expect((await post({ model: 'embed', input: 'x' }, { key })).status).toBe(429)
  })

  test('with GET, told what the path takes', async () => {
    const answer = await get(`${gateway.baseUrl}${PATH}`)
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST'])
  })
})

describe('is told of', () => {
  test('in the catalogue and in the prices: where the model is called [D-embeddings-16]', async () => {
    const listed = await get(`${gateway.baseUrl}/api/v1/user/user/models`)
    expect(listed.body.data).toContainEqual(expect.objectContaining({ model_id: 'embed', endpoints: PATHS }))
    expect(listed.body.data).toContainEqual(
      expect.objectContaining({ model_id: 'talk', endpoints: expect.arrayContaining(['/v1/messages']) }),
    )
    const prices = await get(`${gateway.baseUrl}/api/v1/user/user/pricing?model_id=embed`)
    expect(prices.body.data).toMatchObject([
      { endpoints: PATHS, input_price: 10, output_price: 0 },
      { endpoints: PATHS, input_price: 10, output_price: 0 },
    ])
  })

  test('by explain [D-embeddings-17]', async () => {
    const { body } = await postJson(
      `${gateway.baseUrl}/api/v1/user/user/explain`,
      { protocol: 'embeddings', body: { model: 'embed', input: 'Hello' } },
      { authorization: `Bearer ${gateway.key}` },
    )
    expect(body.data).toMatchObject({
      refusal: null,
      model: 'embed',
      estimate: { output_tokens: 0 },
      routes: [{ chains: [{ protocol: 'embeddings', conversion: { kind: 'passthrough' } }, {}] }],
    })
  })
})

describe('is written anew', () => {
  const client = () => new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.baseUrl}/v1`, maxRetries: 0 })

  test('for Google: a request for each text, and its vectors as the SDK asks for them [D-embeddings-18]', async () => {
    upstream.answer(
      answerJson({
        embeddings: [{ values: [0.5, -1] }, { values: [0.25, 2] }],
        usageMetadata: { promptTokenCount: 7 },
      }),
    )
    const made = await client().embeddings.create({
      model: 'of-google',
      input: ['one', 'two'],
      dimensions: 2,
      user: 'me',
    })
    expect(made.data.map(({ embedding }) => [...embedding])).toEqual([
      [0.5, -1],
      [0.25, 2],
    ])
    expect([made.model, made.usage]).toEqual(['of-google', { prompt_tokens: 7, total_tokens: 7 }])
    const [request] = upstream.requests
    expect([request?.path, request?.headers['x-goog-api-key']]).toEqual([
      '/models/of-google-upstream:batchEmbedContents',
      'secret-of-google-main',
    ])
    const of = (text: string) => ({
      model: 'models/of-google-upstream',
      content: { parts: [{ text }] },
      outputDimensionality: 2,
    })
    expect(request?.json()).toEqual({ requests: [of('one'), of('two')] })
    expect(await gateway.lastLog()).toMatchObject({
      usage: { input: 7, output: 0 },
      usageSource: 'upstream',
      droppedFields: ['user'],
    })
  })

  test('for Google, which may tell no usage: it is counted here', async () => {
    upstream.answer(answerJson({ embeddings: [{ values: [0.5] }] }))
    const { body } = await post({ model: 'of-google', input: 'a few words of English' })
    expect(body.data).toEqual([{ object: 'embedding', index: 0, embedding: [0.5] }])
    expect(await gateway.lastLog()).toMatchObject({ usage: { input: 5 }, usageSource: 'estimated' })
  })

  test('for Google, whose errors are told as OpenAI’s', async () => {
    const told = { error: { code: 400, message: 'no such thing', status: 'INVALID_ARGUMENT' } }
    upstream.answer(answerJson(told, 400))
    const { status, body } = await post({ model: 'of-google', input: [1, 2] })
    expect([status, body]).toMatchObject([400, { error: { message: 'no such thing' }, upstream_body: told }])
  })

  test.each(NUMBERS_ALONE)('for %s, which makes numbers alone [D-embeddings-20]', async (vendor) => {
    const usage = { prompt_tokens: 3, total_tokens: 3 }
    upstream.answer(answerJson({ data: [{ index: 0, embedding: [0.5, -1] }], model: 'x', usage }))
    const made = await client().embeddings.create({ model: `of-${vendor}`, input: 'one' })
    expect([...(made.data[0]?.embedding ?? [])]).toEqual([0.5, -1])
    expect(upstream.requests.map(({ json }) => json())).toEqual([
      { model: `of-${vendor}-upstream`, input: 'one' },
    ])
  })

  test('for Voyage, which has another name for dimensions [D-embeddings-21]', async () => {
    upstream.answer(answerJson({ data: [{ index: 0, embedding: [0.5] }], usage: { total_tokens: 3 } }))
    await post({ model: 'of-voyage', input: 'one', dimensions: 256, encoding_format: 'float' })
    expect(upstream.requests.map(({ json }) => json())).toEqual([
      { model: 'of-voyage-upstream', input: 'one', output_dimension: 256 },
    ])
    expect((await gateway.lastLog()).usage).toMatchObject({ input: 3 })
  })

  describe('for Cohere', () => {
    const made = (float: unknown, billed?: object) =>
      answerJson({ id: 'e', embeddings: { float }, texts: ['one'], meta: { billed_units: billed } })

    test('with its dimensions and what the texts are for [D-embeddings-22]', async () => {
      upstream.answer(made([[0.5], [-1]], { input_tokens: 7 }))
      const { body, headers } = await post({
        model: 'of-cohere',
        input: ['one', 'two'],
        dimensions: 256,
        input_type: 'search_query',
        encoding_format: 'float',
        user: 'someone',
      })
      expect(body).toEqual({
        object: 'list',
        data: [
          { object: 'embedding', index: 0, embedding: [0.5] },
          { object: 'embedding', index: 1, embedding: [-1] },
        ],
        model: 'of-cohere',
        usage: { prompt_tokens: 7, total_tokens: 7 },
      })
      expect(headers.get('gw-dropped-fields')).toBe('user')
      expect(upstream.requests.map(({ path, json }) => [path, json()])).toEqual([
        [
          '/v2/embed',
          {
            model: 'of-cohere-upstream',
            texts: ['one', 'two'],
            input_type: 'search_query',
            output_dimension: 256,
            embedding_types: ['float'],
          },
        ],
      ])
      expect(await gateway.lastLog()).toMatchObject({
        usage: { input: 7 },
        usageSource: 'upstream',
        amount: 7n * MICRO_CREDITS_PER_TOKEN,
      })
    })

    test('a text alone is a document, and comes as base64 where the SDK wants that', async () => {
      upstream.answer(made([[0.5, -1.25]], { input_tokens: 1 }))
      const { data } = await client().embeddings.create({ model: 'of-cohere', input: 'one' })
      expect(data.map(({ embedding }) => embedding)).toEqual([[0.5, -1.25]])
      expect(upstream.requests.map(({ json }) => json())).toEqual([
        {
          model: 'of-cohere-upstream',
          texts: ['one'],
          input_type: 'search_document',
          embedding_types: ['float'],
        },
      ])
    })

    test.each([
      ['nothing', undefined],
      ['no tokens', {}],
      ['words', { input_tokens: '7' }],
      ['fewer than none', { input_tokens: -7 }],
    ])('that tells %s of its tokens is counted here', async (_what, billed) => {
      upstream.answer(made([[0.5]], billed))
      await post({ model: 'of-cohere', input: 'a few words of English' })
      expect(await gateway.lastLog()).toMatchObject({ usage: { input: 5 }, usageSource: 'estimated' })
    })

    test.each([
      ['no vectors of numbers', { embeddings: { int8: [[1]] } }],
      ['a list where an object is', { embeddings: [[0.5]] }],
      ['nothing', {}],
    ])('that answers with %s has not answered', async (_what, body) => {
      upstream.answer(answerJson(body))
      expect((await post({ model: 'of-cohere', input: 'x' })).status).toBe(502)
      expect(await gateway.lastLog()).toMatchObject({ amount: 0n })
    })
  })

  test('in a thread, where it is large', async () => {
    const vector = Array.from({ length: 1_000 }, (_, index) => index / 8)
    upstream.answer(answerJson({ embeddings: Array.from({ length: 100 }, () => ({ values: vector })) }))
    const input = Array.from({ length: 100 }, () => 'x'.repeat(5_000))
    const { data } = await client().embeddings.create({ model: 'of-google', input })
    expect(data).toHaveLength(100)
    expect([...(data[99]?.embedding ?? [])]).toEqual(vector)
  })
})

test('vectors as bytes (vLLM’s `encoding_format: bytes`) are no document, and cost nothing', async () => {
  spare.answer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/octet-stream' })
    response.end(new Uint8Array([0, 0, 128, 63]))
  })
  const answer = await post({ model: 'other-embed', input: 'x', encoding_format: 'bytes' })
  expect([answer.status, (await gateway.lastLog()).amount]).toEqual([502, 0n])
})
