import { describe, expect, test } from 'vitest'
import type { VideoRequest } from '../../core/video/request.ts'
import {
  at,
  contextOf,
  type Order,
  PNG,
  PNG_BASE64,
  play,
  reply,
  submitted,
  submittedBody,
} from '../video-forms/testing/order.ts'
import { xaiVideo } from './video.ts'

const BASE = 'https://api.x.ai/v1'
const FIRST: Order = { model: 'grok-imagine-video', baseUrl: BASE }
const NEWER: Order = { model: 'grok-imagine-video-1.5', baseUrl: BASE }
const PICTURE = 'https://cdn.example/kite.png'

describe('what Grok is sent', () => {
  test('an order in words', () => {
    const { request, state, dropped } = submitted(xaiVideo, {
      ...FIRST,
      request: { seconds: '6', size: { width: 720, height: 1280 }, extras: { user: 'someone' } },
    })
    expect(request).toMatchObject({ method: 'POST', url: `${BASE}/videos/generations` })
    expect(JSON.parse(String(request.body))).toEqual({
      model: 'grok-imagine-video',
      prompt: 'a red kite',
      duration: 6,
      aspect_ratio: '9:16',
      resolution: '720p',
      user: 'someone',
    })
    expect([state, dropped]).toEqual([{}, []])
  })

  test.each<[string, Order, Partial<VideoRequest>, object]>([
    ['no seconds are the default, said outright', FIRST, {}, { duration: 8 }],
    ['seconds out of range go on as they are [4.4-25]', FIRST, { seconds: '77' }, { duration: 77 }],
    ['a small size', FIRST, size(854, 480), { aspect_ratio: '16:9', resolution: '480p' }],
    ['a full size is one step lower', FIRST, size(1920, 1080), { aspect_ratio: '16:9', resolution: '720p' }],
    ['1.5 has full pictures', NEWER, size(1920, 1080), { aspect_ratio: '16:9', resolution: '1080p' }],
    [
      'but not from references',
      NEWER,
      { ...size(1920, 1080), referenceImages: [PNG] },
      { resolution: '720p' },
    ],
    ['a square', FIRST, size(1024, 1024), { aspect_ratio: '1:1', resolution: '720p' }],
    [
      'explicit ones win',
      FIRST,
      { ...size(1280, 720), ratio: '2:3', resolution: '1080P' },
      { aspect_ratio: '2:3', resolution: '1080p' },
    ],
    ['a first frame by address [4.4-33]', FIRST, { firstFrame: at(PICTURE) }, { image: { url: PICTURE } }],
    [
      'references [4.4-33]',
      FIRST,
      { referenceImages: [PNG, at(PICTURE)] },
      { reference_images: [{ url: `data:image/png;base64,${PNG_BASE64}` }, { url: PICTURE }] },
    ],
    ['sound [4.4-33]', NEWER, { generateAudio: false }, { generate_audio: false }],
    [
      '1.5: frames beside references [4.4-33]',
      NEWER,
      { firstFrame: at(PICTURE), lastFrame: at(PICTURE), referenceImages: [at(PICTURE)] },
      { image: { url: PICTURE }, last_frame: { url: PICTURE }, reference_images: [{ url: PICTURE }] },
    ],
    ['1.5: a last frame alone', NEWER, { lastFrame: at(PICTURE) }, { last_frame: { url: PICTURE } }],
    [
      'a field nobody knows [4.4-32]',
      FIRST,
      { extras: { storage: { keep: true } } },
      { storage: { keep: true } },
    ],
  ])('%s', (_, given, request, expected) => {
    expect(submittedBody(xaiVideo, { ...given, request })).toMatchObject(expected)
  })

  test('a ratio is not derived beside a picture, which brings its own; one asked for is sent', () => {
    const framed = { firstFrame: PNG, ...size(1280, 720) }
    expect(submittedBody(xaiVideo, { ...FIRST, request: framed })).not.toHaveProperty('aspect_ratio')
    const asked = submittedBody(xaiVideo, { ...FIRST, request: { ...framed, ratio: '1:1' } })
    expect(asked).toMatchObject({ aspect_ratio: '1:1', resolution: '720p' })
  })

  test('what it has no place for is dropped and named [4.4-36] [4.4-37] [4.4-38]', () => {
    const { request, dropped } = submitted(xaiVideo, {
      ...FIRST,
      request: {
        firstFrame: PNG,
        lastFrame: PNG,
        referenceImages: [PNG],
        referenceVideos: ['https://cdn.example/a.mp4'],
        referenceAudios: ['https://cdn.example/a.mp3'],
        negativePrompt: 'text',
        seed: 1,
        watermark: true,
        promptExtend: true,
        extras: { webhook: 'https://client.example', output: { upload_url: 'https://client.example' } },
      },
    })
    expect(Object.keys(JSON.parse(String(request.body)))).toEqual(['model', 'prompt', 'duration', 'image'])
    expect(dropped).toEqual([
      'image_tail',
      'reference_images',
      'reference_videos',
      'reference_audios',
      'negative_prompt',
      'seed',
      'watermark',
      'prompt_extend',
      'webhook',
      'output',
    ])
  })
})

test('the light model takes neither references nor a last frame [4.4-36]', () => {
  const model = 'grok-imagine-video-1.5-lite'
  const request = { lastFrame: PNG, referenceImages: [PNG] }
  expect(submitted(xaiVideo, { model, baseUrl: BASE, request }).dropped).toEqual([
    'image_tail',
    'reference_images',
  ])
})

const ORDERED = reply({ request_id: 'd97415a1' })

describe('what Grok answers', () => {
  test('a task from its order to its link', () => {
    const { steps, sent, last } = play(xaiVideo, FIRST, [
      ORDERED,
      reply(undefined, 202),
      reply({ status: 'pending', progress: 40 }, 202),
      reply({ status: 'pending' }),
      reply({
        status: 'done',
        progress: 100,
        video: { url: 'https://vidgen.x.ai/kite.mp4', duration: 8, respect_moderation: true },
        usage: { cost_in_usd_ticks: 5600000000 },
      }),
    ])
    expect(sent.slice(1)).toEqual(Array.from({ length: 4 }, () => `GET ${BASE}/videos/d97415a1`))
    expect(steps.slice(0, 4).map((step) => step.kind)).toEqual(['poll', 'poll', 'poll', 'poll'])
    expect(steps[2]).toMatchObject({ afterMs: 5_000, progress: 40 })
    expect(last).toMatchObject({
      kind: 'done',
      result: { kind: 'link', url: 'https://vidgen.x.ai/kite.mp4' },
      secondsProduced: 8,
    })
  })

  test.each([
    ['with a link', { url: 'https://vidgen.x.ai/kite.mp4', respect_moderation: false }],
    ['without one', { respect_moderation: false }],
  ])('done, but kept back by moderation, %s', (_, video) => {
    const { last } = play(xaiVideo, FIRST, [ORDERED, reply({ status: 'done', video })])
    expect(last).toMatchObject({ kind: 'failed', failure: { class: 'moderation' } })
  })

  test.each([
    ['invalid_argument', 'invalid'],
    ['permission_denied', 'auth'],
    ['failed_precondition', 'invalid'],
    ['service_unavailable', 'upstream'],
    ['internal_error', 'upstream'],
    ['something_new', 'upstream'],
  ])('a task that failed with %s', (code, kind) => {
    const { last } = play(xaiVideo, FIRST, [
      ORDERED,
      reply({ status: 'failed', error: { code, message: 'no' } }),
    ])
    expect(last).toMatchObject({ kind: 'failed', failure: { class: kind, code, message: 'no' } })
  })

  test('an expired task', () => {
    const { last } = play(xaiVideo, FIRST, [ORDERED, reply({ status: 'expired' })])
    expect(last).toMatchObject({ kind: 'failed', failure: { class: 'expired' } })
  })

  test('a link without a status is a result', () => {
    const { last } = play(xaiVideo, FIRST, [
      ORDERED,
      reply({ video: { url: 'https://vidgen.x.ai/kite.mp4' } }),
    ])
    expect(last.kind).toBe('done')
  })

  test('done without a link makes no sense', () => {
    expect(play(xaiVideo, FIRST, [ORDERED, reply({ status: 'done' })]).last.kind).toBe('unreadable')
  })

  test.each([null, 'oops', {}, [], undefined])('%j as an answer makes no sense', (body) => {
    expect(xaiVideo.accepted(reply(body), contextOf(FIRST, {})).kind).toBe('unreadable')
    expect(xaiVideo.step(reply(body), contextOf(FIRST, { id: '1' })).kind).toBe('unreadable')
  })

  test.each([
    [429, null, 'rate-limited'],
    [400, { code: 'invalid_argument', error: 'no' }, 'request'],
    [401, null, 'auth'],
    [403, { code: 'permission_denied', error: 'no' }, 'auth'],
    [404, null, 'not-found'],
    [422, null, 'request'],
    [503, { code: 'service_unavailable', error: 'no' }, 'overloaded'],
  ])('a call refused with %i is told apart', (status, body, kind) => {
    expect(xaiVideo.classify({ status, headers: {}, body }).kind).toBe(kind)
  })
})

function size(width: number, height: number): Partial<VideoRequest> {
  return { size: { width, height } }
}
