import { describe, expect, test } from 'vitest'
import type { VideoRequest } from '../../core/video/request.ts'
import {
  at,
  bodyOf,
  contextOf,
  type Order,
  PNG,
  PNG_BASE64,
  play,
  reply,
  submitted,
  submittedBody,
} from '../video-forms/testing/order.ts'
import { jimengVideo } from './video.ts'

const BASE = 'https://visual.volcengineapi.com'
const SUBMIT = `${BASE}/?Action=CVSync2AsyncSubmitTask&Version=2022-08-31`
const RESULT = `${BASE}/?Action=CVSync2AsyncGetResult&Version=2022-08-31`
const V30: Order = { model: 'jimeng_t2v_v30', baseUrl: BASE }

describe('what Jimeng is sent', () => {
  test('is signed with a key pair', () => {
    expect(jimengVideo.auth).toEqual({ kind: 'volc-hmac', service: 'cv', region: 'cn-north-1' })
  })

  test('an order in words', () => {
    const { request, state, dropped } = submitted(jimengVideo, {
      ...V30,
      request: { seconds: '10', size: { width: 720, height: 1280 }, seed: 7 },
    })
    expect(request).toMatchObject({ method: 'POST', url: SUBMIT })
    expect(bodyOf(request)).toEqual({
      req_key: 'jimeng_t2v_v30',
      prompt: 'a red kite',
      frames: 241,
      aspect_ratio: '9:16',
      seed: 7,
    })
    expect([state, dropped]).toEqual([{ key: 'jimeng_t2v_v30' }, []])
  })

  test.each<[string, string, Partial<VideoRequest>, object]>([
    ['no seconds are five, said in pictures', 'jimeng_t2v_v30', {}, { frames: 121 }],
    [
      'a full size has another key',
      'jimeng_t2v_v30',
      size(1920, 1080),
      { req_key: 'jimeng_t2v_v30_1080p', aspect_ratio: '16:9' },
    ],
    ['so has a resolution', 'jimeng_t2v_v30', { resolution: '1080P' }, { req_key: 'jimeng_t2v_v30_1080p' }],
    [
      'a small size has the smaller one',
      'jimeng_t2v_v30_1080p',
      size(854, 480),
      { req_key: 'jimeng_t2v_v30' },
    ],
    ['nothing said keeps the chain’s', 'jimeng_t2v_v30_1080p', {}, { req_key: 'jimeng_t2v_v30_1080p' }],
    ['very wide', 'jimeng_t2v_v30', size(1470, 630), { aspect_ratio: '21:9' }],
    [
      'an explicit ratio wins',
      'jimeng_t2v_v30',
      { ...size(1280, 720), ratio: '3:4' },
      { aspect_ratio: '3:4' },
    ],
    [
      'a first frame, bare [4.4-33]',
      'jimeng_t2v_v30',
      { firstFrame: PNG },
      { req_key: 'jimeng_i2v_first_v30', binary_data_base64: [PNG_BASE64] },
    ],
    [
      'both frames [4.4-33]',
      'jimeng_i2v_first_v30_1080',
      { firstFrame: PNG, lastFrame: PNG },
      { req_key: 'jimeng_i2v_first_tail_v30_1080', binary_data_base64: [PNG_BASE64, PNG_BASE64] },
    ],
    ['words for a key of pictures', 'jimeng_i2v_first_tail_v30', {}, { req_key: 'jimeng_t2v_v30' }],
    [
      'the larger model has one key for both',
      'jimeng_ti2v_v30_pro',
      { firstFrame: PNG },
      { req_key: 'jimeng_ti2v_v30_pro', binary_data_base64: [PNG_BASE64] },
    ],
    [
      'pictures by address',
      'jimeng_t2v_v30',
      { firstFrame: at('https://cdn.example/kite.png') },
      { image_urls: ['https://cdn.example/kite.png'] },
    ],
    ['a field nobody knows [4.4-32]', 'jimeng_t2v_v30', { extras: { camera: 'pan' } }, { camera: 'pan' }],
  ])('%s', (_, model, request, expected) => {
    expect(submittedBody(jimengVideo, { model, baseUrl: BASE, request })).toMatchObject(expected)
  })

  test.each<[string, string, Partial<VideoRequest>, readonly string[]]>([
    ['a length that is neither five nor ten', 'jimeng_t2v_v30', { seconds: '7' }, ['seconds']],
    ['a length that is no number', 'jimeng_t2v_v30', { seconds: 'long' }, ['seconds']],
    ['a tail without a first frame', 'jimeng_t2v_v30', { lastFrame: PNG }, ['image_tail']],
    [
      'a tail where there is one frame',
      'jimeng_ti2v_v30_pro',
      { firstFrame: PNG, lastFrame: PNG },
      ['image_tail'],
    ],
    ['pictures for a key of words', 'jimeng_vgfm_t2v_l20', { firstFrame: PNG }, ['input_reference']],
    ['a ratio beside a picture', 'jimeng_t2v_v30', { firstFrame: PNG, ratio: '1:1' }, ['ratio']],
    ['a resolution it has no key for', 'jimeng_t2v_v30', { resolution: '4k' }, ['resolution']],
    [
      'what it cannot do',
      'jimeng_t2v_v30',
      { referenceImages: [PNG], negativePrompt: 'text', generateAudio: true, watermark: true },
      ['reference_images', 'negative_prompt', 'generate_audio', 'watermark'],
    ],
    ['a length in pictures', 'jimeng_t2v_v30', { extras: { frames: 241 } }, ['frames']],
  ])('dropped and named: %s [4.4-36]', (_, model, request, dropped) => {
    expect(submitted(jimengVideo, { model, baseUrl: BASE, request }).dropped).toEqual(dropped)
  })
})

const ORDERED = reply({
  code: 10000,
  data: { task_id: '7491' },
  message: 'Success',
  request_id: 'r1',
  status: 10000,
})

function answer(status: string, rest: { code?: number; video_url?: string } = {}): ReturnType<typeof reply> {
  const { code = 10000, video_url } = rest
  const data = { status, ...(video_url === undefined ? {} : { video_url }) }
  return reply({ code, data, message: code === 10000 ? 'Success' : 'no', request_id: 'r2', status: code })
}

describe('what Jimeng answers', () => {
  test('a task from its order to its link, asked for by the key it was ordered with', () => {
    const { steps, sent, last } = play(jimengVideo, { ...V30, request: { firstFrame: PNG } }, [
      ORDERED,
      answer('in_queue'),
      answer('generating'),
      answer('done', { video_url: 'https://vod.example/kite.mp4' }),
    ])
    expect(sent.slice(1)).toEqual(
      Array.from({ length: 3 }, () => `POST ${RESULT} {"req_key":"jimeng_i2v_first_v30","task_id":"7491"}`),
    )
    expect(steps.slice(0, 3)).toMatchObject([
      { kind: 'poll', status: 'queued', afterMs: 5_000 },
      { kind: 'poll', status: 'queued' },
      { kind: 'poll', status: 'in_progress' },
    ])
    expect(last).toMatchObject({
      kind: 'done',
      result: { kind: 'link', url: 'https://vod.example/kite.mp4', lastsMs: 3_600_000 },
    })
  })

  const coded = (code: number): ReturnType<typeof reply> =>
    reply({ code, data: null, message: 'risk not pass', request_id: 'r3', status: code })

  test.each([
    [50411, 'moderation'],
    [50511, 'moderation'],
    [50518, 'moderation'],
    [59999, 'upstream'],
  ])('a 200 with code %i is a failure', (code, kind) => {
    for (const answers of [[coded(code)], [ORDERED, coded(code)]]) {
      const { last } = play(jimengVideo, V30, answers)
      expect(last).toMatchObject({
        kind: 'failed',
        failure: { class: kind, code: String(code), message: 'risk not pass' },
      })
      expect(JSON.stringify(last)).not.toContain('r3')
    }
  })

  test('an order that came too fast is refused, a question that did is asked again', () => {
    expect(play(jimengVideo, V30, [coded(50430)]).last).toMatchObject({ failure: { class: 'rate' } })
    expect(play(jimengVideo, V30, [ORDERED, coded(50429)]).last).toMatchObject({ kind: 'poll' })
  })

  test('an internal error refuses an order; a question gets another chance', () => {
    expect(play(jimengVideo, V30, [coded(50500)]).last).toMatchObject({ failure: { class: 'upstream' } })
    expect(play(jimengVideo, V30, [ORDERED, coded(50500)]).last.kind).toBe('unreadable')
  })

  test('moderation may come with a status of its own; other refusals say nothing of the task', () => {
    const context = contextOf(V30, { key: 'jimeng_t2v_v30', id: '7491' })
    const refused = (status: number, code: number): ReturnType<typeof reply> =>
      reply({ code, data: null, message: 'risk not pass' }, status)
    expect(jimengVideo.verdict?.(refused(400, 50511), context)).toMatchObject({
      kind: 'failed',
      failure: { class: 'moderation', code: '50511' },
    })
    expect(jimengVideo.verdict?.(refused(429, 50429), context)).toBeUndefined()
    expect(jimengVideo.verdict?.(refused(500, 50500), context)).toBeUndefined()
    expect(jimengVideo.verdict?.(reply(undefined, 502), context)).toBeUndefined()
  })

  test('done with a code is a failure, even with a link', () => {
    const { last } = play(jimengVideo, V30, [
      ORDERED,
      answer('done', { code: 50511, video_url: 'https://vod.example/a.mp4' }),
    ])
    expect(last).toMatchObject({ kind: 'failed', failure: { class: 'moderation' } })
  })

  test.each(['not_found', 'expired'])('a task that is %s has expired', (status) => {
    expect(play(jimengVideo, V30, [ORDERED, answer(status)]).last).toMatchObject({
      kind: 'failed',
      failure: { class: 'expired' },
    })
  })

  test('success without a link makes no sense', () => {
    expect(play(jimengVideo, V30, [ORDERED, answer('done')]).last.kind).toBe('unreadable')
  })

  test.each([null, 'oops', {}, [], undefined])('%j as an answer makes no sense', (body) => {
    expect(jimengVideo.accepted(reply(body), contextOf(V30, {})).kind).toBe('unreadable')
    expect(jimengVideo.step(reply(body), contextOf(V30, { id: '1' })).kind).toBe('unreadable')
  })

  test.each([
    [429, { code: 50429, message: 'no' }, 'rate-limited'],
    [429, { code: 50430, message: 'no' }, 'rate-limited'],
    [400, { code: 50411, message: 'no' }, 'refused-content'],
    [500, { code: 50500, message: 'no' }, 'overloaded'],
    [
      401,
      { ResponseMetadata: { RequestId: 'r', Error: { Code: 'SignatureDoesNotMatch', Message: 'no' } } },
      'auth',
    ],
    [
      400,
      { ResponseMetadata: { RequestId: 'r', Error: { Code: 'MissingParameter', Message: 'no' } } },
      'request',
    ],
  ])('a call refused with %i is told apart', (status, body, kind) => {
    expect(jimengVideo.classify({ status, headers: {}, body }).kind).toBe(kind)
  })
})

function size(width: number, height: number): Partial<VideoRequest> {
  return { size: { width, height } }
}
