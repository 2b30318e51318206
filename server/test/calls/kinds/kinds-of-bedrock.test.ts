/** Vectors, ranks and pictures over Bedrock's InvokeModel: signed, the model in the path, each maker's own form, and what is charged. */
import { GoogleGenAI } from '@google/genai'
import { CohereClientV2 } from 'cohere-ai'
import OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import { vendorCode } from '../../../src/core/ids.ts'
import { UNLIMITED } from '../../../src/core/limits/policy.ts'
import { Secret } from '../../../src/core/secret.ts'
import { postJson } from '../../gateway/client.ts'
import { NO_TOKEN_PRICES, putChain, putModel, putVendor, TOKEN_PRICES } from '../../gateway/gateway.ts'
import { openStand } from '../../gateway/open-stand.ts'
import { answerJson } from '../../gateway/scripted-upstream.ts'

/** 10 yuan a million tokens. */
const BY_TOKEN = { ...TOKEN_PRICES, inputPrice: '10', outputPrice: null, cacheInputPrice: null }
const BY_CALL = { ...NO_TOKEN_PRICES, billingModes: ['request' as const], requestPrice: '0.015' }
const BY_IMAGE = { ...NO_TOKEN_PRICES, billingModes: ['image' as const], imagePrice: '0.3' }
const PER_IMAGE = 300_000_000n

const { gateway, upstream, spare } = await openStand((at) => [
  ...putVendor('aws', at.upstream, { kind: 'bedrock-invoke' }),
  // Its own credential takes the place of the one that comes with every vendor.
  {
    kind: 'put-credential',
    vendorCode: vendorCode('aws'),
    name: 'main',
    secret: {
      secret: undefined,
      fields: {
        access_key: new Secret('AKIDEXAMPLE'),
        secret_key: new Secret('a secret of AWS'),
        region: new Secret('eu-west-1'),
      },
    },
    limits: UNLIMITED,
    status: 'enabled',
  },
  ...putVendor('spare', at.spare),
  ...[
    ['titan', 'amazon.titan-embed-text-v2:0', 'embeddings', BY_TOKEN] as const,
    ['titan-or-other', 'amazon.titan-embed-text-v2:0', 'embeddings', BY_TOKEN] as const,
    ['cohere', 'cohere.embed-v4:0', 'embeddings', BY_TOKEN] as const,
    ['ranker', 'cohere.rerank-v3-5:0', 'rerank', BY_CALL] as const,
    ['nova', 'amazon.nova-canvas-v1:0', 'images', BY_IMAGE] as const,
    ['stable', 'stability.stable-image-core-v1:1', 'images', BY_IMAGE] as const,
  ].flatMap(([model, forward, protocol, pricing]) => [
    putModel(model, { pricing, ...(protocol === 'images' ? { supportFeatures: ['image' as const] } : {}) }),
    putChain({ model, vendor: 'aws', protocol, forward }),
  ]),
  putChain({ model: 'titan-or-other', vendor: 'spare', protocol: 'embeddings', priority: 2 }),
  putChain({ model: 'nova', vendor: 'spare', protocol: 'images', priority: 2 }),
])

const post = (path: string, body: object, key = gateway.key) =>
  postJson(`${gateway.baseUrl}${path}`, body, { authorization: `Bearer ${key}` })
const client = (key = gateway.key) =>
  new OpenAI({ apiKey: key, baseURL: `${gateway.baseUrl}/v1`, maxRetries: 0 })

const SIGNED =
  /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-west-1\/bedrock\/aws4_request, SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature=[0-9a-f]{64}$/
const asked = () =>
  upstream.requests.map(({ path, headers, json }) => {
    expect(headers.authorization).toMatch(SIGNED)
    return [path, json()]
  })

describe('vectors', () => {
  const VECTOR = { embedding: [0.5, -1], inputTextTokenCount: 7, embeddingsByType: { float: [0.5, -1] } }

  test('of Titan are made of one text; the official SDK decodes them [D-embeddings-23]', async () => {
    upstream.answer(answerJson(VECTOR))
    const { data, model } = await client().embeddings.create({
      model: 'titan',
      input: ['one'],
      dimensions: 256,
    })
    expect([model, data[0]?.embedding]).toEqual(['titan', [0.5, -1]])
    expect(asked()).toEqual([
      ['/model/amazon.titan-embed-text-v2%3A0/invoke', { inputText: 'one', dimensions: 256 }],
    ])
    expect(await gateway.lastLog()).toMatchObject({
      usage: { input: 7, output: 0 },
      usageSource: 'upstream',
      amount: 70_000n,
    })
  })

  test('of several texts are refused by Titan before anything is spent [D-embeddings-24]', async () => {
    const { status, body } = await post('/v1/embeddings', { model: 'titan', input: ['one', 'two'] })
    expect([status, body.code]).toEqual([400, 40000])
    expect(body.message).toContain('input: ')
    expect(upstream.requests).toHaveLength(0)
    expect(await gateway.lastLog()).toMatchObject({ amount: 0n })
  })

  test('of more than a thread would serve at once are refused as well', async () => {
    const input = Array.from({ length: 4_000 }, () => 'x'.repeat(100))
    const { status, body } = await post('/v1/embeddings', { model: 'titan', input })
    expect([status, body.code]).toEqual([400, 40000])
    expect(upstream.requests).toHaveLength(0)
  })

  test('of several texts are made by the next chain that can [D-embeddings-24]', async () => {
    const data = [{ object: 'embedding', index: 0, embedding: [1] }]
    spare.answer(
      answerJson({ object: 'list', data, model: 'x', usage: { prompt_tokens: 9, total_tokens: 9 } }),
    )
    const { status } = await post('/v1/embeddings', { model: 'titan-or-other', input: ['one', 'two'] })
    expect([status, upstream.requests.length, spare.requests.length]).toEqual([200, 0, 1])
    expect(await gateway.lastLog()).toMatchObject({ vendorCode: 'spare', amount: 90_000n })
  })

  test('of one text are made for Google’s SDK, and those of several refused', async () => {
    const google = new GoogleGenAI({
      apiKey: gateway.key,
      httpOptions: { baseUrl: gateway.baseUrl, retryOptions: { attempts: 1 } },
    })
    upstream.answer(answerJson(VECTOR))
    const { embeddings } = await google.models.embedContent({ model: 'titan', contents: 'one' })
    expect(embeddings?.map(({ values }) => values)).toEqual([[0.5, -1]])
    await expect(
      google.models.embedContent({ model: 'titan', contents: ['one', 'two'] }),
    ).rejects.toMatchObject({
      status: 400,
    })
    expect(upstream.requests).toHaveLength(1)
  })

  test('of Cohere, which tells no tokens, are counted here [D-embeddings-25]', async () => {
    upstream.answer(answerJson({ id: 'e', embeddings: { float: [[1], [2]] }, texts: ['one', 'two'] }))
    const { data } = await client().embeddings.create({ model: 'cohere', input: ['one', 'two'] })
    expect(data.map(({ embedding }) => embedding)).toEqual([[1], [2]])
    expect(asked()).toEqual([
      [
        '/model/cohere.embed-v4%3A0/invoke',
        { input_type: 'search_document', texts: ['one', 'two'], embedding_types: ['float'] },
      ],
    ])
    expect(await gateway.lastLog()).toMatchObject({ usage: { input: 2 }, usageSource: 'estimated' })
  })

  test.each<[string, number, object, Readonly<Record<string, string>>, number]>([
    ['an answer of another form', 200, { message: 'x' }, {}, 502],
    [
      'a text that is refused',
      400,
      { message: 'too long' },
      { 'x-amzn-errortype': 'ValidationException:http://x' },
      400,
    ],
    [
      'a key that is not allowed',
      403,
      { message: 'no' },
      { 'x-amzn-errortype': 'AccessDeniedException' },
      502,
    ],
  ])('%s costs nothing', async (_what, status, body, headers, told) => {
    upstream.answer(answerJson(body, status, headers))
    const answer = await post('/v1/embeddings', { model: 'titan', input: 'x' })
    expect([answer.status, (await gateway.lastLog()).amount]).toEqual([told, 0n])
  })
})

test('documents are ranked for the official SDK of Cohere, and charged by the hundred [D-rerank-16]', async () => {
  upstream.answer(answerJson({ results: [{ index: 1, relevance_score: 0.75 }] }))
  const cohere = new CohereClientV2({ token: gateway.key, baseUrl: gateway.baseUrl, maxRetries: 0 })
  const documents = Array.from({ length: 101 }, () => 'x')
  const { results } = await cohere.rerank({ model: 'ranker', query: 'red', documents, topN: 1 })
  expect(results).toEqual([{ index: 1, relevanceScore: 0.75 }])
  expect(asked()).toEqual([
    ['/model/cohere.rerank-v3-5%3A0/invoke', { query: 'red', documents, top_n: 1, api_version: 2 }],
  ])
  expect((await gateway.lastLog()).amount).toBe(2n * 15_000_000n)
})

describe('pictures', () => {
  test('of Amazon come in base64; those that were made are charged [D-images-35]', async () => {
    const account = await gateway.newAccount({ credits: 1_000 })
    const held: bigint[] = []
    upstream.answer(async (request, response) => {
      held.push((await gateway.account(account.id)).held)
      await answerJson({ images: ['iVBORw0KGgo='], error: 'two of them were withheld' })(request, response)
    })
    const { data } = await client(account.key).images.generate({
      model: 'nova',
      prompt: 'red',
      n: 3,
      size: '1024x1024',
    })
    expect(data).toEqual([{ b64_json: 'iVBORw0KGgo=' }])
    expect(asked()).toEqual([
      [
        '/model/amazon.nova-canvas-v1%3A0/invoke',
        {
          taskType: 'TEXT_IMAGE',
          textToImageParams: { text: 'red' },
          imageGenerationConfig: { numberOfImages: 3, width: 1024, height: 1024 },
        },
      ],
    ])
    expect(held).toEqual([3n * PER_IMAGE])
    expect(await gateway.lastLog()).toMatchObject({ images: 1, amount: PER_IMAGE })
  })

  test('a prompt that is withheld costs nothing, and no other chain is asked [D-images-36]', async () => {
    upstream.answer(answerJson({ images: [], error: 'blocked by the content policy' }))
    const { status, body } = await post('/v1/images/generations', { model: 'nova', prompt: 'x', n: 2 })
    expect([status, spare.requests.length]).toEqual([400, 0])
    expect(JSON.stringify(body)).toContain('blocked by the content policy')
    expect(await gateway.lastLog()).toMatchObject({ images: 0, amount: 0n })
  })

  test('of Stability, which makes one a call, one is charged of three [D-images-37]', async () => {
    upstream.answer(answerJson({ seeds: [7], finish_reasons: [null], images: ['iVBORw0KGgo='] }))
    const { body, headers } = await post('/v1/images/generations', { model: 'stable', prompt: 'red', n: 3 })
    expect(body).toEqual({ data: [{ b64_json: 'iVBORw0KGgo=' }] })
    expect(headers.get('gw-dropped-fields')).toBe('n')
    expect(await gateway.lastLog()).toMatchObject({ images: 1, amount: PER_IMAGE })
  })

  test('are asked for as a whole by whom asks for a stream, too', async () => {
    upstream.answer(answerJson({ images: ['iVBORw0KGgo='] }))
    const { body } = await post('/v1/images/generations', { model: 'nova', prompt: 'red', stream: true })
    expect(body).toEqual({ data: [{ b64_json: 'iVBORw0KGgo=' }] })
    expect(asked()[0]?.[0]).toBe('/model/amazon.nova-canvas-v1%3A0/invoke')
  })

  test('are not changed: the model is called elsewhere', async () => {
    const { status, body } = await post('/v1/images/edits', { model: 'stable', prompt: 'x', images: [] })
    expect([status, body.code]).toEqual([404, 40403])
  })
})
