/** `POST /v1/images/generations`: passed on byte for byte both ways, and charged by what was made. */
import OpenAI from 'openai'
import { describe, expect, test, vi } from 'vitest'
import { get, postJson } from '../../gateway/client.ts'
import {
  NO_TOKEN_PRICES,
  PATIENCE_MS,
  putChain,
  putModel,
  putVendor,
  TOKEN_PRICES,
} from '../../gateway/gateway.ts'
import { openStand } from '../../gateway/open-stand.ts'
import { answerJson, hangUp, type Answerer } from '../../gateway/scripted-upstream.ts'

const PATH = '/v1/images/generations'
const BY_IMAGE = {
  ...NO_TOKEN_PRICES,
  billingModes: ['image' as const],
  imagePrice: '0.3',
}
/** 10 yuan a million tokens of input, 40 of output. */
const BY_TOKEN = { ...TOKEN_PRICES, inputPrice: '10', outputPrice: '40', cacheInputPrice: null }
const BOTH = { ...BY_TOKEN, billingModes: ['token' as const, 'image' as const], imagePrice: '0.3' }
const PER_IMAGE = 300_000_000n

const over = (model: string, pricing: Parameters<typeof putModel>[1]) => [
  putModel(model, { supportFeatures: ['image'], ...pricing }),
  putChain({ model, vendor: 'acme', protocol: 'images' }),
]

const { gateway, upstream, spare } = await openStand((at) => [
  ...putVendor('acme', at.upstream),
  ...putVendor('spare', at.spare, { kind: 'xai' }),
  ...putVendor('sandbox', 'https://sandbox.invalid', { kind: 'sandbox' }),
  ...over('picture', { pricing: BY_IMAGE }),
  putChain({ model: 'picture', vendor: 'spare', protocol: 'images', priority: 2 }),
  putModel('hasty', { supportFeatures: ['image'], pricing: BY_IMAGE }),
  putChain({ model: 'hasty', vendor: 'acme', protocol: 'images', clientGoneGraceMs: 0 }),
  ...putVendor('google', at.upstream, { kind: 'google' }),
  putModel('of-google', { supportFeatures: ['image'], pricing: BOTH }),
  putChain({ model: 'of-google', vendor: 'google', protocol: 'images' }),
  putModel('hasty-google', { supportFeatures: ['image'], pricing: BY_IMAGE }),
  putChain({ model: 'hasty-google', vendor: 'google', protocol: 'images', clientGoneGraceMs: 0 }),
  ...over('by-token', { pricing: BY_TOKEN }),
  ...over('both', { pricing: BOTH }),
  putModel('sandbox-picture', { supportFeatures: ['image'], pricing: BY_IMAGE }),
  putChain({ model: 'sandbox-picture', vendor: 'sandbox', protocol: 'images', forward: 'sandbox-image' }),
])

function post(body: object | string, { key = gateway.key, path = PATH } = {}) {
  return postJson(`${gateway.baseUrl}${path}`, body, { authorization: `Bearer ${key}` })
}

const pictures = (count: number, usage?: object) =>
  answerJson({
    created: 1,
    data: Array.from({ length: count }, () => ({ b64_json: 'iVBORw0KGgo=', url: null })),
    ...(usage === undefined ? {} : { usage }),
  })

const USAGE = { input_tokens: 1_000, output_tokens: 4_160, total_tokens: 5_160 }

function streamOf(...events: readonly Readonly<Record<string, unknown>>[]): Answerer {
  const body = events
    .map((data) => `event: ${String(data['type'])}\ndata: ${JSON.stringify(data)}\n\n`)
    .join('')
  return answerJson(body, 200, { 'content-type': 'text/event-stream' })
}

const PART = { type: 'image_generation.partial_image', b64_json: 'aaaa', partial_image_index: 0 }
const DONE = { type: 'image_generation.completed', b64_json: 'bbbb', usage: USAGE }

test('bytes of request and answer pass as they are [D-images-01]', async () => {
  const sent = '{ "model":"picture", "prompt":"a\\u0041", "n": 1, "size":"1024x1024","own":1e3 }'
  const answered = '{"created":1.0, "data" : [{"b64_json":"iVBORw0KGgo="}],"size":"1024x1024"}'
  upstream.answer(answerJson(answered))
  const answer = await fetch(`${gateway.baseUrl}${PATH}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: sent,
  })
  expect(await answer.text()).toBe(answered)
  expect(upstream.requests.map(({ path, body }) => [path, body.toString()])).toEqual([
    ['/images/generations', sent.replace('"picture"', '"picture-upstream"')],
  ])
})

test.each([101, '101'])(
  '%j images are more than a call makes: nothing is sent, and nothing charged [D-images-02]',
  async (n) => {
    const answer = await post({ model: 'picture', prompt: 'x', n })
    expect([answer.status, answer.body.code]).toEqual([400, 40000])
    expect(answer.text).toContain('up to 100 images')
    expect(upstream.requests).toEqual([])
    expect(await gateway.lastLog()).toMatchObject({ images: 0, amount: 0n })
  },
)

describe('the official SDK', () => {
  const client = () => new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.baseUrl}/v1`, maxRetries: 0 })

  test('gets as many pictures as it asks for [D-images-03]', async () => {
    const { data = [] } = await client().images.generate({ model: 'sandbox-picture', prompt: 'red', n: 3 })
    expect(data.map(({ b64_json: bytes = '' }) => bytes.slice(0, 11))).toEqual(
      Array.from({ length: 3 }, () => 'iVBORw0KGgo'),
    )
    expect(await gateway.lastLog()).toMatchObject({
      images: 3,
      amount: 3n * PER_IMAGE,
      deducted: 3n * PER_IMAGE,
    })
  })

  test('gets a picture in steps [D-images-04]', async () => {
    const stream = await client().images.generate({
      model: 'sandbox-picture',
      prompt: 'red',
      stream: true,
      partial_images: 2,
    })
    const types: string[] = []
    for await (const event of stream) types.push(event.type)
    expect(types).toEqual([PART.type, PART.type, DONE.type])
    expect(await gateway.lastLog()).toMatchObject({
      images: 1,
      amount: PER_IMAGE,
      stream: true,
      ending: 'complete',
    })
  })

  test('gets an error it understands', async () => {
    const asked = client().images.generate({ model: 'sandbox-picture', prompt: '' })
    await expect(asked).rejects.toMatchObject({ status: 400 })
  })
})

describe('is charged', () => {
  test.each<[string, Answerer, asked: object, images: number]>([
    ['what was asked for and made', pictures(2), { n: 2 }, 2],
    ['fewer, where fewer were made', pictures(1), { n: 4 }, 1],
    ['more, where more were made', pictures(3), {}, 3],
    ['nothing, where none was made', pictures(0), { n: 2 }, 0],
    [
      'only what came, where some were refused',
      answerJson({ data: [{ url: 'https://a/b.png' }, { error: {} }] }),
      { n: 2 },
      1,
    ],
    [
      'what came as an address and as bytes once',
      answerJson({ data: [{ url: 'https://a/b.png', b64_json: 'aa' }] }),
      {},
      1,
    ],
  ])('by image: %s [D-images-05]', async (_what, answer, asked, images) => {
    upstream.answer(answer)
    await post({ model: 'picture', prompt: 'x', ...asked })
    expect(await gateway.lastLog()).toMatchObject({ images, amount: BigInt(images) * PER_IMAGE })
  })

  test('by token, as the vendor tells [D-images-06]', async () => {
    upstream.answer(pictures(1, USAGE))
    await post({ model: 'by-token', prompt: 'x' })
    expect(await gateway.lastLog()).toMatchObject({
      images: 1,
      usage: { input: 1_000, output: 4_160 },
      usageSource: 'upstream',
      amount: 10_000_000n + 166_400_000n,
    })
  })

  test('by token, by a rule where the vendor tells none [D-images-07]', async () => {
    upstream.answer(pictures(2))
    await post({ model: 'by-token', prompt: 'x', n: 2 })
    expect(await gateway.lastLog()).toMatchObject({ usage: { output: 3_200 }, usageSource: 'estimated' })
  })

  test('by both, the sum [D-images-08]', async () => {
    upstream.answer(pictures(1, USAGE))
    await post({ model: 'both', prompt: 'x' })
    expect(await gateway.lastLog()).toMatchObject({ amount: 176_400_000n + PER_IMAGE })
  })

  test.each([
    [{ n: 3 }, 3n],
    [{}, 1n],
    [{ n: '3' }, 3n],
    [{ n: 0 }, 1n],
    [{ n: null }, 1n],
    [{ n: ' +3.0 ' }, 3n],
    [{ n: '1_0' }, 10n],
    [{ sequential_image_generation_options: { max_images: 5 } }, 5n],
    [{ sequential_image_generation: 'disabled' }, 1n],
    [{ sequential_image_generation: null }, 1n],
    [{ sequential_image_generation: 'auto' }, 15n],
    [{ sequential_image_generation: 'auto', sequential_image_generation_options: { max_images: 'x' } }, 15n],
    [{ sequential_image_generation_options: { max_images: 5 }, sequential_image_generation: 'auto' }, 5n],
  ])('and held for %o before [D-images-09]', async (asked, images) => {
    const account = await gateway.newAccount({ credits: 10_000 })
    const held: bigint[] = []
    upstream.answer(async (request, response) => {
      held.push((await gateway.account(account.id)).held)
      await pictures(1)(request, response)
    })
    await post({ model: 'picture', prompt: 'x', ...asked }, { key: account.key })
    expect(held).toEqual([images * PER_IMAGE])
    expect((await gateway.account(account.id)).held).toBe(0n)
  })

  test('and the larger of two numbers is held', async () => {
    const account = await gateway.newAccount({ credits: 500 })
    const { body } = await post('{"model":"picture","prompt":"x","n":4,"n":1}', { key: account.key })
    expect(body.code).toBe(40202)
    // Of a picture there are no output tokens to ask for.
    expect(body.message).toContain('or ask for less (a smaller max_tokens or n, a shorter input)')
    const { body: huge } = await post({ model: 'picture', prompt: 'x', n: 100 }, { key: account.key })
    expect(huge.code).toBe(40202)
    expect(upstream.requests).toHaveLength(0)
  })

  test('nothing when the upstream refuses, and once when the next chain makes it [D-images-10]', async () => {
    upstream.answer(answerJson({ error: { message: 'no', type: 'invalid_request_error' } }, 400))
    expect((await post({ model: 'picture', prompt: 'x' })).status).toBe(400)
    expect(await gateway.lastLog()).toMatchObject({ amount: 0n, images: 0 })
    upstream.answer(hangUp)
    spare.answer(pictures(1))
    expect((await post({ model: 'picture', prompt: 'x' })).status).toBe(200)
    expect(await gateway.lastLog()).toMatchObject({ vendorCode: 'spare', amount: PER_IMAGE })
  })
})

describe('a stream', () => {
  const streamed = async (key = gateway.key) => {
    const answer = await fetch(`${gateway.baseUrl}${PATH}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: '{"model":"both","prompt":"x","stream":true,"partial_images":1}',
    })
    return answer.text()
  }

  test('passes as it is, and is charged when it is done [D-images-11]', async () => {
    upstream.answer(streamOf(PART, DONE))
    expect(await streamed()).toBe(
      [PART, DONE].map((data) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`).join(''),
    )
    expect(await gateway.lastLog()).toMatchObject({
      ending: 'complete',
      images: 1,
      usage: { input: 1_000, output: 4_160 },
      amount: 176_400_000n + PER_IMAGE,
    })
  })

  test('that breaks off after a part costs that image [D-images-12]', async () => {
    upstream.answer(streamOf(PART))
    expect(await streamed()).toContain('50201')
    expect(await gateway.lastLog()).toMatchObject({ ending: 'upstream-cut', images: 1 })
  })

  test('of a row of pictures counts each', async () => {
    const one = { type: 'image_generation.partial_succeeded', url: 'https://a/b.png', image_index: 0 }
    const end = { type: 'image_generation.completed', usage: { output_tokens: 8_000, generated_images: 2 } }
    upstream.answer(streamOf(one, { ...one, image_index: 1 }, end))
    await streamed()
    expect(await gateway.lastLog()).toMatchObject({ ending: 'complete', images: 2, usage: { output: 8_000 } })
  })

  test('that fails at once goes to the next chain or fails as it is', async () => {
    upstream.answer(streamOf({ type: 'error', error: { message: 'blocked', type: 'invalid_request_error' } }))
    const { status, body } = await post({ model: 'both', prompt: 'x', stream: true })
    expect([status, body.error?.message]).toEqual([400, 'blocked'])
    expect(await gateway.lastLog()).toMatchObject({ amount: 0n })
  })
})

test('counts in the dimension of images: what is asked for has to fit, what was made is counted [D-images-13]', async () => {
  const account = await gateway.newAccount({ credits: 10_000 })
  const { key } = await gateway.newKey(account.id, {
    policy: { concurrency: undefined, windows: [{ dimension: 'images', limit: 3, seconds: 3_600 }] },
  })
  upstream.answer(pictures(1))
  expect((await post({ model: 'picture', prompt: 'x', n: 3 }, { key })).status).toBe(200)
  expect((await post({ model: 'picture', prompt: 'x', n: 3 }, { key })).body.code).toBe(42902)
  expect((await post({ model: 'picture', prompt: 'x', n: 2 }, { key })).status).toBe(200)
})

describe('is told of', () => {
  test('in the catalogue, and elsewhere by 404/40403 [D-images-14]', async () => {
    const { body } = await get(`${gateway.baseUrl}/api/v1/user/user/models`)
    expect(body.data).toContainEqual(expect.objectContaining({ model_id: 'of-google', endpoints: [PATH] }))
    expect(body.data).toContainEqual(
      expect.objectContaining({
        model_id: 'picture',
        endpoints: [PATH, '/v1/images/edits', '/v1/images/variations'],
      }),
    )
    const elsewhere = await post({ model: 'picture', messages: [] }, { path: '/v1/chat/completions' })
    expect([elsewhere.status, elsewhere.body.code]).toEqual([404, 40403])
    expect(elsewhere.body.message).toContain(`call it at ${PATH}`)
  })

  test('by explain', async () => {
    const { body } = await postJson(
      `${gateway.baseUrl}/api/v1/user/user/explain`,
      { protocol: 'images', body: { model: 'picture', prompt: 'x', n: 2 } },
      { authorization: `Bearer ${gateway.key}` },
    )
    expect(body.data).toMatchObject({ refusal: null, routes: [{ chains: [{ protocol: 'images' }, {}] }] })
  })
})

describe('is written anew for Gemini', () => {
  const answerOf = (parts: readonly object[]) =>
    answerJson({
      candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 1_290, totalTokenCount: 1_300 },
    })
  const picture = { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } }

  test('and back [D-images-15]', async () => {
    upstream.answer(answerOf([{ text: 'Here it is.' }, { ...picture, thought: true }, picture]))
    const { body, headers } = await post({
      model: 'of-google',
      prompt: 'a cat',
      n: 2,
      size: '1536x1024',
      quality: 'high',
    })
    expect(upstream.requests.map((one) => [one.path, one.json()])).toEqual([
      [
        '/models/of-google-upstream:generateContent',
        {
          contents: [{ role: 'user', parts: [{ text: 'a cat' }] }],
          generationConfig: { responseModalities: ['IMAGE'], imageConfig: { aspectRatio: '3:2' } },
        },
      ],
    ])
    expect(body).toEqual({
      data: [{ b64_json: 'iVBORw0KGgo=' }],
      usage: { input_tokens: 10, output_tokens: 1_290, total_tokens: 1_300 },
    })
    expect(headers.get('gw-dropped-fields')).toBe('n,quality')
    expect(await gateway.lastLog()).toMatchObject({
      images: 1,
      usage: { input: 10, output: 1_290 },
      amount: 100_000n + 51_600_000n + PER_IMAGE,
    })
  })

  test('and costs no image where the prompt was blocked [D-images-16]', async () => {
    upstream.answer(
      answerJson({
        promptFeedback: { blockReason: 'PROHIBITED_CONTENT' },
        usageMetadata: { promptTokenCount: 10 },
      }),
    )
    expect((await post({ model: 'of-google', prompt: 'x' })).body.data).toEqual([])
    expect(await gateway.lastLog()).toMatchObject({ images: 0, amount: 100_000n })
  })
})

describe('whoever leaves', () => {
  /** Hangs up as soon as the upstream has said so much; `asked` in the body. */
  async function leaveAfter(said: string, asked: object, model = 'hasty'): Promise<void> {
    const leaving = new AbortController()
    upstream.answer(async (_request, response) => {
      const closed = new Promise<void>((resolve) => response.on('close', resolve))
      if (said === '') leaving.abort()
      else {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(said)
      }
      await closed
    })
    const answer = fetch(`${gateway.baseUrl}${PATH}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, prompt: 'x', ...asked }),
      signal: leaving.signal,
    })
    const left = answer.then(async ({ body }) => {
      await body?.getReader().read()
      leaving.abort()
    })
    await left.catch((error: unknown) => expect(error).toMatchObject({ name: 'AbortError' }))
  }

  const lastOf = (model = 'hasty') =>
    vi.waitFor(async () => {
      const row = await gateway.lastLog()
      expect(row).toMatchObject({ model, clientGone: true })
      return row
    }, PATIENCE_MS)

  test('before anything came pays for all images: they are made together [D-images-17]', async () => {
    await leaveAfter('', { n: 3 })
    expect(await lastOf()).toMatchObject({ images: 3, amount: 3n * PER_IMAGE, usageSource: 'estimated' })
  })

  test('of a vendor that makes one a call pays for one, whatever number was asked for', async () => {
    await leaveAfter('', { n: 3 }, 'hasty-google')
    expect(await lastOf('hasty-google')).toMatchObject({ images: 1, amount: PER_IMAGE })
  })

  test.each([
    { sequential_image_generation_options: { max_images: 5 } },
    { sequential_image_generation: 'auto' },
  ])(
    'before anything came pays for one of a row whose length its vendor chooses: %o [D-images-18]',
    async (asked) => {
      await leaveAfter('', asked)
      expect(await lastOf()).toMatchObject({ images: 1, amount: PER_IMAGE, usageSource: 'estimated' })
    },
  )

  test('while its vendor ends such a row pays for what was made', async () => {
    const leaving = new AbortController()
    upstream.answer(async (request, response) => {
      leaving.abort()
      await pictures(3)(request, response)
    })
    const left = fetch(`${gateway.baseUrl}${PATH}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'picture',
        prompt: 'x',
        sequential_image_generation_options: { max_images: 5 },
      }),
      signal: leaving.signal,
    })
    await expect(left).rejects.toMatchObject({ name: 'AbortError' })
    await vi.waitFor(
      async () => expect(await gateway.lastLog()).toMatchObject({ images: 3, amount: 3n * PER_IMAGE }),
      PATIENCE_MS,
    )
  })

  test('with a part of an image pays for it', async () => {
    await leaveAfter(`event: ${PART.type}\ndata: ${JSON.stringify(PART)}\n\n`, { stream: true })
    expect(await lastOf()).toMatchObject({ images: 1, amount: PER_IMAGE })
  })
})
