/** Orders that are not let in, and the limits of keys. */
import { beforeEach, describe, expect, test } from 'vitest'
import { type Answer, postJson, readAnswer, sendRaw } from '../gateway/client.ts'
import { putChain, putGroup, putModel, putVendor } from '../gateway/gateway.ts'
import {
  ARK,
  creates,
  eventually,
  type FormField,
  playArk,
  postForm,
  VIDEO_PRICES,
} from '../gateway/videos.ts'
import { modelId } from '../../src/core/ids.ts'
import type { Policy } from '../../src/core/limits/policy.ts'
import { withGateway } from '../gateway/with-gateway.ts'

const LINK = 'https://videos.example/one.mp4'
const ORDER = { model: 'seedance', prompt: 'a cat on the moon', seconds: '5' }
const HOUR = 3_600

const video = { supportFeatures: ['video'] as const, pricing: VIDEO_PRICES }
const { gateway, vendor } = await withGateway({
  upstreams: ['vendor'],
  catalogue: ({ vendor }) => [
    ...putVendor('ark', vendor.url, { kind: 'ark' }),
    putModel('seedance', video),
    putChain({ model: 'seedance', vendor: 'ark', protocol: 'video', forward: 'seedance-1-0-pro' }),
    putModel('chatty', { supportFeatures: ['text'], requiredPlan: 3 }),
    putChain({ model: 'chatty', vendor: 'ark', protocol: 'chat' }),
    putModel('watcher', { supportFeatures: ['text', 'video'] }),
    putChain({ model: 'watcher', vendor: 'ark', protocol: 'chat' }),
    putModel('resting', { ...video, status: 'maintenance' }),
    putChain({ model: 'resting', vendor: 'ark', protocol: 'video' }),
    putModel('noble', { ...video, requiredPlan: 2 }),
    putChain({ model: 'noble', vendor: 'ark', protocol: 'video' }),
    putModel('off', video),
    putChain({ model: 'off', vendor: 'ark', protocol: 'video', status: 'disabled' }),
    putGroup({ name: 'talkers', protocol: 'chat', models: ['seedance'] }),
  ],
})

beforeEach(() => {
  vendor.requests.length = 0
  playArk(vendor, { polls: [ARK.done(LINK)] })
})

const url = () => `${gateway.baseUrl}/v1/videos`

function post(body: unknown, key = gateway.key, headers: Record<string, string> = {}): Promise<Answer> {
  return postJson(url(), body, { authorization: `Bearer ${key}`, ...headers })
}

function form(fields: readonly FormField[]): Promise<Answer> {
  return postForm(url(), fields, { authorization: `Bearer ${gateway.key}` })
}

function said({ status, body }: Answer): readonly unknown[] {
  return [status, body.code]
}

const field = (name: string, value: string): FormField => ({ name, value })

describe('the body', () => {
  test.each<[name: string, send: () => Promise<Answer>, code: readonly unknown[]]>([
    ['an empty one [7.1-05]', () => post(''), [400, 40003]],
    ['one that is no JSON [7.1-01]', () => post('{"model":'), [400, 40000]],
    ['one that is no object', () => post([ORDER]), [400, 40000]],
    ['one without a prompt [4.4-20] [7.1-02]', () => post({ model: 'seedance' }), [400, 40000]],
    ['one with an empty prompt', () => post({ ...ORDER, prompt: '  ' }), [400, 40000]],
    ['a form without a prompt [4.4-20] [7.1-02]', () => form([field('model', 'seedance')]), [400, 40000]],
    ['one without a model [4.4-16] [7.1-03]', () => post({ prompt: 'a cat' }), [400, 40002]],
    ['a form without a model [4.4-17] [7.1-04]', () => form([field('prompt', 'a cat')]), [400, 40002]],
    [
      'a form that is cut [7.1-06]',
      () =>
        raw(
          'multipart/form-data; boundary=x',
          '--x\r\nContent-Disposition: form-data; name="prompt"\r\n\r\na c',
        ),
      [400, 40003],
    ],
    [
      'a form of other boundaries [7.1-06]',
      () => raw('multipart/form-data; boundary=x', 'no form at all'),
      [400, 40003],
    ],
    ['a form that names no boundary [7.1-06]', () => raw('multipart/form-data', 'anything'), [400, 40003]],
    ['an empty form', () => raw('multipart/form-data; boundary=x', ''), [400, 40003]],
  ])('%s', async (_name, send, code) => {
    const answer = await send()
    expect(said(answer)).toEqual(code)
    expect(answer.body.error?.type).toBe('gateway_error')
    expect(creates(vendor)).toHaveLength(0)
  })

  test.each(['application/json', 'multipart/form-data; boundary=x'])(
    'of %s and more than 100 MiB is 413/41301, told before it is read [7.1-21]',
    async (type) => {
      const answer = await sendRaw(url(), {
        headers: {
          authorization: `Bearer ${gateway.key}`,
          'content-type': type,
          'content-length': String(100 * 1024 * 1024 + 1),
        },
        unfinished: true,
      })
      expect(said(answer)).toEqual([413, 41301])
    },
  )

  test('a form with a thousand parts is refused, not kept', async () => {
    const parts = Array.from({ length: 1_000 }, (_, index) => field(`part-${index}`, 'x'))
    expect(said(await form([field('model', 'seedance'), field('prompt', 'a cat'), ...parts]))).toEqual([
      400, 40003,
    ])
  })

  function raw(type: string, body: string): Promise<Answer> {
    return sendRaw(url(), {
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': type },
      pieces: body === '' ? [] : [body],
    })
  }
})

describe('the key', () => {
  test.each([
    'POST /v1/videos',
    'GET /v1/videos',
    'GET /v1/videos/video_1',
    'GET /v1/videos/video_1/content',
    'DELETE /v1/videos/video_1',
  ])('of %s is the bearer and nothing else [4.4-06] [4.4-07] [5-07]', async (line) => {
    const [method = '', path = ''] = line.split(' ')
    const headers = ['x-api-key', 'x-goog-api-key'].map((name) => ({ [name]: gateway.key }))
    for (const sent of [{}, { authorization: 'Bearer' }, ...headers] as readonly Record<string, string>[]) {
      const answer = await readAnswer(await fetch(`${gateway.baseUrl}${path}`, { method, headers: sent }))
      expect(said(answer)).toEqual([401, 40001])
    }
  })

  test('unknown and disabled ones are told apart [7.1-08] [7.1-10]', async () => {
    expect(said(await post(ORDER, 'sk-gateway-nobody'))).toEqual([401, 40101])
    const { key, keyId } = await gateway.newKey(gateway.accountId)
    await gateway.storage.keys.patch(keyId, { status: 'disabled' })
    await eventually(async () => said(await post(ORDER, key))[1] === 40102)
    const read = await readAnswer(
      await fetch(`${url()}/video_1`, { headers: { authorization: `Bearer ${key}` } }),
    )
    expect(said(read)).toEqual([401, 40102])
  })

  test('that may not call the model is 403/40302', async () => {
    const { key } = await gateway.newKey(gateway.accountId, { models: [modelId('chatty')] })
    expect(said(await post(ORDER, key))).toEqual([403, 40302])
  })

  test('that is bound to another protocol’s group is 403/40301', async () => {
    const { key } = await gateway.newKey(gateway.accountId, { group: 'talkers' })
    expect(said(await post(ORDER, key))).toEqual([403, 40301])
  })
})

describe('the model', () => {
  test.each([
    [
      'a chat model, though its plan would be asked for first [4.4-19] [7.1-15] [D-admission-05]',
      'chatty',
      [404, 40401],
    ],
    ['a chat model that takes videos in', 'watcher', [404, 40401]],
    ['one that nobody knows [D-errors-41]', 'nobody', [404, 40401]],
    ['one under maintenance', 'resting', [404, 40401]],
    ['one whose chains are switched off [7.1-32]', 'off', [502, 50201]],
    ['one of a plan the account does not have [7.1-14]', 'noble', [403, 40203]],
  ])('%s', async (_name, model, code) => {
    expect(said(await post({ ...ORDER, model }))).toEqual(code)
    expect(creates(vendor)).toHaveLength(0)
  })
})

test('a chat model says where it is called', async () => {
  const { body } = await post({ ...ORDER, model: 'chatty' })
  expect(body.message).toBe('this model is not a video model: call it at /v1/chat/completions')
})

describe('the account', () => {
  test('without any right to call is 403/40202 [7.1-13]', async () => {
    const { key } = await gateway.newAccount({ credits: 0 })
    expect(said(await post(ORDER, key))).toEqual([403, 40202])
  })

  test('that cannot pay for the declared seconds is 403/40202, whatever the seconds', async () => {
    const { key } = await gateway.newAccount({ credits: 2_499 })
    expect(said(await post(ORDER, key))).toEqual([403, 40202])
    expect(said(await post({ ...ORDER, seconds: '999999999' }, key))).toEqual([403, 40202])
    expect(said(await post({ ...ORDER, seconds: '4' }, key))).toEqual([200, undefined])
  })
})

describe('the limits of a key', () => {
  const limited = async (policy: Partial<Policy>): Promise<string> =>
    (await gateway.newKey(gateway.accountId, { policy: { concurrency: undefined, windows: [], ...policy } }))
      .key
  const windowOf = (dimension: 'videos' | 'video_seconds', limit: number): Partial<Policy> => ({
    windows: [{ dimension, limit, seconds: HOUR }],
  })

  test('a video too many is 429/42902 with the fixed message [2.6-11] [7.1-26] [7.1-28] [D-errors-11]', async () => {
    const key = await limited(windowOf('videos', 1))
    expect(said(await post(ORDER, key))).toEqual([200, undefined])
    const refused = await post(ORDER, key)
    expect(refused.body.error).toMatchObject({
      message: expect.stringContaining(`the key may use 1 video in ${HOUR} seconds;`),
    })
    expect(refused).toMatchObject({ status: 429, body: { code: 42902, message: 'rpm limit exceeded' } })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(HOUR - 60)
  })

  test('seconds beyond the window are 429/42910 [2.6-13] [7.1-30] [D-errors-18] [D-admission-17]', async () => {
    const key = await limited(windowOf('video_seconds', 8))
    expect(said(await post(ORDER, key))).toEqual([200, undefined])
    const refused = await post(ORDER, key)
    expect(said(refused)).toEqual([429, 42910])
    expect(refused.headers.get('retry-after')).not.toBeNull()
    expect(said(await post({ ...ORDER, seconds: '3' }, key))).toEqual([200, undefined])
  })

  test('of an account answer with the code of the dimension too [D-admission-28]', async () => {
    const policyOf = (dimension: 'videos' | 'video_seconds', limit: number): Policy => ({
      concurrency: undefined,
      windows: [{ dimension, limit, seconds: HOUR }],
    })
    const { id, key } = await gateway.newAccount({ policy: policyOf('video_seconds', 8) })
    expect(said(await post(ORDER, key))).toEqual([200, undefined])
    expect(said(await post(ORDER, key))).toEqual([429, 42910])
    await gateway.storage.accounts.patch(id, { policy: policyOf('videos', 0) })
    expect(said(await post(ORDER, key))).toEqual([429, 42902])
  })

  test.each([
    ['count [D-admission-14]', () => windowOf('videos', 1), 42902],
    ['seconds [D-admission-18]', () => windowOf('video_seconds', 8), 42910],
    ['slot [7.1-22] [7.1-23]', () => ({ concurrency: 1 }), 42901],
  ])('the %s is taken while the first video still runs', async (_name, policy, code) => {
    const key = await limited(policy())
    playArk(vendor, { polls: [ARK.running] })
    const first = await post(ORDER, key, { prefer: 'respond-async' })
    expect(first.status).toBe(202)
    await eventually(() => creates(vendor).length === 1)
    expect(said(await post(ORDER, key))).toEqual([429, code])
    playArk(vendor, { polls: [ARK.done(LINK)] })
    await gateway.videosEnded()
  })

  test.each([
    ['count', windowOf('videos', 1)],
    ['seconds', windowOf('video_seconds', 5)],
    ['slot', { concurrency: 1 }],
  ])('the %s is given back when the task fails [D-admission-19]', async (_name, policy) => {
    const key = await limited(policy)
    playArk(vendor, { polls: [ARK.running, ARK.failed] })
    expect((await post(ORDER, key)).status).toBe(502)
    playArk(vendor, { polls: [ARK.done(LINK)] })
    expect(said(await post(ORDER, key))).toEqual([200, undefined])
  })
})
