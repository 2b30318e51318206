/** Video models on the chat endpoint. */
import OpenAI from 'openai'
import { beforeEach, describe, expect, test } from 'vitest'
import { type Answer, postJson } from '../gateway/client.ts'
import { putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { answerJson } from '../gateway/scripted-upstream.ts'
import { ARK, creates, sampleVideo, PNG, playArk, playSora, VIDEO_PRICES } from '../gateway/videos.ts'
import { withGateway } from '../gateway/with-gateway.ts'

const LINK = 'https://videos.example/one.mp4'
const IMAGE = `data:image/png;base64,${PNG.toString('base64')}`

const { gateway, ark, sora } = await withGateway({
  upstreams: ['ark', 'sora'],
  catalogue: ({ ark, sora }) => [
    ...putVendor('ark', ark.url, { kind: 'ark' }),
    ...putVendor('sora', sora.url, { kind: 'openai-compatible' }),
    putModel('seedance', { supportFeatures: ['video'], pricing: VIDEO_PRICES }),
    putChain({ model: 'seedance', vendor: 'ark', protocol: 'video', forward: 'seedance-1-0-pro' }),
    putModel('sora-2', { supportFeatures: ['video'], pricing: VIDEO_PRICES }),
    putChain({ model: 'sora-2', vendor: 'sora', protocol: 'video', forward: 'sora-2' }),
  ],
})
beforeEach(async () => {
  await gateway.resetHealth()
  ark.requests.length = 0
  playArk(ark, { polls: [ARK.running, ARK.done(LINK)] })
  playSora(sora, sampleVideo(1))
})

function chat(body: Record<string, unknown>, path = '/v1/chat/completions'): Promise<Answer> {
  return postJson(
    `${gateway.baseUrl}${path}`,
    { model: 'seedance', messages: [{ role: 'user', content: 'a cat on the moon' }], duration: 8, ...body },
    { authorization: `Bearer ${gateway.key}` },
  )
}

function ordered(): Record<string, unknown> {
  return creates(ark)[0]?.json() as Record<string, unknown>
}

describe('a chat call to a video model', () => {
  test('is answered with `status: done` and `video.url` in a chat completion [4.4-45] [4.4-46] [4.4-47]', async () => {
    const { status, body } = await chat({})
    expect(status).toBe(200)
    expect(body).toMatchObject({
      object: 'chat.completion',
      model: 'seedance',
      status: 'done',
      video: { url: LINK, seconds: '8' },
      choices: [{ index: 0, message: { role: 'assistant', content: LINK }, finish_reason: 'stop' }],
    })
  })

  test('whose `video.url` is ours where the vendor has none [4.4-47]', async () => {
    const { body } = await chat({ model: 'sora-2' })
    const { url } = body['video'] as { url: string }
    expect((await fetch(url)).headers.get('content-type')).toBe('video/mp4')
  })

  test('goes over the same chain for the same bill, with `duration` as seconds [4.4-48] [4.4-49] [D-video-35]', async () => {
    const before = (await gateway.account()).credits
    await chat({})
    await gateway.settled()
    expect(before - (await gateway.account()).credits).toBe(4_000_000_000n)
    expect(ordered()).toMatchObject({ model: 'seedance-1-0-pro', duration: 8 })
    expect(await gateway.lastLog()).toMatchObject({
      endpoint: '/v1/chat/completions',
      clientProtocol: 'chat',
      upstreamProtocol: 'video',
      secondsDeclared: 8,
      usageSource: 'declared',
    })
  })

  test('takes the text of the last user message, its image as first frame, and other fields as on /v1/videos [D-video-34]', async () => {
    await chat({
      messages: [
        { role: 'system', content: 'you are a director' },
        { role: 'user', content: 'a dog' },
        { role: 'assistant', content: 'which one?' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'a cat' },
            { type: 'image_url', image_url: { url: IMAGE } },
            { type: 'text', text: 'on the moon' },
          ],
        },
      ],
      size: '720x1280',
      camera_fixed: true,
      temperature: 0.7,
      max_tokens: 100,
    })
    const body = ordered()
    expect(body['content']).toMatchObject([
      { type: 'text', text: 'a cat\non the moon' },
      { type: 'image_url', image_url: { url: IMAGE } },
    ])
    expect(body).toMatchObject({ camera_fixed: true, resolution: '720p' })
    expect(body).not.toHaveProperty('temperature')
    expect(body).not.toHaveProperty('max_tokens')
  })

  test.each([
    ['without a user message', { messages: [{ role: 'system', content: 'hello' }] }],
    ['with an empty one', { messages: [{ role: 'user', content: '' }] }],
    ['without messages', { messages: undefined }],
  ])('%s is 400/40000', async (_name, body) => {
    expect(await chat(body)).toMatchObject({ status: 400, body: { code: 40000 } })
  })

  test('fails with the vendor’s error', async () => {
    playArk(ark, { polls: [ARK.failed] })
    const answer = await chat({})
    expect(answer).toMatchObject({ status: 502, body: { error: { type: 'upstream_error' } } })
    expect(answer.headers.get('x-should-retry')).toBe('false')
    expect(answer.headers.get('gw-model')).toBe('seedance')
  })

  test.each([
    ['/v1/responses', { input: 'a cat' }],
    ['/v1/messages', { max_tokens: 5 }],
    ['/v1beta/models/seedance:generateContent', { contents: [{ parts: [{ text: 'a cat' }] }] }],
  ])('over %s is refused with a sentence that says where to go', async (path, body) => {
    const answer = await chat(body, path)
    expect(answer).toMatchObject({ status: 400, body: { code: 40000 } })
    expect(answer.body.message).toContain('/v1/videos')
    expect(creates(ark)).toHaveLength(0)
  })
})

describe('with `stream: true`', () => {
  test('progress chunks come before one final chunk, then [DONE] [D-video-36]', async () => {
    const { status, headers, text } = await chat({ stream: true })
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('text/event-stream')
    const events = text.split('\n\n').filter((event) => event !== '')
    expect(events.at(-1)).toBe('data: [DONE]')
    const chunks = events.slice(0, -1).map((event) => JSON.parse(event.replace('data: ', '')) as Chunk)
    const final = chunks.at(-1)
    expect(final).toMatchObject({
      status: 'done',
      video: { url: LINK },
      choices: [{ finish_reason: 'stop' }],
    })
    const progress = chunks.slice(0, -1)
    expect(progress.length).toBeGreaterThan(0)
    for (const chunk of progress) {
      expect(chunk).toMatchObject({ object: 'chat.completion.chunk', choices: [{ finish_reason: null }] })
      expect(chunk.video).toBeUndefined()
    }
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1)
  })

  test('the official SDK reads it', async () => {
    const openai = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.baseUrl}/v1`, maxRetries: 0 })
    const completion = await openai.chat.completions
      .stream({ model: 'seedance', messages: [{ role: 'user', content: 'a cat' }] })
      .finalChatCompletion()
    expect(completion.choices[0]?.message.content).toBe(LINK)
  })

  test('an order no vendor took is an error of its own status', async () => {
    playArk(ark, {
      create: answerJson({ error: { code: 'InvalidParameter', message: 'no' } }, 400),
      polls: [],
    })
    expect((await chat({ stream: true })).status).toBe(400)
  })

  test('a failure on the way is an error object and no [DONE]', async () => {
    playArk(ark, { polls: [ARK.running, ARK.failed] })
    const { status, text } = await chat({ stream: true })
    expect(status).toBe(200)
    expect(text).toContain('"message":"the kiln broke"')
    expect(text).not.toContain('[DONE]')
  })

  test('one that is the platform’s own concern is told as the gateway’s, with its code and the request', async () => {
    const broke = { code: 'AccountOverdueError', message: 'pay your bill' }
    playArk(ark, { polls: [ARK.running, { id: 'cgt-1', status: 'failed', error: broke }] })
    const { headers, text } = await chat({ stream: true })
    expect(text).toContain('"type":"gateway_error","param":null,"code":"50201"')
    expect(text).toContain(`"request_id":${JSON.stringify(headers.get('x-request-id'))}`)
    expect(text).not.toContain('pay your bill')
  })
})

interface Chunk {
  readonly id: string
  readonly video?: unknown
}
