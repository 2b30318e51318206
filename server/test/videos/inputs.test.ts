/** Images in the form a vendor takes: fetched where it wants bytes, published where it wants addresses. */
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { type Answer, postJson } from '../gateway/client.ts'
import { putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { answerJson } from '../gateway/scripted-upstream.ts'
import { creates, sampleVideo, PNG, playArk, playSora, postForm, VIDEO_PRICES } from '../gateway/videos.ts'
import { GatewayError } from '../../src/core/errors/gateway-error.ts'
import { withGateway } from '../gateway/with-gateway.ts'

const { gateway, sora, luma, images, ark } = await withGateway({
  upstreams: ['sora', 'luma', 'images', 'ark'],
  environment: { SLUICE_FETCH_ALLOW: '127.0.0.1/32' },
  catalogue: ({ sora, luma, ark }) => [
    ...putVendor('sora', sora.url, { kind: 'openai-compatible' }),
    ...putVendor('luma', `${luma.url}/dream-machine/v1`, { kind: 'luma-dream-machine' }),
    putModel('sora-2', { supportFeatures: ['video'], pricing: VIDEO_PRICES }),
    putChain({ model: 'sora-2', vendor: 'sora', protocol: 'video', forward: 'sora-2' }),
    ...putVendor('ark', ark.url, { kind: 'ark' }),
    putModel('seedance', { supportFeatures: ['video'], pricing: VIDEO_PRICES }),
    putChain({ model: 'seedance', vendor: 'ark', protocol: 'video', forward: 'seedance-2-0' }),
    putModel('ray', { supportFeatures: ['video'], pricing: VIDEO_PRICES }),
    putChain({ model: 'ray', vendor: 'luma', protocol: 'video', forward: 'ray-2' }),
  ],
})
beforeEach(() => {
  for (const server of [sora, luma, images, ark]) server.requests.length = 0
  vi.restoreAllMocks()
  playSora(sora, sampleVideo(1))
  playArk(ark, { create: answerJson({ error: { code: 'no', message: 'no' } }, 400), polls: [] })
  images.answer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/octet-stream' })
    response.end(PNG)
  })
})

function post(body: Record<string, unknown>): Promise<Answer> {
  return postJson(
    `${gateway.baseUrl}/v1/videos`,
    { prompt: 'a cat', ...body },
    { authorization: `Bearer ${gateway.key}` },
  )
}

describe('a vendor that wants bytes', () => {
  test.each(['image_tail', 'reference_images'])(
    'is not kept waiting for a %s it takes none of: it is dropped and named, not fetched [4.4-36]',
    async (field) => {
      const address = 'https://nowhere.invalid/cat.png'
      const answer = await post({
        model: 'sora-2',
        input_reference: `${images.url}/cat`,
        [field]: field === 'image_tail' ? address : [address],
      })
      expect([answer.status, answer.headers.get('gw-dropped-fields')]).toEqual([200, field])
      expect(creates(sora)[0]?.body.includes(PNG)).toBe(true)
      expect(creates(sora)[0]?.body.includes('nowhere')).toBe(false)
      expect(images.requests).toHaveLength(1)
    },
  )

  test('gets those behind a public URL, as the image they are [4.4-29]', async () => {
    const answer = await post({ model: 'sora-2', input_reference: `${images.url}/cat` })
    expect(answer.status).toBe(200)
    const [create] = creates(sora)
    expect(create?.body.includes(PNG)).toBe(true)
    expect(create?.body.toString('latin1')).toContain('image/png')
    expect(images.requests).toHaveLength(1)
  })

  test.each([
    ['is no image', () => answerJson({ not: 'an image' }), /cat/],
    ['is not there', () => answerJson('', 404), /404/],
  ])('is not asked when what lies there %s: 400/40000 says why', async (_name, answerer, said) => {
    images.answer(answerer())
    const answer = await post({ model: 'sora-2', input_reference: `${images.url}/cat` })
    expect(answer).toMatchObject({ status: 400, body: { code: 40000 } })
    expect(answer.body.message).toMatch(said)
    expect(creates(sora)).toHaveLength(0)
  })

  test('does not make us look into the operator’s network', async () => {
    const answer = await post({ model: 'sora-2', input_reference: 'http://169.254.169.254/latest' })
    expect(answer).toMatchObject({ status: 400, body: { code: 40000 } })
  })
})

describe('a vendor that wants addresses', () => {
  test('gets a signed link of ours to the bytes, which is gone when the task has ended', async () => {
    let link = ''
    luma.answer(async (request, response) => {
      if (request.method === 'POST') {
        const { keyframes } = request.json() as { keyframes: { frame0: { url: string } } }
        link = keyframes.frame0.url
        const fetched = await fetch(link)
        expect(Buffer.from(await fetched.arrayBuffer())).toEqual(PNG)
        expect(fetched.headers.get('content-type')).toBe('image/png')
        return answerJson({ id: 'gen-1', state: 'queued' }, 201)(request, response)
      }
      return answerJson({ id: 'gen-1', state: 'failed', failure_reason: 'no luck' })(request, response)
    })
    const answer = await post({
      model: 'ray',
      input_reference: `data:image/png;base64,${PNG.toString('base64')}`,
    })
    expect(answer.status).toBeGreaterThanOrEqual(400)
    expect(link.startsWith(`${gateway.baseUrl}/media/`)).toBe(true)
    await gateway.settled()
    expect((await fetch(link)).status).toBe(404)
  })
})

describe('an order with a large picture', () => {
  const LARGE = Buffer.concat([PNG, Buffer.alloc(600_000, 7)])
  const ADDRESS = `data:image/png;base64,${LARGE.toString('base64')}`
  const conversions = () => gateway.running.pipeline.conversions
  const authorized = () => ({ authorization: `Bearer ${gateway.key}` })
  const ways: readonly [string, (model: string) => Promise<Answer>][] = [
    ['JSON', (model) => post({ model, input_reference: ADDRESS })],
    [
      'a form',
      (model) =>
        postForm(
          `${gateway.baseUrl}/v1/videos`,
          [
            { name: 'model', value: model },
            { name: 'prompt', value: 'a cat' },
            { name: 'input_reference', value: LARGE, type: 'image/png' },
          ],
          authorized(),
        ),
    ],
    [
      'chat',
      (model) => {
        const content = [
          { type: 'text', text: 'a cat' },
          { type: 'image_url', image_url: { url: ADDRESS } },
        ]
        const body = { model, messages: [{ role: 'user', content }] }
        return postJson(`${gateway.baseUrl}/v1/chat/completions`, body, authorized())
      },
    ],
  ]

  test.each(ways)('as %s is read and written in threads, and arrives as it was sent', async (_way, send) => {
    const run = vi.spyOn(conversions(), 'run')
    expect((await send('sora-2')).status).toBe(200)
    expect(creates(sora)[0]?.body.includes(LARGE)).toBe(true)
    await send('seedance')
    const kinds = run.mock.calls.map(([{ kind }]) => kind)
    expect(kinds).toEqual(['order', 'submit', 'order', 'submit'])
    const asked = creates(ark).map((create) => create.body.toString('utf8'))
    expect(asked).toEqual([expect.stringContaining(`"${ADDRESS}"`)])
  })

  test('a small one is read and written where the calls run', async () => {
    const run = vi.spyOn(conversions(), 'run')
    const image = `data:image/png;base64,${PNG.toString('base64')}`
    expect((await post({ model: 'sora-2', input_reference: image })).status).toBe(200)
    expect(run).not.toHaveBeenCalled()
  })

  test('is refused in the same words as a small one', async () => {
    const broken = await post({
      model: 'sora-2',
      input_reference: `data:image/png;base64,${'?'.repeat(600_000)}`,
    })
    expect(broken).toMatchObject({ status: 400, body: { code: 40000 } })
    expect(broken.body.message).toContain('input_reference must be a data: URL that holds base64')
  })

  test('when too many wait for a thread it is 503/50301 with Retry-After, and nothing stays held', async () => {
    vi.spyOn(conversions(), 'run').mockRejectedValue(new GatewayError(50301, { retryAfterMs: 2_000 }))
    const answer = await post({ model: 'sora-2', input_reference: ADDRESS })
    expect(answer).toMatchObject({ status: 503, body: { code: 50301 } })
    expect(answer.headers.get('retry-after')).toBe('2')
    await gateway.settled()
    expect((await gateway.account()).held).toBe(0n)
  })

  test('when its request cannot be written, the task fails, nothing is sent and nothing stays held', async () => {
    const run = conversions().run.bind(conversions())
    vi.spyOn(conversions(), 'run').mockImplementation((task, waiting) =>
      task.kind === 'submit' ? Promise.reject(new GatewayError(41301)) : run(task, waiting),
    )
    const answer = await post({ model: 'sora-2', input_reference: ADDRESS })
    expect(answer).toMatchObject({ status: 413, body: { code: 41301 } })
    expect(creates(sora)).toHaveLength(0)
    await gateway.settled()
    expect((await gateway.account()).held).toBe(0n)
  })
})
