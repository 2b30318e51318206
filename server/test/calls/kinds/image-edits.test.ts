/** `POST /v1/images/edits` and `/v1/images/variations`: forms pass byte for byte but for the model, and the images that were made are charged. */
import OpenAI, { toFile } from 'openai'
import { describe, expect, test } from 'vitest'
import { postJson, readAnswer } from '../../gateway/client.ts'
import { putChain, putModel, putVendor, NO_TOKEN_PRICES, TOKEN_PRICES } from '../../gateway/gateway.ts'
import { openStand } from '../../gateway/open-stand.ts'
import { answerJson } from '../../gateway/scripted-upstream.ts'

const EDITS = '/v1/images/edits'
const BY_IMAGE = {
  ...NO_TOKEN_PRICES,
  billingModes: ['image' as const],
  imagePrice: '0.3',
}
const BY_TOKEN = { ...TOKEN_PRICES, inputPrice: '10', outputPrice: '40', cacheInputPrice: null }
const PER_IMAGE = 300_000_000n

/** Vendors that make new and changed pictures at one address. */
const ONE_ADDRESS = [
  ['kling', 'kling-v2-1'],
  ['jimeng', 'jimeng_t2i_v40'],
  ['luma', 'uni-1'],
  ['luma-dream-machine', 'photon-1'],
  ['openrouter', 'a/b'],
] as const

const { gateway, upstream, spare } = await openStand((at) => [
  ...putVendor('acme', at.upstream),
  ...putVendor('spare', at.spare),
  ...putVendor('words', at.spare, { kind: 'ark' }),
  ...putVendor('sandbox', 'https://sandbox.invalid', { kind: 'sandbox' }),
  ...putVendor('grok', at.upstream, { kind: 'xai' }),
  ...putVendor('router', at.upstream, { kind: 'openrouter' }),
  putModel('of-router', { supportFeatures: ['image'], pricing: BY_IMAGE }),
  putChain({ model: 'of-router', vendor: 'router', protocol: 'images' }),
  putChain({ model: 'of-router', vendor: 'spare', protocol: 'images', priority: 2 }),
  ...ONE_ADDRESS.flatMap(([kind, forward]) => [
    ...putVendor(`alone-${kind}`, at.upstream, { kind }),
    putModel(`only-${kind}`, { supportFeatures: ['image'], pricing: BY_IMAGE }),
    putChain({ model: `only-${kind}`, vendor: `alone-${kind}`, protocol: 'images', forward }),
  ]),
  putModel('of-grok', { supportFeatures: ['image'], pricing: BY_IMAGE }),
  putChain({ model: 'of-grok', vendor: 'grok', protocol: 'images' }),
  putModel('of-two', { supportFeatures: ['image'], pricing: BY_IMAGE }),
  putChain({ model: 'of-two', vendor: 'grok', protocol: 'images' }),
  putChain({ model: 'of-two', vendor: 'spare', protocol: 'images', priority: 2 }),
  putModel('picture', { supportFeatures: ['image'], pricing: BY_IMAGE }),
  putChain({ model: 'picture', vendor: 'acme', protocol: 'images' }),
  putChain({ model: 'picture', vendor: 'words', protocol: 'images', priority: 2 }),
  putChain({ model: 'picture', vendor: 'spare', protocol: 'images', priority: 3 }),
  putModel('by-token', { supportFeatures: ['image'], pricing: BY_TOKEN }),
  putChain({ model: 'by-token', vendor: 'acme', protocol: 'images' }),
  putModel('out-of-words', { supportFeatures: ['image'], pricing: BY_IMAGE }),
  putChain({ model: 'out-of-words', vendor: 'words', protocol: 'images' }),
  putModel('sandbox-image', { supportFeatures: ['image'], pricing: BY_IMAGE }),
  putChain({ model: 'sandbox-image', vendor: 'sandbox', protocol: 'images', forward: 'sandbox-image' }),
])

const PICTURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0xff, 0x00])

function form(model: string, fields: Readonly<Record<string, string>> = { prompt: 'red' }): Buffer {
  const parts = Object.entries({ ...fields, model }).map(
    ([name, value]) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  )
  const file = '--b\r\nContent-Disposition: form-data; name="image[]"; filename="a.png"\r\n\r\n'
  return Buffer.concat([Buffer.from(file), PICTURE, Buffer.from(`\r\n${parts.join('')}--b--\r\n`)])
}

const send = async (path: string, body: Buffer) =>
  readAnswer(
    await fetch(`${gateway.baseUrl}${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${gateway.key}`,
        'content-type': 'multipart/form-data; boundary=b',
      },
      body: new Uint8Array(body),
    }),
  )

const made = (count: number) =>
  answerJson({ created: 1, data: Array.from({ length: count }, () => ({ b64_json: 'AAAA' })) })

test.each([EDITS, '/v1/images/variations'])(
  '%s: the form passes but for its model, what was made is charged [D-images-19]',
  async (path) => {
    upstream.answer(made(2))
    const sent = form('picture', { prompt: 'red', n: '3' })
    expect((await send(path, sent)).status).toBe(200)
    const expected = sent.toString('latin1').replace('\r\n\r\npicture\r\n', '\r\n\r\npicture-upstream\r\n')
    expect(upstream.requests.map((got) => [got.path, got.body.toString('latin1')])).toEqual([
      [path.replace('/v1', ''), expected],
    ])
    expect(await gateway.lastLog()).toMatchObject({ endpoint: path, images: 2, amount: 2n * PER_IMAGE })
  },
)

test('a form that its vendor failed at goes to the next one that changes images, and never to one that makes new ones [D-images-20]', async () => {
  upstream.answer(answerJson({ error: { message: 'busy' } }, 503))
  spare.answer(made(1))
  expect((await send(EDITS, form('picture'))).status).toBe(200)
  expect(spare.requests.map(({ path, body }) => [path, body.includes(PICTURE)])).toEqual([
    ['/images/edits', true],
  ])
  expect(await gateway.lastLog()).toMatchObject({ vendorCode: 'spare', images: 1, amount: PER_IMAGE })
})

test('JSON passes as well, where images are named by address [D-images-21]', async () => {
  upstream.answer(made(1))
  const body = { model: 'picture', prompt: 'red', images: [{ image_url: 'https://a.example/b.png' }] }
  const answer = await postJson(`${gateway.baseUrl}${EDITS}`, body, {
    authorization: `Bearer ${gateway.key}`,
  })
  expect(answer.status).toBe(200)
  expect(upstream.requests.map(({ path, json }) => [path, json()])).toEqual([
    ['/images/edits', { ...body, model: 'picture-upstream' }],
  ])
})

test('usage that the vendor tells is charged, a picture of the form is not taken for text [D-images-22]', async () => {
  const usage = { input_tokens: 300, output_tokens: 1_000, total_tokens: 1_300 }
  upstream.answer(answerJson({ data: [{ b64_json: 'AAAA' }], usage }))
  await send(EDITS, form('by-token'))
  expect(await gateway.lastLog()).toMatchObject({
    usage: { input: 300, output: 1_000 },
    amount: 300n * 10_000n + 1_000n * 40_000n,
  })
})

test('partial images of a stream pass as they come', async () => {
  const events =
    'event: image_edit.partial_image\ndata: {"type":"image_edit.partial_image","b64_json":"AA"}\n\n' +
    'event: image_edit.completed\ndata: {"type":"image_edit.completed","b64_json":"AAAA"}\n\n'
  upstream.answer(answerJson(events, 200, { 'content-type': 'text/event-stream' }))
  expect((await send(EDITS, form('picture', { prompt: 'red', stream: 'true' }))).text).toBe(events)
  expect(await gateway.lastLog()).toMatchObject({ stream: true, images: 1, amount: PER_IMAGE })
})

test('a model whose vendor changes no images is 40403, which names the path that it has [D-images-23]', async () => {
  const answer = await send(EDITS, form('out-of-words'))
  expect([answer.status, answer.body.code]).toEqual([404, 40403])
  expect(answer.body.message).toContain('/v1/images/generations')
  expect(spare.requests).toHaveLength(0)
})

test.each([
  ['more images than a call makes', form('picture', { n: '101' }), /up to 100 images/],
  [
    'no image',
    Buffer.from(form('picture').toString('latin1').replace('image[]', 'pictures'), 'latin1'),
    /image is required/,
  ],
])('%s is refused before anything is spent', async (_what, body, message) => {
  const answer = await send(EDITS, body)
  expect([answer.status, answer.body.code]).toEqual([400, 40000])
  expect(answer.body.message).toMatch(message)
  expect(upstream.requests).toHaveLength(0)
})

test('a form at the path of new images is no document', async () => {
  const answer = await send('/v1/images/generations', form('picture'))
  expect([answer.status, answer.body.code]).toEqual([400, 40000])
})

describe('xAI, which takes a document that names pictures by address', () => {
  const ofGrok = (count: number) =>
    answerJson({
      data: Array.from({ length: count }, () => ({ b64_json: 'AAAA', mime_type: 'image/png' })),
      usage: { cost_in_usd_ticks: 400_000_000 },
    })
  const json = (body: object, path = EDITS) =>
    postJson(`${gateway.baseUrl}${path}`, body, { authorization: `Bearer ${gateway.key}` })

  test('gets one in place of the form of the official SDK; what was made is charged [D-images-30]', async () => {
    const held: bigint[] = []
    const account = await gateway.newAccount({ credits: 1_000 })
    upstream.answer(async (request, response) => {
      held.push((await gateway.account(account.id)).held)
      await ofGrok(1)(request, response)
    })
    const client = new OpenAI({ apiKey: account.key, baseURL: `${gateway.baseUrl}/v1`, maxRetries: 0 })
    const image = await toFile(PICTURE, 'a.png', { type: 'image/png' })
    const mask = await toFile(PICTURE, 'm.png', { type: 'image/png' })
    const { data } = await client.images.edit({
      model: 'of-grok',
      image: [image, image],
      mask,
      prompt: 'red',
      n: 2,
      size: '1024x1024',
      input_fidelity: 'high',
    })
    expect(data).toMatchObject([{ b64_json: 'AAAA' }])
    const place = { type: 'image_url', url: `data:image/png;base64,${PICTURE.toString('base64')}` }
    expect(
      upstream.requests.map(({ path, headers, json: body }) => [path, headers['content-type'], body()]),
    ).toEqual([
      [
        '/images/edits',
        'application/json',
        {
          model: 'of-grok-upstream',
          prompt: 'red',
          images: [place, place],
          mask: place,
          n: 2,
          aspect_ratio: '1:1',
        },
      ],
    ])
    expect(held).toEqual([2n * PER_IMAGE])
    expect(await gateway.lastLog()).toMatchObject({
      images: 1,
      amount: PER_IMAGE,
      droppedFields: ['input_fidelity'],
    })
  })

  test.each<[string, object, object]>([
    [
      'of OpenAI',
      { images: [{ image_url: 'https://a.example/b.png' }] },
      { image: { type: 'image_url', url: 'https://a.example/b.png' } },
    ],
    [
      'of its own',
      { image: { type: 'image_url', url: 'https://a.example/b.png' }, aspect_ratio: '2:1' },
      { image: { type: 'image_url', url: 'https://a.example/b.png' }, aspect_ratio: '2:1' },
    ],
  ])('and so it does for a document %s [D-images-31]', async (_whose, asked, sent) => {
    upstream.answer(ofGrok(1))
    expect((await json({ model: 'of-grok', prompt: 'red', ...asked })).status).toBe(200)
    expect(upstream.requests.map((one) => one.json())).toEqual([
      { model: 'of-grok-upstream', prompt: 'red', ...sent },
    ])
  })

  test('new images pass byte for byte all the same [D-images-32]', async () => {
    upstream.answer(ofGrok(1))
    const sent = '{ "model":"of-grok", "prompt":"r\\u0065d", "seed": 12345678901234567890 }'
    const answer = await fetch(`${gateway.baseUrl}/v1/images/generations`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: sent,
    })
    expect(answer.status).toBe(200)
    expect(upstream.requests.map((got) => [got.path, got.body.toString()])).toEqual([
      ['/images/generations', sent.replace('"of-grok"', '"of-grok-upstream"')],
    ])
  })

  test('by a thread, where the pictures are large', async () => {
    upstream.answer(ofGrok(1))
    const large = Buffer.concat([PICTURE, Buffer.alloc(2_000_000, 7)])
    const image = { image_url: `data:image/png;base64,${large.toString('base64')}` }
    expect((await json({ model: 'of-grok', prompt: 'red', images: [image] })).status).toBe(200)
    const sent = form('of-grok')
    const large2 = Buffer.from(
      sent.toString('latin1').replace(PICTURE.toString('latin1'), large.toString('latin1')),
      'latin1',
    )
    expect((await send(EDITS, large2)).status).toBe(200)
    const place = { type: 'image_url', url: image.image_url }
    expect(upstream.requests.map((one) => one.json())).toMatchObject([{ image: place }, { image: place }])
  })

  test('a picture by the id of a file is refused, unless another vendor knows it [D-images-33]', async () => {
    const images = [{ file_id: 'file-1' }]
    const refused = await json({ model: 'of-grok', prompt: 'red', images })
    expect([refused.status, refused.body.code]).toEqual([400, 40000])
    expect(refused.body.message).toContain('images: name a picture by its address')
    expect(upstream.requests).toHaveLength(0)
    expect(await gateway.lastLog()).toMatchObject({ amount: 0n })
    spare.answer(made(1))
    expect((await json({ model: 'of-two', prompt: 'red', images })).status).toBe(200)
    expect(spare.requests.map((one) => one.json())).toMatchObject([{ images }])
    expect(await gateway.lastLog()).toMatchObject({ vendorCode: 'spare', amount: PER_IMAGE })
  })

  test.each<[string, object, number]>([
    ['what is no answer', { hello: 1 }, 502],
    ['an answer without a picture', { data: [] }, 200],
  ])('%s costs nothing', async (_what, answered, status) => {
    upstream.answer(answerJson(answered))
    const { status: got } = await json({ model: 'of-grok', prompt: 'red', image: 'https://a.example/b.png' })
    expect([got, (await gateway.lastLog()).amount]).toEqual([status, 0n])
  })
})

describe('OpenRouter', () => {
  test('gets files of a form as references, at its one address; what was made is charged [D-images-45]', async () => {
    upstream.answer(made(1))
    expect((await send(EDITS, form('of-router', { prompt: 'red', n: '2', size: '1024x1024' }))).status).toBe(
      200,
    )
    const url = `data:image/png;base64,${PICTURE.toString('base64')}`
    expect(upstream.requests.map((one) => [one.path, one.json()])).toEqual([
      [
        '/images',
        {
          model: 'of-router-upstream',
          prompt: 'red',
          n: 2,
          size: '1024x1024',
          input_references: [{ type: 'image_url', image_url: { url } }],
        },
      ],
    ])
    expect(await gateway.lastLog()).toMatchObject({ images: 1, amount: PER_IMAGE })
  })

  test('that answers with an error under a good status is no answer: the form goes on, and is charged once', async () => {
    upstream.answer(answerJson({ error: { code: 502, message: 'provider' } }))
    spare.answer(made(1))
    const sent = form('of-router')
    expect((await send(EDITS, sent)).status).toBe(200)
    expect(spare.requests.map((one) => one.path)).toEqual(['/images/edits'])
    expect(await gateway.lastLog()).toMatchObject({ vendorCode: 'spare', images: 1, amount: PER_IMAGE })
  })
})

describe('without a picture', () => {
  const ask = (model: string, more: object = {}) =>
    postJson(
      `${gateway.baseUrl}${EDITS}`,
      { model, prompt: 'red', ...more },
      { authorization: `Bearer ${gateway.key}` },
    )

  test.each(ONE_ADDRESS)('%s makes no new one: image is missing [D-images-47]', async (kind) => {
    const { status, body } = await ask(`only-${kind}`)
    expect([status, body.code]).toEqual([400, 40000])
    expect(body.message).toContain('image: the picture to change is missing')
    expect(upstream.requests).toHaveLength(0)
    expect(await gateway.lastLog()).toMatchObject({ amount: 0n, images: 0 })
  })

  test('a form of fields alone is refused as well [D-images-47]', async () => {
    const parts = Object.entries({ model: 'only-kling', prompt: 'red' }).map(
      ([name, value]) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
    )
    const { status, body } = await send(EDITS, Buffer.from(`${parts.join('')}--b--\r\n`))
    expect([status, body.code]).toEqual([400, 40000])
    expect(upstream.requests).toHaveLength(0)
  })

  test('a vendor’s own name for pictures will do', async () => {
    upstream.answer(made(1))
    const input_references = [{ type: 'image_url', image_url: { url: 'https://a.example/b.png' } }]
    expect((await ask('only-openrouter', { input_references })).status).toBe(200)
    expect(upstream.requests.map((one) => one.json())).toMatchObject([{ input_references }])
  })
})

test('the official SDK changes an image, reads it while it is made, and makes others like it [D-images-24]', async () => {
  const client = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.baseUrl}/v1`, maxRetries: 0 })
  const image = () => toFile(PICTURE, 'a.png', { type: 'image/png' })
  const edited = await client.images.edit({
    model: 'sandbox-image',
    image: [await image(), await image()],
    prompt: 'red',
    n: 2,
  })
  expect(edited.data).toHaveLength(2)
  expect(await gateway.lastLog()).toMatchObject({ images: 2, amount: 2n * PER_IMAGE })
  const types: string[] = []
  const stream = await client.images.edit({
    model: 'sandbox-image',
    image: await image(),
    prompt: 'red',
    stream: true,
    partial_images: 2,
  })
  for await (const event of stream) types.push(event.type)
  expect(types).toEqual(['image_edit.partial_image', 'image_edit.partial_image', 'image_edit.completed'])
  const varied = await client.images.createVariation({ model: 'sandbox-image', image: await image() })
  expect(varied.data).toHaveLength(1)
})
