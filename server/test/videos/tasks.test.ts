/** Reading, listing, removing and expiring tasks. */
import { DAY_MS } from '../../src/core/durations.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import { type Answer, get, postJson, readAnswer } from '../gateway/client.ts'
import { putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { ARK, eventually, sampleVideo, playArk, playSora, VIDEO_PRICES } from '../gateway/videos.ts'
import { withGateway } from '../gateway/with-gateway.ts'

const ORDER = { model: 'seedance', prompt: 'a cat on the moon', seconds: '5' }

/** Moves the gateway's clock. */
let aheadMs = 0

const { gateway, ark, sora } = await withGateway({
  upstreams: ['ark', 'sora'],
  now: () => Date.now() + aheadMs,
  catalogue: ({ ark, sora }) => [
    ...putVendor('ark', ark.url, { kind: 'ark' }),
    ...putVendor('sora', sora.url, { kind: 'openai-compatible' }),
    putModel('seedance', { supportFeatures: ['video'], pricing: VIDEO_PRICES }),
    putChain({ model: 'seedance', vendor: 'ark', protocol: 'video', forward: 'seedance-1-0-pro' }),
    putModel('sora-2', { supportFeatures: ['video'], pricing: VIDEO_PRICES }),
    putChain({ model: 'sora-2', vendor: 'sora', protocol: 'video', forward: 'sora-2' }),
  ],
})
beforeEach(() => {
  aheadMs = 0
  ark.requests.length = 0
  sora.requests.length = 0
  playArk(ark, { polls: [ARK.done('https://videos.example/one.mp4')] })
  playSora(sora, sampleVideo(1))
})

const bearer = (key = gateway.key) => ({ authorization: `Bearer ${key}` })

function post(body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  return postJson(`${gateway.baseUrl}/v1/videos`, body, { ...bearer(), ...headers })
}

const read = (id: string, key = gateway.key) => get(`${gateway.baseUrl}/v1/videos/${id}`, bearer(key))
const content = (id: string, key = gateway.key) =>
  get(`${gateway.baseUrl}/v1/videos/${id}/content`, bearer(key))

async function remove(id: string, key = gateway.key): Promise<Answer> {
  return readAnswer(
    await fetch(`${gateway.baseUrl}/v1/videos/${id}`, { method: 'DELETE', headers: bearer(key) }),
  )
}

async function made(order: unknown = ORDER): Promise<string> {
  const { body } = await post(order)
  return String(body['id'])
}

/** A task that stays in progress until the returned function is called. */
async function running(): Promise<{ readonly id: string; finish(): Promise<void> }> {
  playArk(ark, { polls: [ARK.running] })
  const { body } = await post(ORDER, { prefer: 'respond-async' })
  const id = String(body['id'])
  await eventually(async () => (await read(id)).body['status'] === 'in_progress')
  return {
    id,
    async finish() {
      playArk(ark, { polls: [ARK.done('https://videos.example/one.mp4')] })
      await gateway.videosEnded()
    },
  }
}

describe('a finished task', () => {
  test('is read from its record, and nobody upstream is asked [1-08] [3-09] [4.4-02] [4.4-41] [4.4-44] [D-video-03]', async () => {
    const { body } = await post(ORDER)
    const asked = ark.requests.length
    const answer = await read(String(body['id']))
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual(body)
    expect(ark.requests).toHaveLength(asked)
  })

  test('is removed here and nowhere else, and nothing is refunded [1-10] [2.5-15] [3-11] [3-12] [3-13] [4.4-05]', async () => {
    const id = await made()
    const { credits } = await gateway.account()
    const asked = ark.requests.length
    const answer = await remove(id)
    expect(answer).toMatchObject({ status: 200, body: { id, object: 'video.deleted', deleted: true } })
    expect(await read(id)).toMatchObject({ status: 404, body: { code: 40402 } })
    expect(ark.requests).toHaveLength(asked)
    expect((await gateway.account()).credits).toBe(credits)
  })

  test('takes its stored bytes along when it is removed', async () => {
    const { body } = await post({ ...ORDER, model: 'sora-2' })
    expect((await fetch(String(body['url']))).status).toBe(200)
    await remove(String(body['id']))
    expect((await fetch(String(body['url']))).status).toBe(404)
  })
})

describe('a task belongs to one key', () => {
  test.each<[name: string, ask: (id: string, key: string) => Promise<Answer>]>([
    ['GET [2.5-16]', read],
    ['content [2.5-17]', content],
    ['DELETE [2.5-18]', remove],
  ])(
    '%s with another key of the same account is 404/40402, and the record remains [7.1-18]',
    async (_name, ask) => {
      const id = await made()
      const { key } = await gateway.newKey(gateway.accountId)
      expect(await ask(id, key)).toMatchObject({ status: 404, body: { code: 40402 } })
      expect((await read(id)).status).toBe(200)
    },
  )

  test.each<[name: string, ask: (id: string) => Promise<Answer>]>([
    ['GET', read],
    ['content', content],
    ['DELETE', remove],
  ])('%s of an id that never was is 404/40402 [7.1-16]', async (_name, ask) => {
    expect(await ask('video_0123456789')).toMatchObject({ status: 404, body: { code: 40402 } })
  })
})

describe('a running task', () => {
  test('shows progress, gives no bytes and cannot be removed [3-04] [D-video-02] [3-16] [3-17] [7.1-19] [D-video-28]', async () => {
    const { id, finish } = await running()
    expect(await read(id)).toMatchObject({ status: 200, body: { status: 'in_progress', url: null } })
    expect(await content(id)).toMatchObject({ status: 409, body: { code: 40000 } })
    expect(await remove(id)).toMatchObject({ status: 409, body: { code: 40000 } })
    await finish()
    expect(await read(id)).toMatchObject({ body: { status: 'completed' } })
  })
})

describe('a failed task', () => {
  async function failed(): Promise<string> {
    playArk(ark, { polls: [ARK.failed] })
    await post(ORDER)
    const { body } = await get(`${gateway.baseUrl}/v1/videos?limit=1`, bearer())
    return String((body.data as readonly { id: string }[])[0]?.id)
  }

  test('gives its error instead of bytes [D-video-31]', async () => {
    const answer = await content(await failed())
    expect(answer).toMatchObject({ status: 409, body: { code: 40000 } })
    expect(answer.body.message).toContain('the kiln broke')
  })

  test('may be removed [D-video-32]', async () => {
    const id = await failed()
    expect(await remove(id)).toMatchObject({ status: 200, body: { deleted: true } })
    expect((await read(id)).status).toBe(404)
  })
})

describe('24 hours', () => {
  test('a record is readable until just before [8-03]', async () => {
    const id = await made()
    aheadMs = DAY_MS - 5_000
    expect((await read(id)).status).toBe(200)
  })

  test.each<[name: string, ask: (id: string) => Promise<Answer>]>([
    ['GET [3-14]', read],
    ['content [3-15]', content],
    ['DELETE', remove],
  ])('%s answers 404/40402 afterwards [7.1-17] [8-04] [D-video-33]', async (_name, ask) => {
    const id = await made()
    aheadMs = DAY_MS + 1_000
    expect(await ask(id)).toMatchObject({ status: 404, body: { code: 40402 } })
  })

  test('a link of ours ends with its record [D-video-17]', async () => {
    const { body } = await post({ ...ORDER, model: 'sora-2' })
    expect((await fetch(String(body['url']))).status).toBe(200)
    aheadMs = DAY_MS + 1_000
    const answer = await readAnswer(await fetch(String(body['url'])))
    expect(answer).toMatchObject({ status: 403, body: { code: 40306 } })
  })
})

describe('the list', () => {
  test('holds the key’s own tasks, newest first, page by page', async () => {
    const { key } = await gateway.newKey(gateway.accountId)
    const own = async (order: unknown): Promise<string> =>
      String((await postJson(`${gateway.baseUrl}/v1/videos`, order, bearer(key))).body['id'])
    const ids = [await own(ORDER), await own(ORDER), await own(ORDER)].reverse()
    const page = (query: string) => get(`${gateway.baseUrl}/v1/videos?${query}`, bearer(key))
    const whole = await page('')
    expect(whole.body).toMatchObject({ object: 'list', has_more: false, first_id: ids[0], last_id: ids[2] })
    expect(idsOf(whole)).toEqual(ids)
    const first = await page('limit=2')
    expect(idsOf(first)).toEqual(ids.slice(0, 2))
    expect(first.body['has_more']).toBe(true)
    expect(idsOf(await page(`limit=2&after=${String(ids[1])}`))).toEqual(ids.slice(2))
    expect(idsOf(await page('order=asc'))).toEqual([...ids].reverse())
    aheadMs = DAY_MS + 1_000
    expect(idsOf(await page(''))).toEqual([])
  })

  test.each(['limit=0', 'limit=many', 'order=sideways', 'after=video_nobody'])(
    '?%s is 400/40000',
    async (query) => {
      expect(await get(`${gateway.baseUrl}/v1/videos?${query}`, bearer())).toMatchObject({
        status: 400,
        body: { code: 40000 },
      })
    },
  )
})

function idsOf(answer: Answer): readonly string[] {
  return (answer.body.data as readonly { id: string }[]).map(({ id }) => id)
}

describe('paths and methods', () => {
  test('PUT is 405 and names what is taken', async () => {
    const answer = await readAnswer(await fetch(`${gateway.baseUrl}/v1/videos/video_1`, { method: 'PUT' }))
    expect(answer).toMatchObject({ status: 405, body: { code: 40500 } })
    expect(answer.headers.get('allow')).toBe('GET, DELETE')
  })

  test.each(['/v1/videos/video_1/remix', '/v1/videos/a/b/c', '/media/../secret.key'])(
    '%s does not exist',
    async (path) => {
      const answer = await readAnswer(await fetch(`${gateway.baseUrl}${path}`, { headers: bearer() }))
      expect(answer).toMatchObject({ status: 404, body: { error: { type: 'gateway_error' } } })
    },
  )

  test('the gateway address has no videos [D-addresses-08]', async () => {
    const answer = await postJson(`${gateway.gatewayUrl}/v1/videos`, ORDER, bearer())
    expect(answer).toMatchObject({ status: 404, body: { code: 40400 } })
  })
})
