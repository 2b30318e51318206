/** `POST /v1/rerank` and `/v2/rerank`: passed on, or written anew for vendors of another form; charged by the call or by tokens. */
import { CohereClient, CohereClientV2 } from 'cohere-ai'
import { describe, expect, test } from 'vitest'
import { get, postJson } from '../../gateway/client.ts'
import { putChain, putModel, putVendor, NO_TOKEN_PRICES, TOKEN_PRICES } from '../../gateway/gateway.ts'
import { openStand } from '../../gateway/open-stand.ts'
import { answerJson, hangUp } from '../../gateway/scripted-upstream.ts'

const BY_CALL = {
  ...NO_TOKEN_PRICES,
  billingModes: ['request' as const],
  requestPrice: '0.015',
}
/** 10 yuan a million tokens. */
const BY_TOKEN = { ...TOKEN_PRICES, outputPrice: null, cacheInputPrice: null }
const CREDITS_PER_CALL = 15_000_000n

const over = (model: string, vendor: string, pricing: typeof NO_TOKEN_PRICES) => [
  putModel(model, { pricing }),
  putChain({ model, vendor, protocol: 'rerank' }),
]

const { gateway, upstream, spare } = await openStand((at) => [
  ...putVendor('cohere', at.upstream, { kind: 'cohere' }),
  ...putVendor('jina', at.upstream, { kind: 'jina' }),
  ...putVendor('voyage', at.upstream, { kind: 'voyage' }),
  ...putVendor('dashscope', at.upstream, { kind: 'dashscope' }),
  ...putVendor('fireworks', at.upstream, { kind: 'fireworks' }),
  ...putVendor('vllm', at.upstream, { kind: 'vllm' }),
  ...putVendor('spare', at.spare),
  ...putVendor('sandbox', 'https://sandbox.invalid', { kind: 'sandbox' }),
  ...over('ranker', 'cohere', BY_CALL),
  putChain({ model: 'ranker', vendor: 'spare', protocol: 'rerank', priority: 2 }),
  ...over('by-token', 'jina', BY_TOKEN),
  ...over('of-voyage', 'voyage', BY_TOKEN),
  ...over('of-dashscope', 'dashscope', BY_TOKEN),
  ...over('of-fireworks', 'fireworks', BY_TOKEN),
  ...over('of-vllm', 'vllm', BY_CALL),
  ...over('of-vllm-by-token', 'vllm', BY_TOKEN),
  putModel('sandbox-ranker', { pricing: BY_CALL }),
  putChain({ model: 'sandbox-ranker', vendor: 'sandbox', protocol: 'rerank', forward: 'sandbox-rerank' }),
])

function post(body: object | string, { key = gateway.key, path = '/v1/rerank' } = {}) {
  return postJson(`${gateway.baseUrl}${path}`, body, { authorization: `Bearer ${key}` })
}

const RANKED = { results: [{ index: 0, relevance_score: 0.9 }] }
const asked = (model: string) => ({ model, query: 'red', documents: ['a red car', 'a blue car'] })

describe('bytes', () => {
  test.each(['/v1/rerank', '/v2/rerank'])(
    'of %s reach the same path of Cohere as they are [D-rerank-01]',
    async (path) => {
      const answered =
        '{"id":"a", "results":[{"index":1,"relevance_score":9.0e-1}],"meta":{"billed_units":{"search_units":1}}}'
      upstream.answer(answerJson(answered))
      const sent = '{ "model":"ranker","query":"a\\u0041","documents":["b", {"text":"c"}], "top_n":1 }'
      const answer = await fetch(`${gateway.baseUrl}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
        body: sent,
      })
      expect(await answer.text()).toBe(answered)
      expect(upstream.requests.map((one) => [one.path, one.body.toString()])).toEqual([
        [path, sent.replace('"ranker"', '"ranker-upstream"')],
      ])
      expect(await gateway.lastLog()).toMatchObject({ endpoint: path, clientProtocol: 'rerank' })
    },
  )
})

describe('Cohere’s own SDK', () => {
  const options = () => ({ token: gateway.key, baseUrl: gateway.baseUrl, maxRetries: 0 })

  test('ranks at /v2/rerank [D-rerank-02]', async () => {
    const { results } = await new CohereClientV2(options()).rerank({
      model: 'sandbox-ranker',
      query: 'red car',
      documents: ['a blue bird', 'a red car', 'a red bird'],
      topN: 2,
    })
    expect(results).toEqual([
      { index: 1, relevanceScore: 1 },
      { index: 2, relevanceScore: 0.5 },
    ])
  })

  test('ranks objects at /v1/rerank, and gets them back [D-rerank-03]', async () => {
    const { results } = await new CohereClient(options()).rerank({
      model: 'sandbox-ranker',
      query: 'red',
      documents: [{ text: 'blue' }, { text: 'red' }],
      returnDocuments: true,
      topN: 1,
    })
    expect(results).toMatchObject([{ index: 1, document: { text: 'red' } }])
  })

  test('gets an error it understands', async () => {
    const refused = new CohereClientV2(options()).rerank({
      model: 'sandbox-ranker',
      query: '',
      documents: [],
    })
    await expect(refused).rejects.toMatchObject({ statusCode: 400 })
  })
})

describe('is written anew', () => {
  test('for Voyage, which has other names [D-rerank-04]', async () => {
    upstream.answer(
      answerJson({
        object: 'list',
        data: [{ index: 1, relevance_score: 0.7, document: 'b' }],
        model: 'rerank-2.5',
        usage: { total_tokens: 26 },
      }),
    )
    const { body, headers } = await post({
      model: 'of-voyage',
      query: 'q',
      documents: ['a', { text: 'b' }],
      top_n: 1,
      return_documents: true,
      max_chunks_per_doc: 3,
    })
    expect(upstream.requests.map((one) => [one.path, one.json()])).toEqual([
      [
        '/rerank',
        { model: 'of-voyage-upstream', query: 'q', documents: ['a', 'b'], top_k: 1, return_documents: true },
      ],
    ])
    expect(headers.get('gw-dropped-fields')).toBe('max_chunks_per_doc')
    expect(body).toEqual({
      model: 'of-voyage',
      results: [{ index: 1, relevance_score: 0.7, document: { text: 'b' } }],
      usage: { total_tokens: 26 },
    })
    expect(await gateway.lastLog()).toMatchObject({
      usage: { input: 26, output: 0 },
      usageSource: 'upstream',
      amount: 260_000n,
      droppedFields: ['max_chunks_per_doc'],
    })
  })

  test('for DashScope, which keeps what is asked apart from how [D-rerank-05]', async () => {
    const results = [{ index: 0, relevance_score: 0.7, document: { text: 'a' } }]
    upstream.answer(answerJson({ request_id: 'r1', output: { results }, usage: { total_tokens: 9 } }))
    const { body } = await post({ model: 'of-dashscope', query: 'q', documents: ['a'], top_n: 1 })
    expect(upstream.requests.map((one) => [one.path, one.json()])).toEqual([
      [
        '/api/v1/services/rerank/text-rerank/text-rerank',
        { model: 'of-dashscope-upstream', input: { query: 'q', documents: ['a'] }, parameters: { top_n: 1 } },
      ],
    ])
    expect(body).toEqual({ id: 'r1', results, usage: { total_tokens: 9 } })
  })

  test('for Fireworks, which returns texts unless it is told not to [D-rerank-14]', async () => {
    const data = [{ index: 1, relevance_score: 0.7 }]
    upstream.answer(
      answerJson({ object: 'list', model: 'theirs', data, usage: { prompt_tokens: 26, total_tokens: 26 } }),
    )
    const { body, headers } = await post({
      model: 'of-fireworks',
      query: 'q',
      documents: ['a', { text: 'b' }],
      top_n: 1,
      task: 'find',
      max_tokens_per_doc: 3,
    })
    expect(upstream.requests.map((one) => [one.path, one.json()])).toEqual([
      [
        '/rerank',
        {
          model: 'of-fireworks-upstream',
          query: 'q',
          documents: ['a', 'b'],
          top_n: 1,
          task: 'find',
          return_documents: false,
        },
      ],
    ])
    expect(headers.get('gw-dropped-fields')).toBe('max_tokens_per_doc')
    expect(body).toEqual({
      model: 'of-fireworks',
      results: data,
      usage: { prompt_tokens: 26, total_tokens: 26 },
    })
    expect(await gateway.lastLog()).toMatchObject({ usage: { input: 26, output: 0 }, amount: 260_000n })
    upstream.answer(answerJson({ data: [{ ...data[0], document: 'b' }] }))
    const told = await post({ ...asked('of-fireworks'), return_documents: true })
    expect(told.body).toMatchObject({ results: [{ index: 1, document: { text: 'b' } }] })
    expect(upstream.requests[1]?.json()).toMatchObject({ return_documents: true })
  })

  test.each<[string, object]>([
    ['a list that is none', { data: { index: 0 } }],
    ['the list under another name', { results: [] }],
    ['nothing', {}],
  ])('for Fireworks, and %s is no answer: nothing is charged', async (_what, answered) => {
    upstream.answer(answerJson(answered))
    expect((await post(asked('of-fireworks'))).status).toBe(502)
    expect(await gateway.lastLog()).toMatchObject({ amount: 0n })
  })

  test('by a thread, where it is large', async () => {
    upstream.answer(
      answerJson({
        data: Array.from({ length: 3_000 }, (_, index) => ({
          index,
          relevance_score: 0.5,
          document: 'x'.repeat(100),
        })),
        usage: { total_tokens: 100 },
      }),
    )
    const documents = Array.from({ length: 3_000 }, () => 'x'.repeat(100))
    const { status, body } = await post({ model: 'of-voyage', query: 'q', documents })
    expect(status).toBe(200)
    expect(body).toMatchObject({ results: expect.objectContaining({ length: 3_000 }) })
    expect(await gateway.lastLog()).toMatchObject({ usage: { input: 100 } })
  })

  test('and so is an error', async () => {
    const told = { detail: 'The document list is too long.' }
    upstream.answer(answerJson(told, 400))
    const { status, body } = await post({ ...asked('of-voyage') })
    expect([status, body]).toMatchObject([
      400,
      { error: { message: expect.any(String), type: 'invalid_request_error' }, upstream_body: told },
    ])
    expect(await gateway.lastLog()).toMatchObject({ amount: 0n })
  })

  test('but what is no answer of the vendor’s is none: nothing is charged [D-rerank-06]', async () => {
    upstream.answer(answerJson({ hello: 1 }))
    expect((await post({ ...asked('of-voyage') })).status).toBe(502)
    expect(await gateway.lastLog()).toMatchObject({ amount: 0n })
  })
})

describe('is charged', () => {
  test.each([
    [0, 1n],
    [1, 1n],
    [100, 1n],
    [101, 2n],
    [1_000, 10n],
  ])('of %i documents as a call for each hundred [D-rerank-07]', async (count, calls) => {
    upstream.answer(answerJson(RANKED))
    await post({ model: 'ranker', query: 'q', documents: Array.from({ length: count }, () => 'x') })
    const row = await gateway.lastLog()
    expect(row.amount).toBe(calls * CREDITS_PER_CALL)
    expect(row.recipe?.lines).toMatchObject([{ class: 'request', quantity: Number(calls), per: 1 }])
  })

  test('and all of that is held before [D-rerank-08]', async () => {
    const account = await gateway.newAccount({ credits: 1_000 })
    const held: bigint[] = []
    upstream.answer(async (request, response) => {
      held.push((await gateway.account(account.id)).held)
      await answerJson(RANKED)(request, response)
    })
    const documents = Array.from({ length: 250 }, () => 'x')
    await post({ model: 'ranker', query: 'q', documents }, { key: account.key })
    expect(held).toEqual([3n * CREDITS_PER_CALL])
    const poor = await gateway.newAccount({ credits: 44 })
    expect((await post({ model: 'ranker', query: 'q', documents }, { key: poor.key })).body.code).toBe(40202)
  })

  test('the pieces of one object as documents, which vLLM may rank one by one [D-rerank-15]', async () => {
    upstream.answer(answerJson(RANKED))
    const content = Array.from({ length: 101 }, () => ({ type: 'text', text: 'x' }))
    await post({ model: 'of-vllm', query: 'q', documents: { content } })
    expect(upstream.requests[0]?.json()).toMatchObject({ model: 'of-vllm-upstream', documents: { content } })
    expect((await gateway.lastLog()).amount).toBe(2n * CREDITS_PER_CALL)
    upstream.answer(answerJson(RANKED))
    await post({ model: 'of-vllm-by-token', query: 'q', documents: [{ content: content.slice(0, 8) }] })
    expect((await gateway.lastLog()).usage.input).toBeGreaterThanOrEqual(8)
  })

  test('documents that are named twice count twice: nobody here knows which of them is read', async () => {
    upstream.answer(answerJson(RANKED))
    const many = JSON.stringify(Array.from({ length: 101 }, () => 'x'))
    await post(`{"model":"ranker","query":"q","documents":${many},"documents":["x"]}`)
    expect((await gateway.lastLog()).amount).toBe(2n * CREDITS_PER_CALL)
  })

  test.each<[string, object, number]>([
    ['as the vendor tells', { usage: { total_tokens: 40 } }, 40],
    ['as Cohere’s form tells', { meta: { tokens: { input_tokens: 41 } } }, 41],
    ['as counted here, the query with each document', {}, 8],
  ])('by tokens %s [D-rerank-09]', async (_what, told, input) => {
    upstream.answer(answerJson({ ...RANKED, ...told }))
    await post(asked('by-token'))
    expect(await gateway.lastLog()).toMatchObject({ usage: { input, output: 0 } })
  })

  test('by tokens, no more than the query with each document can hold [D-rerank-10]', async () => {
    const documents = Array.from({ length: 500 }, () => 'x')
    const query = 'q'.repeat(1_000)
    upstream.answer(answerJson({ ...RANKED, usage: { total_tokens: 400_000 } }))
    await post({ model: 'by-token', query, documents })
    expect(await gateway.lastLog()).toMatchObject({ usage: { input: 400_000 }, usageSuspect: undefined })
    upstream.answer(answerJson({ ...RANKED, usage: { total_tokens: 10 ** 9 } }))
    await post({ model: 'by-token', query, documents })
    const bytes = JSON.stringify({ model: 'by-token', query, documents }).length
    expect((await gateway.lastLog()).usage.input).toBe(bytes + 500 * 1_002 + 10_000)
  })

  test('nothing when the upstream refuses, and once when the next chain answers [D-rerank-11]', async () => {
    upstream.answer(answerJson({ message: 'invalid' }, 400))
    expect((await post(asked('ranker'))).status).toBe(400)
    expect(await gateway.lastLog()).toMatchObject({ amount: 0n })
    upstream.answer(hangUp)
    spare.answer(answerJson(RANKED))
    expect((await post(asked('ranker'))).status).toBe(200)
    expect(await gateway.lastLog()).toMatchObject({ vendorCode: 'spare', amount: CREDITS_PER_CALL })
  })
})

describe('is told of', () => {
  test('in the catalogue, and elsewhere by 404/40403 [D-rerank-12]', async () => {
    const { body } = await get(`${gateway.baseUrl}/api/v1/user/user/models`)
    const endpoints = ['/v1/rerank', '/v2/rerank']
    expect(body.data).toContainEqual(expect.objectContaining({ model_id: 'ranker', endpoints }))
    const elsewhere = await post({ model: 'ranker', input: 'x' }, { path: '/v1/embeddings' })
    expect([elsewhere.status, elsewhere.body.code]).toEqual([404, 40403])
    expect(elsewhere.body.message).toContain('call it at /v1/rerank')
  })

  test('by explain, with what a vendor of another form does not get [D-rerank-13]', async () => {
    const { body } = await postJson(
      `${gateway.baseUrl}/api/v1/user/user/explain`,
      { protocol: 'rerank', body: { ...asked('of-voyage'), rank_fields: ['text'] } },
      { authorization: `Bearer ${gateway.key}` },
    )
    expect(body.data).toMatchObject({
      refusal: null,
      routes: [{ chains: [{ conversion: { kind: 'converted', dropped: ['rank_fields'] } }] }],
    })
  })
})
