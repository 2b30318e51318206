/** Google's own embed calls: passed on to Google but for the model's names, converted for all others, charged by their input. */
import { ApiError, GoogleGenAI } from '@google/genai'
import { describe, expect, test } from 'vitest'
import { modelId, vendorCode } from '../../../src/core/ids.ts'
import { Secret } from '../../../src/core/secret.ts'
import { get, postJson } from '../../gateway/client.ts'
import { putChain, putGroup, putModel, putVendor, TOKEN_PRICES } from '../../gateway/gateway.ts'
import { openStand } from '../../gateway/open-stand.ts'
import { answerJson, hangUp } from '../../gateway/scripted-upstream.ts'

/** 10 yuan a million tokens of input, 1 000 Credits a yuan. */
const PRICES = { ...TOKEN_PRICES, outputPrice: null, cacheInputPrice: null }
const MICRO_CREDITS_PER_TOKEN = 10_000n
const PATHS = [
  '/v1/embeddings',
  '/v1beta/models/{model}:embedContent',
  '/v1beta/models/{model}:batchEmbedContents',
]

const { gateway, upstream, spare } = await openStand((at) => [
  ...putVendor('google', at.upstream, { kind: 'google' }),
  ...putVendor('acme', at.spare),
  ...putVendor('voyage', at.upstream, { kind: 'voyage' }),
  ...putVendor('cohere', at.upstream, { kind: 'cohere' }),
  ...putVendor('sandbox', 'https://sandbox.invalid', { kind: 'sandbox' }),
  putModel('embed', { pricing: PRICES, contextTokens: 8_192 }),
  putChain({ model: 'embed', vendor: 'google', protocol: 'embeddings' }),
  putChain({ model: 'embed', vendor: 'acme', protocol: 'embeddings', priority: 2 }),
  ...['acme', 'voyage', 'cohere'].flatMap((vendor) => [
    putModel(`of-${vendor}`, { pricing: PRICES }),
    putChain({ model: `of-${vendor}`, vendor, protocol: 'embeddings' }),
  ]),
  putModel('other-embed', { pricing: PRICES }),
  putChain({ model: 'other-embed', vendor: 'voyage', protocol: 'embeddings' }),
  putModel('sandbox-embed', { pricing: PRICES }),
  putChain({ model: 'sandbox-embed', vendor: 'sandbox', protocol: 'embeddings', forward: 'sandbox-embed' }),
  putModel('talk'),
  putChain({ model: 'talk', vendor: 'acme' }),
  putGroup({ name: 'vectors', protocol: 'gemini-embeddings', models: ['embed'] }),
  putGroup({ name: 'others', protocol: 'embeddings', models: ['embed'] }),
])

const client = () =>
  new GoogleGenAI({
    apiKey: gateway.key,
    httpOptions: { baseUrl: gateway.baseUrl, retryOptions: { attempts: 1 } },
  })

function post(model: string, verb: string, body: object | string, key = gateway.key) {
  return postJson(`${gateway.baseUrl}/v1beta/models/${model}:${verb}`, body, { 'x-goog-api-key': key })
}

const content = (text: string) => ({ parts: [{ text }] })
const ONE = { content: content('a few words of English') }

function vectors(promptTokenCount?: number) {
  return answerJson({
    embeddings: [{ values: [0.5] }],
    ...(promptTokenCount === undefined ? {} : { usageMetadata: { promptTokenCount } }),
  })
}

describe('bytes', () => {
  test('of many texts and of their vectors pass as they are, but for the model’s name in each request [D-embedcontent-01]', async () => {
    const sent =
      '{ "requests":[ {"model" : "models/embed","content":{"parts":[{"text":"a\\u0041"}]}, "taskType":"RETRIEVAL_QUERY"},{"content":{"parts":[{"text":"b"}]},"model":"models\\/another", "own":1e3}] }'
    const answered =
      '{"embeddings":[ {"values":[0.0023064255000000001,-1E-7]},{"values":[1]}],\n "usageMetadata":{"promptTokenCount":4}, "own":1.50}'
    upstream.answer(answerJson(answered))
    const answer = await fetch(`${gateway.baseUrl}/v1beta/models/embed:batchEmbedContents`, {
      method: 'POST',
      headers: { 'x-goog-api-key': gateway.key, 'content-type': 'application/json' },
      body: sent,
    })
    expect(await answer.text()).toBe(answered)
    const [request] = upstream.requests
    expect([request?.path, request?.headers['x-goog-api-key']]).toEqual([
      '/models/embed-upstream:batchEmbedContents',
      'secret-of-google-main',
    ])
    expect(request?.body.toString()).toBe(
      sent
        .replace('"models/embed"', '"models/embed-upstream"')
        .replace('"models\\/another"', '"models/embed-upstream"'),
    )
  })

  test('of one text go to the call for one [D-embedcontent-02]', async () => {
    upstream.answer(answerJson({ embedding: { values: [1] }, usageMetadata: { promptTokenCount: 2 } }))
    const { body } = await post('embed', 'embedContent', { model: 'models/expensive', ...ONE })
    expect(body).toEqual({ embedding: { values: [1] }, usageMetadata: { promptTokenCount: 2 } })
    const [request] = upstream.requests
    expect(request?.path).toBe('/models/embed-upstream:embedContent')
    expect(request?.json()).toEqual({ model: 'models/embed-upstream', ...ONE })
  })
})

describe('the official SDK', () => {
  test('gets vectors of Google [D-embedcontent-03]', async () => {
    upstream.answer(answerJson({ embeddings: [{ values: [0.5] }, { values: [1] }] }))
    const made = await client().models.embedContent({
      model: 'embed',
      contents: ['one', 'two'],
      config: { taskType: 'RETRIEVAL_DOCUMENT', outputDimensionality: 1 },
    })
    expect(made.embeddings?.map(({ values }) => values)).toEqual([[0.5], [1]])
    expect(upstream.requests.map(({ json }) => json())).toMatchObject([
      {
        requests: [
          { model: 'models/embed-upstream', outputDimensionality: 1 },
          { taskType: 'RETRIEVAL_DOCUMENT' },
        ],
      },
    ])
  })

  test('gets vectors of the sandbox, as long as it asks for', async () => {
    const made = await client().models.embedContent({
      model: 'sandbox-embed',
      contents: ['one', 'two'],
      config: { outputDimensionality: 7 },
    })
    expect(made.embeddings?.map(({ values }) => values?.length)).toEqual([7, 7])
    expect(made.embeddings?.[0]).not.toEqual(made.embeddings?.[1])
    expect((await gateway.lastLog()).usage).toMatchObject({ input: 2, output: 0 })
  })

  test('gets an error it understands [D-embedcontent-04]', async () => {
    const refused = client().models.embedContent({ model: 'nobody', contents: 'one' })
    await expect(refused).rejects.toBeInstanceOf(ApiError)
    await expect(refused).rejects.toMatchObject({ status: 502 })
  })
})

describe('is converted', () => {
  test('for a vendor of OpenAI’s form, and its vectors come back in the order of the texts [D-embedcontent-05]', async () => {
    spare.answer(
      answerJson({
        data: [
          { index: 1, embedding: [2] },
          { index: 0, embedding: [1] },
        ],
        model: 'x',
        usage: { prompt_tokens: 3, total_tokens: 3 },
      }),
    )
    const requests = ['one', 'two'].map((text) => ({
      model: 'models/of-acme',
      content: content(text),
      taskType: 'CLUSTERING',
      outputDimensionality: 1,
    }))
    const { body } = await post('of-acme', 'batchEmbedContents', { requests })
    expect(body).toEqual({
      embeddings: [{ values: [1] }, { values: [2] }],
      usageMetadata: { promptTokenCount: 3, totalTokenCount: 3 },
    })
    const [request] = spare.requests
    expect(request?.path).toBe('/embeddings')
    expect(request?.json()).toEqual({ model: 'of-acme-upstream', input: ['one', 'two'], dimensions: 1 })
    expect(await gateway.lastLog()).toMatchObject({
      clientProtocol: 'gemini-embeddings',
      upstreamProtocol: 'embeddings',
      usage: { input: 3, output: 0 },
      usageSource: 'upstream',
      droppedFields: ['requests[].taskType'],
    })
  })

  test('for a vendor of its own form [D-embedcontent-06]', async () => {
    upstream.answer(answerJson({ data: [{ index: 0, embedding: [0.5] }], usage: { total_tokens: 3 } }))
    const { body } = await post('of-voyage', 'embedContent', {
      content: { parts: [{ text: 'one ' }, { text: 'two' }] },
      outputDimensionality: 256,
    })
    expect(body).toEqual({
      embedding: { values: [0.5] },
      usageMetadata: { promptTokenCount: 3, totalTokenCount: 3 },
    })
    expect(upstream.requests.map(({ json }) => json())).toEqual([
      { model: 'of-voyage-upstream', input: 'one two', output_dimension: 256 },
    ])
  })

  test.each([
    ['RETRIEVAL_QUERY', 'search_query', []],
    ['RETRIEVAL_DOCUMENT', 'search_document', []],
    ['CLASSIFICATION', 'classification', []],
    ['CLUSTERING', 'clustering', []],
    ['FACT_VERIFICATION', 'search_document', ['taskType']],
  ])('for Cohere, where %s is %s [D-embeddings-22]', async (taskType, word, droppedFields) => {
    upstream.answer(
      answerJson({ embeddings: { float: [[0.5]] }, meta: { billed_units: { input_tokens: 3 } } }),
    )
    const { body } = await post('of-cohere', 'embedContent', { content: content('one'), taskType })
    expect(body).toMatchObject({ embedding: { values: [0.5] }, usageMetadata: { promptTokenCount: 3 } })
    expect(upstream.requests.map(({ json }) => json())).toMatchObject([{ texts: ['one'], input_type: word }])
    expect(await gateway.lastLog()).toMatchObject({ droppedFields })
  })

  test.each<[string, string, readonly (string | undefined)[], object, readonly string[]]>([
    ['a query', 'voyage', ['RETRIEVAL_QUERY'], { input_type: 'query' }, []],
    ['documents', 'voyage', ['RETRIEVAL_DOCUMENT', 'RETRIEVAL_DOCUMENT'], { input_type: 'document' }, []],
    ['what the vendor has no word for', 'voyage', ['CLUSTERING'], {}, ['requests[].taskType']],
    [
      'texts of two purposes, which one call cannot say',
      'voyage',
      ['RETRIEVAL_QUERY', 'RETRIEVAL_DOCUMENT'],
      {},
      ['requests[].taskType'],
    ],
    ['some of the texts only', 'voyage', ['RETRIEVAL_QUERY', undefined], {}, ['requests[].taskType']],
    ['a query, of a vendor that is not told', 'acme', ['RETRIEVAL_QUERY'], {}, ['requests[].taskType']],
  ])(
    'with what the texts are for: %s [D-embedcontent-07]',
    async (_what, vendor, tasks, told, droppedFields) => {
      const data = tasks.map((_task, index) => ({ index, embedding: [0.5] }))
      for (const vendors of [upstream, spare]) {
        vendors.answer(answerJson({ data, usage: { prompt_tokens: 3, total_tokens: 3 } }))
      }
      const requests = tasks.map((taskType) => ({ content: content('one'), taskType }))
      expect((await post(`of-${vendor}`, 'batchEmbedContents', { requests })).status).toBe(200)
      expect([...upstream.requests, ...spare.requests].map(({ json }) => json())).toEqual([
        { model: `of-${vendor}-upstream`, input: tasks.map(() => 'one'), ...told },
      ])
      expect(await gateway.lastLog()).toMatchObject({ droppedFields })
    },
  )

  test('without leaving out what one call of that form cannot say: the vendor refuses it [D-embedcontent-08]', async () => {
    const told = { error: { message: 'no such thing', type: 'invalid_request_error' } }
    spare.answer(answerJson(told, 400))
    const picture = { parts: [{ inlineData: { mimeType: 'image/png', data: 'AA==' } }] }
    const requests = [
      { content: picture, outputDimensionality: 1 },
      { content: content('one'), outputDimensionality: 2 },
    ]
    const { status, body } = await post('of-acme', 'batchEmbedContents', { requests })
    expect(spare.requests.map(({ json }) => json())).toEqual([
      { model: 'of-acme-upstream', input: [picture, 'one'], dimensions: [1, 2] },
    ])
    expect([status, body]).toMatchObject([
      400,
      { error: { code: 400, message: 'no such thing', status: 'INVALID_ARGUMENT' }, upstream_body: told },
    ])
    expect(await gateway.lastLog()).toMatchObject({ amount: 0n, httpStatus: 400 })
  })

  test('in a thread, where it is large', async () => {
    const vector = Array.from({ length: 1_000 }, (_, index) => index / 8)
    const data = Array.from({ length: 100 }, (_, index) => ({ index, embedding: vector }))
    spare.answer(answerJson({ data, usage: { prompt_tokens: 100_000, total_tokens: 100_000 } }))
    const contents = Array.from({ length: 100 }, () => 'x'.repeat(5_000))
    const { embeddings } = await client().models.embedContent({ model: 'of-acme', contents })
    expect(embeddings).toHaveLength(100)
    expect(embeddings?.[99]?.values).toEqual(vector)
    expect(await gateway.lastLog()).toMatchObject({ amount: 100_000n * MICRO_CREDITS_PER_TOKEN })
  })
})

describe('is charged', () => {
  test('by the tokens that Google tells, and the row tells how [D-embedcontent-09]', async () => {
    upstream.answer(vectors(100_000))
    await post('embed', 'embedContent', { content: content('x'.repeat(200_000)) })
    const row = await gateway.lastLog()
    expect(row).toMatchObject({
      endpoint: '/v1beta/models/{model}:embedContent',
      clientProtocol: 'gemini-embeddings',
      upstreamProtocol: 'embeddings',
      model: 'embed',
      ending: 'complete',
      usage: { input: 100_000, output: 0 },
      usageSource: 'upstream',
      amount: 100_000n * MICRO_CREDITS_PER_TOKEN,
    })
    expect(row.deducted).toBe(row.amount)
  })

  test.each([
    ['one text', 'embedContent', ONE, 5],
    ['many', 'batchEmbedContents', { requests: [ONE, ONE] }, 10],
    ['nothing that can be read', 'batchEmbedContents', { requests: 7 }, 0],
  ])(
    'by our own count of %s where no usage is told [D-embedcontent-10]',
    async (_what, verb, body, input) => {
      upstream.answer(vectors())
      await post('embed', verb, body)
      expect(await gateway.lastLog()).toMatchObject({ usage: { input, output: 0 }, usageSource: 'estimated' })
    },
  )

  test('for no more than the request can have held', async () => {
    upstream.answer(vectors(999_999_999))
    await post('embed', 'embedContent', ONE)
    const most = JSON.stringify(ONE).length + 10_000
    expect(await gateway.lastLog()).toMatchObject({
      usage: { input: most },
      usageSuspect: { inputReported: 999_999_999, inputCharged: most },
    })
  })

  test.each([
    ['a token for each byte', ONE, 0],
    ['a whole context besides, where a file is behind an address', fileBeside(), 8_192],
  ])('and holds %s before it goes out', async (_what, body, besides) => {
    const account = await gateway.newAccount({ credits: 1_000 })
    const held: bigint[] = []
    upstream.answer(async (request, response) => {
      held.push((await gateway.account(account.id)).held)
      await vectors(10)(request, response)
    })
    expect((await post('embed', 'embedContent', body, account.key)).status).toBe(200)
    expect(held).toEqual([BigInt(JSON.stringify(body).length + besides) * MICRO_CREDITS_PER_TOKEN])
    expect((await gateway.account(account.id)).held).toBe(0n)
  })

  test('nobody who has nothing: 402 without asking upstream', async () => {
    const poor = await gateway.newAccount({ credits: 0 })
    expect((await post('embed', 'embedContent', ONE, poor.key)).body.code).toBe(40202)
    expect(upstream.requests).toHaveLength(0)
  })

  test('nothing when Google refuses, whose error passes as it is', async () => {
    const told = { error: { code: 400, message: 'no such thing', status: 'INVALID_ARGUMENT', details: [] } }
    upstream.answer(answerJson(told, 400))
    const { status, body } = await post('embed', 'embedContent', ONE)
    expect([status, body]).toEqual([400, told])
    expect(spare.requests).toHaveLength(0)
    expect(await gateway.lastLog()).toMatchObject({ amount: 0n })
  })
})

function fileBeside() {
  return { content: { parts: [{ text: 'one' }, { fileData: { fileUri: 'https://files.example/f' } }] } }
}

test('goes on over a chain of another form, when Google fails [D-embedcontent-11]', async () => {
  upstream.answer(hangUp)
  spare.answer(
    answerJson({ data: [{ index: 0, embedding: [3] }], usage: { prompt_tokens: 3, total_tokens: 3 } }),
  )
  const { status, body } = await post('embed', 'embedContent', ONE)
  expect([status, body.embedding]).toEqual([200, { values: [3] }])
  expect(await gateway.lastLog()).toMatchObject({ vendorCode: 'acme', usage: { input: 3 } })
})

test('goes on with the fallback model, when all chains fail, but only with one that makes vectors [D-embedcontent-12]', async () => {
  const busy = answerJson({ error: { message: 'busy' } }, 503)
  const asAsked = (account: { readonly key: string }) => post('of-acme', 'embedContent', ONE, account.key)
  spare.answer(busy)
  upstream.answer(answerJson({ data: [{ index: 0, embedding: [4] }], usage: { total_tokens: 3 } }))
  const account = await gateway.newAccount({ credits: 10, fallbackModel: modelId('other-embed') })
  const answer = await asAsked(account)
  expect([answer.status, answer.headers.get('gw-model')]).toEqual([200, 'other-embed'])
  expect(answer.body.embedding).toEqual({ values: [4] })
  expect(await gateway.lastLog()).toMatchObject({ usage: { input: 3 }, amount: 3n * MICRO_CREDITS_PER_TOKEN })
  await gateway.resetHealth()
  const talker = await gateway.newAccount({ credits: 10, fallbackModel: modelId('talk') })
  expect((await asAsked(talker)).status).toBe(503)
  expect(await gateway.lastLog()).toMatchObject({ amount: 0n })
  expect(upstream.requests).toHaveLength(1)
})

test('is made with the customer’s own credential, where there is one, and costs nothing [D-embedcontent-13]', async () => {
  const owner = await gateway.newAccount({ credits: 10 })
  await gateway.storage.accounts.putByok(
    owner.id,
    vendorCode('google'),
    { secret: new Secret('own-secret'), fields: {} },
    { enabled: true },
  )
  upstream.answer(vectors(10))
  expect((await post('embed', 'embedContent', ONE, owner.key)).status).toBe(200)
  expect(upstream.requests.map(({ headers }) => headers['x-goog-api-key'])).toEqual(['own-secret'])
  expect(await gateway.lastLog()).toMatchObject({ byok: true, usage: { input: 10 }, deducted: 0n })
})

describe('is refused', () => {
  test('with a request that names many models, and not with many that name one each', async () => {
    upstream.answer(vectors(3))
    const requests = Array.from({ length: 100 }, () => ({ content: content('a'), model: 'models/embed' }))
    expect((await post('embed', 'batchEmbedContents', { requests })).status).toBe(200)
    const names = Array.from({ length: 40 }, () => '"model":"models/embed"').join(',')
    const { status, body } = await post('embed', 'batchEmbedContents', `{"requests":[{${names}}]}`)
    expect([status, body.code]).toEqual([400, 40000])
    expect(body.message).toContain('names its model more than 16 times')
  })

  test('for a model of another kind, and told where that is called', async () => {
    const { status, body } = await post('talk', 'embedContent', ONE)
    expect([status, body.code]).toEqual([404, 40403])
    expect(body.message).toContain('call it at /v1/chat/completions')
    const asked = await post('embed', 'generateContent', { contents: [content('a')] })
    expect([asked.status, asked.body.code]).toEqual([404, 40403])
    expect(asked.body.message).toContain('call it at /v1/embeddings')
  })

  test('to a key of another group, and not to one of its own [D-embedcontent-14]', async () => {
    const account = await gateway.newAccount({ credits: 10 })
    const { key: other } = await gateway.newKey(account.id, { group: 'others' })
    expect((await post('embed', 'embedContent', ONE, other)).body.code).toBe(40301)
    const { key } = await gateway.newKey(account.id, { group: 'vectors' })
    upstream.answer(vectors(3))
    expect((await post('embed', 'embedContent', ONE, key)).status).toBe(200)
  })

  test('beyond a limit of the key', async () => {
    const account = await gateway.newAccount({ credits: 10 })
    const { key } = await gateway.newKey(account.id, {
      policy: { concurrency: undefined, windows: [{ dimension: 'requests', limit: 1, seconds: 3_600 }] },
    })
    upstream.answer(vectors(3))
    expect((await post('embed', 'embedContent', ONE, key)).status).toBe(200)
    expect((await post('embed', 'embedContent', ONE, key)).status).toBe(429)
  })
})

describe('is told of', () => {
  test('in the catalogue: where the model is called', async () => {
    const listed = await get(`${gateway.baseUrl}/api/v1/user/user/models`)
    expect(listed.body.data).toContainEqual(expect.objectContaining({ model_id: 'embed', endpoints: PATHS }))
  })

  test('by explain, chain by chain [D-embedcontent-15]', async () => {
    const { body } = await postJson(
      `${gateway.baseUrl}/api/v1/user/user/explain`,
      { protocol: 'gemini-embeddings', model: 'embed', body: { ...ONE, taskType: 'CLUSTERING' } },
      { authorization: `Bearer ${gateway.key}` },
    )
    expect(body.data).toMatchObject({
      refusal: null,
      model: 'embed',
      routes: [
        {
          chains: [
            { conversion: { kind: 'passthrough' } },
            { conversion: { kind: 'converted', dropped: ['taskType'] } },
          ],
        },
      ],
    })
  })
})
