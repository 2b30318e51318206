/** `POST /v1/videos` from the client's side, against a vendor that is polled and hands out public links. */
import { beforeEach, describe, expect, test } from 'vitest'
import { type Answer, get, postJson } from '../gateway/client.ts'
import { openGateway, putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { answerJson, type ScriptedUpstream } from '../gateway/scripted-upstream.ts'
import { ARK, creates, eventually, PNG, playArk, postForm, VIDEO_PRICES } from '../gateway/videos.ts'
import { withGateway } from '../gateway/with-gateway.ts'

const LINK = 'https://videos.example/one.mp4'
const ORDER = { model: 'seedance', prompt: 'a cat on the moon', seconds: '5', size: '1280x720' }

const { gateway, vendor, rival } = await withGateway({
  upstreams: ['vendor', 'rival'],
  catalogue: ({ vendor, rival }) => [
    ...putVendor('ark', vendor.url, { kind: 'ark' }),
    ...putVendor('rival', rival.url, { kind: 'ark' }),
    putModel('seedance', { supportFeatures: ['text', 'image', 'video'], pricing: VIDEO_PRICES }),
    putChain({ model: 'seedance', vendor: 'ark', protocol: 'video', forward: 'doubao-seedance-1-0-pro' }),
    putChain({
      model: 'seedance',
      vendor: 'rival',
      protocol: 'video',
      forward: 'doubao-seedance-1-5-pro',
      priority: 2,
    }),
  ],
})
beforeEach(() => {
  vendor.requests.length = 0
  rival.requests.length = 0
  playArk(vendor, { polls: [ARK.running, ARK.done(LINK)] })
  playArk(rival, { polls: [ARK.done(LINK)] })
})

function post(body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  return postJson(`${gateway.baseUrl}/v1/videos`, body, {
    authorization: `Bearer ${gateway.key}`,
    ...headers,
  })
}

function form(fields: Parameters<typeof postForm>[1], headers: Record<string, string> = {}): Promise<Answer> {
  return postForm(`${gateway.baseUrl}/v1/videos`, fields, {
    authorization: `Bearer ${gateway.key}`,
    ...headers,
  })
}

/** The JSON of the create call that reached the vendor. */
function ordered(at: ScriptedUpstream = vendor): Record<string, unknown> {
  const [request] = creates(at)
  if (request === undefined) throw new Error('nothing was ordered')
  return request.json() as Record<string, unknown>
}

describe('a synchronous order', () => {
  test('is answered when the vendor has finished [1-03] [1-07] [3-06] [3-07] [4-08] [4.4-01] [4.4-12] [4.4-13] [4.4-18] [4.4-34] [4.4-39] [4.4-40] [D-video-07]', async () => {
    playArk(vendor, { polls: [ARK.queued, ARK.running, ARK.running, ARK.done(LINK)] })
    const answer = await post(ORDER)
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({ object: 'video', status: 'completed' })
    expect(vendor.requests.map(({ method }) => method)).toEqual(['POST', 'GET', 'GET', 'GET', 'GET'])
    expect(rival.requests).toHaveLength(0)
  })

  test('the object holds the contract’s fields [2.5-01] [2.5-02] [2.5-03] [2.5-04] [2.5-05] [2.5-06] [2.5-07] [2.5-08] [2.5-09] [2.5-10] [2.5-11] [2.5-12] [3-03] [D-video-15] [9-09]', async () => {
    const before = Math.floor(Date.now() / 1000)
    const { body, headers } = await post(ORDER)
    expect(body['id']).toMatch(/^video_[0-9a-f]{36}$/)
    expect(body['id']).not.toContain('cgt')
    expect(body).toMatchObject({
      object: 'video',
      model: 'seedance',
      status: 'completed',
      progress: 100,
      seconds: '5',
      size: '1280x720',
      url: LINK,
      error: null,
    })
    const { created_at: createdAt, completed_at: completedAt, expires_at: expiresAt } = body
    expect(Number.isInteger(createdAt)).toBe(true)
    expect(createdAt).toBeGreaterThanOrEqual(before)
    expect(completedAt).toBeGreaterThanOrEqual(Number(createdAt))
    expect(Number(expiresAt) - Number(createdAt)).toBe(86_400)
    expect(headers.get('gw-model')).toBe('seedance')
    expect(headers.get('x-request-id')).not.toBeNull()
  })

  test('`stream` changes nothing: one JSON body [1-65]', async () => {
    const answer = await post({ ...ORDER, stream: true })
    expect(answer.headers.get('content-type')).toBe('application/json')
    expect(answer.body['status']).toBe('completed')
    expect(ordered()).not.toHaveProperty('stream')
  })

  test('the gateway does not end a POST that waits, though every other wait has a bound [4.4-35] [8-05]', async () => {
    // The chat-type deadline is over long before the video is.
    const hasty = await openGateway({ environment: { SLUICE_CALL_DEADLINE_MS: '1000' } })
    await hasty.catalogue(
      ...putVendor('ark', vendor.url, { kind: 'ark' }),
      putModel('seedance', { supportFeatures: ['video'], pricing: VIDEO_PRICES }),
      putChain({ model: 'seedance', vendor: 'ark', protocol: 'video', forward: 'doubao-seedance-1-0-pro' }),
    )
    const until = Date.now() + 1_500
    vendor.answer((request, response) => {
      const task =
        request.method === 'POST' ? { id: 'cgt-1' } : Date.now() > until ? ARK.done(LINK) : ARK.running
      return answerJson(task)(request, response)
    })
    const answer = await postJson(`${hasty.baseUrl}/v1/videos`, ORDER, {
      authorization: `Bearer ${hasty.key}`,
    })
    expect(answer.body['status']).toBe('completed')
    await hasty.close()
  })
})

describe('what the vendor is told', () => {
  test('prompt, seconds and size in the vendor’s own form [4.4-21] [4.4-22] [4.4-26] [4.4-27]', async () => {
    await post({ ...ORDER, seconds: '8' })
    expect(ordered()).toMatchObject({
      model: 'doubao-seedance-1-0-pro',
      content: [{ type: 'text', text: 'a cat on the moon' }],
      duration: 8,
      ratio: '16:9',
      resolution: '720p',
    })
  })

  test('a size that cannot be converted is left out [4.4-28]', async () => {
    const answer = await post({ ...ORDER, size: 'wide' })
    expect(answer.status).toBe(200)
    expect(ordered()).not.toHaveProperty('ratio')
    expect(ordered()).not.toHaveProperty('resolution')
  })

  test('seconds out of range are left to the vendor [4.4-25]', async () => {
    const answer = await post({ ...ORDER, seconds: '400' })
    expect(answer.status).toBe(200)
    expect(ordered()['duration']).toBe(400)
  })

  test('other fields go on as they are [4.4-32] [4.4-33]', async () => {
    await post({ ...ORDER, ratio: '9:16', resolution: '1080p', camera_fixed: true, style: { name: 'noir' } })
    expect(ordered()).toMatchObject({
      ratio: '9:16',
      resolution: '1080p',
      camera_fixed: true,
      style: { name: 'noir' },
    })
  })

  test('addresses the vendor would report to, and other lengths than the billed one, are withheld and told [6-01]', async () => {
    const { headers } = await post({ ...ORDER, callback_url: 'https://evil.example', n: 4, frames: 240 })
    const body = ordered()
    expect(body).not.toHaveProperty('callback_url')
    expect(body).not.toHaveProperty('n')
    expect(body).not.toHaveProperty('frames')
    expect(headers.get('gw-dropped-fields')?.split(',')).toEqual(
      expect.arrayContaining(['callback_url', 'n', 'frames']),
    )
  })

  test('what the vendor lacks is dropped [4.4-36] [4.4-37] [4.4-38]', async () => {
    const answer = await post({
      ...ORDER,
      reference_videos: ['https://videos.example/a.mp4'],
      reference_audios: ['https://videos.example/a.mp3'],
      negative_prompt: 'dogs',
      image_tail: `data:image/png;base64,${PNG.toString('base64')}`,
    })
    expect(answer.status).toBe(200)
    const text = JSON.stringify(ordered())
    for (const lacking of ['a.mp4', 'a.mp3', 'last_frame']) expect(text).not.toContain(lacking)
    expect(answer.headers.get('gw-dropped-fields')).toContain('reference_videos')
  })
})

describe('the first frame', () => {
  const dataUrl = `data:image/png;base64,${PNG.toString('base64')}`

  test('comes as a file of a form, whatever the form calls its type [4.4-14] [4.4-15]', async () => {
    const answer = await form([
      { name: 'model', value: 'seedance' },
      { name: 'prompt', value: 'a cat' },
      { name: 'input_reference', value: PNG },
    ])
    expect(answer.status).toBe(200)
    expect(frameOf(ordered())).toBe(dataUrl)
  })

  test('comes as a data: URL in JSON [4.4-30]', async () => {
    await post({ ...ORDER, input_reference: dataUrl })
    expect(frameOf(ordered())).toBe(dataUrl)
  })

  test('comes as a public URL in JSON [4.4-29]', async () => {
    await post({ ...ORDER, input_reference: 'https://images.example/cat.png' })
    expect(frameOf(ordered())).toBe('https://images.example/cat.png')
  })

  test.each([
    ['an object, as the official SDK sends it', { image_url: dataUrl }],
    ['an object within an object', { image_url: { url: dataUrl } }],
    ['bare base64', PNG.toString('base64')],
  ])('comes as %s', async (_name, reference) => {
    await post({ ...ORDER, input_reference: reference })
    expect(frameOf(ordered())).toBe(dataUrl)
  })

  test.each([
    ['a file id', { file_id: 'file-1' }],
    ['a path', 'C:\\cat.png'],
    ['an empty data: URL', 'data:image/png;base64,'],
    ['a data: URL without base64', 'data:text/plain,hello'],
  ])('%s is refused with 400/40000 before anything is ordered', async (_name, reference) => {
    const answer = await post({ ...ORDER, input_reference: reference })
    expect(answer).toMatchObject({ status: 400, body: { code: 40000 } })
    expect(answer.body.message).toContain('input_reference')
    expect(creates(vendor)).toHaveLength(0)
  })
})

describe('a form', () => {
  test('without a file is text to video [D-video-30]', async () => {
    const answer = await form([
      { name: 'model', value: 'seedance' },
      { name: 'prompt', value: 'a cat' },
      { name: 'seconds', value: '4' },
      { name: 'size', value: '720x1280' },
    ])
    expect(answer).toMatchObject({ status: 200, body: { seconds: '4', size: '720x1280' } })
    expect(ordered()).toMatchObject({ duration: 4, ratio: '9:16', content: [{ type: 'text' }] })
  })

  test('names in brackets are objects and arrays, and known fields get their type back', async () => {
    await form([
      { name: 'model', value: 'seedance' },
      { name: 'prompt', value: 'a cat' },
      { name: 'input_reference[image_url]', value: 'https://images.example/cat.png' },
      { name: 'nested[list][]', value: 'one' },
      { name: 'nested[list][]', value: 'two' },
      { name: 'seed', value: '7' },
      { name: 'watermark', value: 'false' },
    ])
    const body = ordered()
    expect(frameOf(body)).toBe('https://images.example/cat.png')
    expect(body).toMatchObject({ nested: { list: ['one', 'two'] }, seed: 7, watermark: false })
  })
})

describe('routing', () => {
  test('Gw-Vendor-Code pins the provider against priority [1-45] [4.4-11]', async () => {
    const answer = await post(ORDER, { 'gw-vendor-code': 'rival' })
    expect(answer.status).toBe(200)
    expect(creates(vendor)).toHaveLength(0)
    expect(ordered(rival)['model']).toBe('doubao-seedance-1-5-pro')
    const { attempts } = await gateway.lastLog()
    expect(attempts).toMatchObject([{ vendorCode: 'rival', why: 'pinned' }])
  })

  test('a pinned provider that nobody knows is 502/50201', async () => {
    const answer = await post(ORDER, { 'gw-vendor-code': 'nobody' })
    expect(answer).toMatchObject({ status: 502, body: { code: 50201 } })
    expect(creates(vendor)).toHaveLength(0)
  })

  test('Gw-App-Id and Gw-Custom-Id stand in the log [4.4-08] [4.4-10]', async () => {
    await post({ ...ORDER, user: 'u-1' }, { 'gw-app-id': 'studio', 'gw-custom-id': 'job-7' })
    expect(await gateway.lastLog()).toMatchObject({
      appId: 'studio',
      customId: 'job-7',
      user: 'u-1',
      endpoint: '/v1/videos',
      clientProtocol: 'video',
      upstreamProtocol: 'video',
      vendorCode: 'ark',
    })
  })

  test('without Gw-App-Id the User-Agent names the application [4.4-09]', async () => {
    await post(ORDER, { 'user-agent': 'VideoMaker/2.1 (linux)' })
    expect((await gateway.lastLog()).appId).toBe('VideoMaker')
  })
})

describe('Prefer: respond-async', () => {
  test('answers 202 with a queued object before the vendor has finished [D-video-05] [D-video-06] [D-video-01]', async () => {
    let release: (() => void) | undefined
    vendor.answer(async (request, response) => {
      if (request.method === 'POST') {
        await new Promise<void>((resolve) => {
          release = resolve
        })
        return answerJson({ id: 'cgt-1' })(request, response)
      }
      return answerJson(ARK.done(LINK))(request, response)
    })
    const answer = await post(ORDER, { prefer: 'respond-async' })
    expect(answer.status).toBe(202)
    expect(answer.body).toMatchObject({ object: 'video', status: 'queued', progress: 0, url: null })
    expect(Number(answer.headers.get('openai-poll-after-ms'))).toBeGreaterThan(0)
    await eventually(() => release !== undefined)
    release?.()
    await gateway.videosEnded()
    const read = await get(`${gateway.baseUrl}/v1/videos/${String(answer.body['id'])}`, {
      authorization: `Bearer ${gateway.key}`,
    })
    expect(read.body).toMatchObject({ status: 'completed', url: LINK })
  })
})

describe('a client that goes away', () => {
  test('gets its video made and billed all the same [3-18] [3-19]', async () => {
    const before = (await gateway.account()).credits
    const gone = new AbortController()
    const posted = fetch(`${gateway.baseUrl}/v1/videos`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(ORDER),
      signal: gone.signal,
    }).catch((error: unknown) => error)
    let finish: (() => void | Promise<void>) | undefined
    vendor.answer((request, response) => {
      finish = () => {
        playArk(vendor, { polls: [ARK.running, ARK.done(LINK)] })
        return answerJson({ id: 'cgt-1' })(request, response)
      }
    })
    await eventually(() => finish !== undefined)
    gone.abort()
    await posted
    await finish?.()
    await gateway.videosEnded()
    const log = await gateway.lastLog()
    expect(log).toMatchObject({ httpStatus: 200, ending: 'complete', clientGone: true })
    expect(before - (await gateway.account()).credits).toBe(2_500_000_000n)
  })
})

function frameOf(body: Record<string, unknown>): unknown {
  const content = body['content'] as readonly { role?: string; image_url?: { url: string } }[]
  return content.find(({ image_url: image }) => image !== undefined)?.image_url?.url
}
