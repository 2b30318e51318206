/** Where the bytes of a finished video are, and how clients get them. */
import { createHash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { beforeEach, describe, expect, test } from 'vitest'
import { type Answer, get, postJson, readAnswer } from '../gateway/client.ts'
import { putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { answerJson } from '../gateway/scripted-upstream.ts'
import { ARK, sampleVideo, playArk, playSora, VIDEO_PRICES } from '../gateway/videos.ts'
import { withGateway } from '../gateway/with-gateway.ts'

const VIDEO = sampleVideo(2)
const ORDER = { model: 'sora-2', prompt: 'a cat on the moon', seconds: '4' }

const { gateway, sora, ark } = await withGateway({
  upstreams: ['sora', 'ark'],
  catalogue: ({ sora, ark }) => [
    ...putVendor('sora', sora.url, { kind: 'openai-compatible' }),
    ...putVendor('ark', ark.url, { kind: 'ark' }),
    ...putVendor('sandbox', 'https://sandbox.example', { kind: 'sandbox' }),
    putModel('sora-2', { supportFeatures: ['video'], pricing: VIDEO_PRICES }),
    putChain({ model: 'sora-2', vendor: 'sora', protocol: 'video', forward: 'sora-2' }),
    putModel('seedance', { supportFeatures: ['video'], pricing: VIDEO_PRICES }),
    putChain({ model: 'seedance', vendor: 'ark', protocol: 'video', forward: 'seedance-1-0-pro' }),
    putModel('sandbox-video', { supportFeatures: ['video'], pricing: VIDEO_PRICES }),
    putChain({ model: 'sandbox-video', vendor: 'sandbox', protocol: 'video', forward: 'sandbox-video' }),
  ],
})
beforeEach(() => {
  sora.requests.length = 0
  ark.requests.length = 0
  playSora(sora, VIDEO)
  playArk(ark, { polls: [ARK.done(`${ark.url}/videos/one.mp4`)] })
})

const bearer = () => ({ authorization: `Bearer ${gateway.key}` })

function post(body: unknown): Promise<Answer> {
  return postJson(`${gateway.baseUrl}/v1/videos`, body, bearer())
}

function content(id: unknown, init: RequestInit = {}): Promise<Response> {
  return fetch(`${gateway.baseUrl}/v1/videos/${String(id)}/content`, {
    ...init,
    headers: { ...bearer(), ...(init.headers as Record<string, string> | undefined) },
  })
}

async function bytesOf(response: Response): Promise<Buffer> {
  return Buffer.from(await response.arrayBuffer())
}

describe('a vendor that delivers bytes', () => {
  test('has them stored and delivered by us, also when it is gone [1-09] [3-10] [4.4-03] [4.4-04] [4.4-42] [2.5-13] [D-video-16]', async () => {
    const { body } = await post(ORDER)
    expect(body['status']).toBe('completed')
    const asked = sora.requests.length
    const answer = await content(body['id'])
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('video/mp4')
    expect(answer.headers.get('content-length')).toBe(String(VIDEO.byteLength))
    expect(await bytesOf(answer)).toEqual(VIDEO)
    const link = String(body['url'])
    expect(link.startsWith(`${gateway.baseUrl}/`)).toBe(true)
    expect(await bytesOf(await fetch(link))).toEqual(VIDEO)
    expect(sora.requests).toHaveLength(asked)
    expect(sora.requests.at(-1)).toMatchObject({ path: '/videos/video_up/content' })
  })

  test('the record knows the file: its length, its picture, its hash [2.5-12]', async () => {
    const { body } = await post({ model: 'sora-2', prompt: 'a cat', seconds: '4' })
    expect(body['size']).toBe('320x180')
    const task = await gateway.storage.videos.read(String(body['id']))
    expect(task).toMatchObject({
      blobBytes: VIDEO.byteLength,
      blobSha256: createHash('sha256').update(VIDEO).digest('hex'),
      secondsProduced: 2,
    })
    expect(await gateway.lastLog()).toMatchObject({ secondsDeclared: 4, secondsProduced: 2 })
  })

  test('the sandbox renders a video without a network', async () => {
    const { body } = await post({ model: 'sandbox-video', prompt: 'a cat', seconds: '2' })
    expect(body).toMatchObject({ status: 'completed', seconds: '2' })
    const video = await bytesOf(await content(body['id']))
    expect(video.subarray(4, 8).toString('latin1')).toBe('ftyp')
    expect((await gateway.lastLog()).secondsProduced).toBe(2)
  })

  test('a video that cannot be fetched at first is fetched again', async () => {
    let refused = 2
    const videos = { video: VIDEO }
    sora.answer((request, response) => {
      if (request.method === 'POST')
        return answerJson({ id: 'video_up', status: 'queued' })(request, response)
      if (!request.path.endsWith('/content'))
        return answerJson({ id: 'video_up', status: 'completed' })(request, response)
      refused -= 1
      if (refused >= 0) return answerJson({ error: 'not yet' }, 500)(request, response)
      response.writeHead(200, { 'content-type': 'video/mp4' })
      response.end(videos.video)
      return undefined
    })
    const { body } = await post(ORDER)
    expect(body['status']).toBe('completed')
    expect(await bytesOf(await content(body['id']))).toEqual(VIDEO)
  })

  test.each([404, 410])(
    'a finished video whose file the vendor answers %i for ends soon as 410/50210 and costs nothing',
    async (status) => {
      sora.answer((request, response) => {
        if (request.method === 'POST')
          return answerJson({ id: 'video_up', status: 'queued' })(request, response)
        if (!request.path.endsWith('/content'))
          return answerJson({ id: 'video_up', status: 'completed' })(request, response)
        return answerJson({ error: { message: 'no such file' } }, status)(request, response)
      })
      const before = (await gateway.account()).credits
      const answer = await post(ORDER)
      expect(answer).toMatchObject({ status: 410, body: { code: 50210 } })
      // Once more, in case the file store lags behind the record.
      expect(sora.requests.filter(({ path }) => path.endsWith('/content'))).toHaveLength(2)
      expect((await gateway.account()).credits).toBe(before)
    },
  )

  test('a page of text is no video: the task fails and costs nothing', async () => {
    sora.answer((request, response) => {
      if (request.method === 'POST')
        return answerJson({ id: 'video_up', status: 'queued' })(request, response)
      if (!request.path.endsWith('/content'))
        return answerJson({ id: 'video_up', status: 'completed' })(request, response)
      return answerJson({ oops: true })(request, response)
    })
    const before = (await gateway.account()).credits
    const answer = await post(ORDER)
    expect(answer).toMatchObject({ status: 502, body: { code: 50201 } })
    expect((await gateway.account()).credits).toBe(before)
  })

  test('a vendor that sends its video’s readers elsewhere does so without our key', async () => {
    ark.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'video/mp4' })
      response.end(VIDEO)
    })
    sora.answer((request, response) => {
      if (request.method === 'POST')
        return answerJson({ id: 'video_up', status: 'queued' })(request, response)
      if (!request.path.endsWith('/content'))
        return answerJson({ id: 'video_up', status: 'completed' })(request, response)
      response.writeHead(302, { location: `${ark.url}/cdn/video.mp4` })
      response.end()
      return undefined
    })
    const { body } = await post(ORDER)
    expect(body['status']).toBe('completed')
    expect(ark.requests).toHaveLength(1)
    expect(ark.requests[0]?.headers.authorization).toBeUndefined()
  })
})

describe('a range of the bytes', () => {
  test.each([
    ['the head', 'bytes=0-99', 206, `bytes 0-99/${VIDEO.byteLength}`, VIDEO.subarray(0, 100)],
    [
      'the tail',
      'bytes=-10',
      206,
      `bytes ${VIDEO.byteLength - 10}-${VIDEO.byteLength - 1}/${VIDEO.byteLength}`,
      VIDEO.subarray(-10),
    ],
    [
      'from somewhere on',
      'bytes=5-',
      206,
      `bytes 5-${VIDEO.byteLength - 1}/${VIDEO.byteLength}`,
      VIDEO.subarray(5),
    ],
    ['beyond the end', `bytes=${VIDEO.byteLength}-`, 416, `bytes */${VIDEO.byteLength}`, Buffer.alloc(0)],
    ['unreadable', 'bytes=x-y', 200, null, VIDEO],
    ['several', 'bytes=0-1,3-4', 200, null, VIDEO],
  ])('%s', async (_name, range, status, contentRange, bytes) => {
    const { body } = await post(ORDER)
    for (const url of [`${gateway.baseUrl}/v1/videos/${String(body['id'])}/content`, String(body['url'])]) {
      const answer = await fetch(url, { headers: { ...bearer(), range } })
      expect(answer.status).toBe(status)
      expect(answer.headers.get('content-range')).toBe(contentRange)
      expect(answer.headers.get('content-length')).toBe(String(bytes.byteLength))
      expect(answer.headers.get('accept-ranges')).toBe('bytes')
      expect(await bytesOf(answer)).toEqual(bytes)
    }
  })

  test('HEAD gives the length and nothing else', async () => {
    const { body } = await post(ORDER)
    const answer = await content(body['id'], { method: 'HEAD' })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-length')).toBe(String(VIDEO.byteLength))
    expect(answer.headers.get('content-type')).toBe('video/mp4')
    expect((await bytesOf(answer)).byteLength).toBe(0)
  })

  test('an unknown variant is 400/40000', async () => {
    const { body } = await post(ORDER)
    const answer = await get(
      `${gateway.baseUrl}/v1/videos/${String(body['id'])}/content?variant=thumbnail`,
      bearer(),
    )
    expect(answer).toMatchObject({ status: 400, body: { code: 40000 } })
  })
})

describe('a link of ours', () => {
  test.each([
    ['another signature', (link: URL) => link.searchParams.set('signature', 'A'.repeat(43))],
    ['no signature', (link: URL) => link.searchParams.delete('signature')],
    ['a later end', (link: URL) => link.searchParams.set('expires', '99999999999')],
    ['another video', (link: URL) => (link.pathname = link.pathname.replace(/.\.mp4$/, '_.mp4'))],
  ])('with %s is refused [D-video-16]', async (_name, change) => {
    const { body } = await post(ORDER)
    const link = new URL(String(body['url']))
    change(link)
    const answer = await readAnswer(await fetch(link))
    expect(answer).toMatchObject({ status: 403, body: { code: 40306, error: { type: 'gateway_error' } } })
  })
})

describe('a vendor that hands out a public link', () => {
  function serveVideo(): void {
    ark.answer((request, response) => {
      if (request.method === 'POST') return answerJson({ id: 'cgt-1' })(request, response)
      if (request.path.startsWith('/videos/')) return sendVideo(request.headers.range, response)
      const { duration: _untold, ...done } = ARK.done(`${ark.url}/videos/one.mp4`)
      return answerJson(done)(request, response)
    })
  }

  function sendVideo(range: string | undefined, response: ServerResponse): void {
    const [, start = '0', end = String(VIDEO.byteLength - 1)] = /bytes=(\d+)-(\d+)/.exec(range ?? '') ?? []
    const part = VIDEO.subarray(Number(start), Number(end) + 1)
    response.writeHead(range === undefined ? 200 : 206, {
      'content-type': 'application/octet-stream',
      'content-length': part.byteLength,
      ...(range === undefined ? {} : { 'content-range': `bytes ${start}-${end}/${VIDEO.byteLength}` }),
    })
    response.end(part)
  }

  test('has it handed on, and content comes through us [4.4-43] [2.5-13] [D-video-15]', async () => {
    serveVideo()
    const { body } = await post({ model: 'seedance', prompt: 'a cat' })
    expect(body['url']).toBe(`${ark.url}/videos/one.mp4`)
    const answer = await content(body['id'])
    expect(answer.headers.get('content-type')).toBe('video/mp4')
    expect(await bytesOf(answer)).toEqual(VIDEO)
    const part = await content(body['id'], { headers: { range: 'bytes=10-19' } })
    expect(part.status).toBe(206)
    expect(part.headers.get('content-range')).toBe(`bytes 10-19/${VIDEO.byteLength}`)
    expect(await bytesOf(part)).toEqual(VIDEO.subarray(10, 20))
    expect(ark.requests.at(-1)?.headers.authorization).toBeUndefined()
  })

  test('that does not say how long it is has it measured, for the log [D-accounts-97]', async () => {
    serveVideo()
    await post({ model: 'seedance', prompt: 'a cat', seconds: '9' })
    expect(await gateway.lastLog()).toMatchObject({ secondsDeclared: 9, secondsProduced: 2 })
  })

  test('whose link is gone gives 410/50210, while the task stays readable [7.1-20] [2.5-14]', async () => {
    serveVideo()
    const { body } = await post({ model: 'seedance', prompt: 'a cat' })
    ark.answer(answerJson({ error: 'gone' }, 404))
    const answer = await readAnswer(await content(body['id']))
    expect(answer).toMatchObject({ status: 410, body: { code: 50210 } })
    expect((await get(`${gateway.baseUrl}/v1/videos/${String(body['id'])}`, bearer())).status).toBe(200)
  })

  test('that leads into a private network is not followed', async () => {
    playArk(ark, { polls: [ARK.done('http://169.254.169.254/latest/meta-data')] })
    const { body } = await post({ model: 'seedance', prompt: 'a cat' })
    expect((await content(body['id'])).status).toBe(410)
  })
})
