/** The official SDK, unchanged, over real sockets: every video method it has. */
import OpenAI, { NotFoundError, toFile } from 'openai'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { creates, sampleVideo, PNG, playSora, VIDEO_PRICES } from '../gateway/videos.ts'
import { withGateway } from '../gateway/with-gateway.ts'

const VIDEO = sampleVideo(1)

let openai: OpenAI

const { gateway, sora } = await withGateway({
  upstreams: ['sora'],
  catalogue: ({ sora }) => [
    ...putVendor('sora', sora.url, { kind: 'openai-compatible' }),
    putModel('sora-2', { supportFeatures: ['video'], pricing: VIDEO_PRICES }),
    putChain({ model: 'sora-2', vendor: 'sora', protocol: 'video', forward: 'sora-2' }),
  ],
})

beforeAll(async () => {
  openai = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.baseUrl}/v1` })
})
beforeEach(() => {
  sora.requests.length = 0
  playSora(sora, VIDEO, ['queued', 'in_progress', 'completed'])
})

describe('openai', () => {
  test('creates, retrieves, lists, downloads and deletes a video [9-10]', async () => {
    const video = await openai.videos.create({
      model: 'sora-2',
      prompt: 'a cat',
      seconds: '4',
      size: '1280x720',
    })
    expect(video).toMatchObject({ status: 'completed', progress: 100, seconds: '4', size: '1280x720' })
    expect(await openai.videos.retrieve(video.id)).toEqual(video)
    const listed = []
    for await (const each of openai.videos.list({ limit: 1 })) listed.push(each.id)
    expect(listed).toContain(video.id)
    const content = await openai.videos.downloadContent(video.id)
    expect(Buffer.from(await content.arrayBuffer())).toEqual(VIDEO)
    expect(await openai.videos.delete(video.id)).toMatchObject({ id: video.id, deleted: true })
    await expect(openai.videos.retrieve(video.id)).rejects.toThrow(NotFoundError)
    expect(creates(sora)).toHaveLength(1)
  })

  test('sends a first frame along, whose bytes arrive [4.4-14] [4.4-15]', async () => {
    const video = await openai.videos.create({
      model: 'sora-2',
      prompt: 'a cat',
      input_reference: await toFile(PNG, 'cat.png', { type: 'image/png' }),
    })
    expect(video.status).toBe('completed')
    const [create] = creates(sora)
    expect(create?.headers['content-type']).toMatch(/^multipart\/form-data; boundary=/)
    expect(create?.body.includes(PNG)).toBe(true)
  })

  test('is told of a missing video in its own error class, also by the methods nobody serves', async () => {
    await expect(openai.videos.retrieve('video_nobody')).rejects.toThrow(NotFoundError)
    await expect(openai.videos.remix('video_nobody', { prompt: 'a dog' })).rejects.toThrow(NotFoundError)
  })

  test('does not repeat an order that may have arrived', async () => {
    sora.answer((_request, response) => {
      response.destroy()
    })
    await expect(openai.videos.create({ model: 'sora-2', prompt: 'a cat' })).rejects.toMatchObject({
      status: 504,
    })
    expect(creates(sora)).toHaveLength(1)
  })

  test('that loses its connection while it waits gets the same video by its own retry', async () => {
    let tries = 0
    const lost = new AbortController()
    const hasty = new OpenAI({
      apiKey: gateway.key,
      baseURL: `${gateway.baseUrl}/v1`,
      maxRetries: 5,
      fetch: (url, options) => {
        tries += 1
        return fetch(url, tries === 1 ? { ...options, signal: lost.signal } : options)
      },
    })
    sora.answer((request, response) => {
      const done = tries > 1
      if (request.path.endsWith('/content')) {
        response.writeHead(200, { 'content-type': 'video/mp4' })
        response.end(VIDEO)
        return
      }
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ id: 'video_up', status: done ? 'completed' : 'in_progress' }))
      if (request.method === 'GET') lost.abort()
    })
    const video = await hasty.videos.create({ model: 'sora-2', prompt: 'a patient cat' })
    expect(video.status).toBe('completed')
    expect(creates(sora)).toHaveLength(1)
  })
})
