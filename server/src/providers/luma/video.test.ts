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
import { lumaDreamMachineVideo } from './dream-machine.ts'
import { lumaVideo } from './video.ts'

const BASE = 'https://agents.lumalabs.ai/v1'
const RAY: Order = { model: 'ray-3.2', baseUrl: BASE }
const OLD_BASE = 'https://api.lumalabs.ai/dream-machine/v1'
const RAY_2: Order = { model: 'ray-2', baseUrl: OLD_BASE }
const PICTURE = 'https://cdn.example/kite.png'
const FRAME = { data: PNG_BASE64, media_type: 'image/png' }

describe('what Luma is sent', () => {
  test('an order in words', () => {
    const { request, state, dropped } = submitted(lumaVideo, {
      ...RAY,
      request: { seconds: '10', size: { width: 1920, height: 1080 }, extras: { hdr: true } },
    })
    expect(request).toMatchObject({ method: 'POST', url: `${BASE}/generations` })
    expect(JSON.parse(String(request.body))).toEqual({
      model: 'ray-3.2',
      type: 'video',
      prompt: 'a red kite',
      aspect_ratio: '16:9',
      video: { resolution: '1080p', duration: '10s', hdr: true },
    })
    expect([state, dropped]).toEqual([{}, []])
  })

  test.each<[string, Partial<VideoRequest>, object]>([
    ['no seconds are the default, said outright', {}, { video: { duration: '5s' } }],
    ['seconds that are no number go on as they are', { seconds: 'long' }, { video: { duration: 'long' } }],
    [
      'a small size is the smallest step',
      size(854, 480),
      { aspect_ratio: '16:9', video: { resolution: '540p' } },
    ],
    ['very wide', size(1470, 630), { aspect_ratio: '21:9', video: { resolution: '720p' } }],
    [
      'explicit ones win',
      { ...size(1280, 720), ratio: '3:4', resolution: '360P' },
      { aspect_ratio: '3:4', video: { resolution: '360p' } },
    ],
    ['a first frame [4.4-33]', { firstFrame: at(PICTURE) }, { video: { start_frame: { url: PICTURE } } }],
    [
      'both frames [4.4-33]',
      { firstFrame: at(PICTURE), lastFrame: PNG },
      { video: { start_frame: { url: PICTURE }, end_frame: FRAME } },
    ],
    [
      'ten seconds take a frame as a key frame',
      { seconds: '10', firstFrame: PNG },
      { video: { keyframes: [FRAME], keyframe_indexes: [0] } },
    ],
    [
      'and two with their places',
      { seconds: '10', firstFrame: PNG, lastFrame: PNG },
      { video: { keyframes: [FRAME, FRAME], keyframe_indexes: [0, 240] } },
    ],
    ['a field nobody knows [4.4-32]', { extras: { loop: true } }, { video: { loop: true } }],
  ])('%s', (_, request, expected) => {
    expect(submittedBody(lumaVideo, { ...RAY, request })).toMatchObject(expected)
  })

  test('ten seconds have no start frame', () => {
    const { video } = submittedBody(lumaVideo, { ...RAY, request: { seconds: '10', firstFrame: PNG } })
    expect(video).not.toHaveProperty('start_frame')
  })

  test('a length it has no word for, and what it has no place for, are dropped and named [4.4-36]', () => {
    const { request, dropped } = submitted(lumaVideo, {
      ...RAY,
      request: {
        seconds: '7',
        lastFrame: PNG,
        referenceImages: [PNG],
        negativePrompt: 'text',
        generateAudio: true,
        seed: 1,
        watermark: true,
        promptExtend: true,
      },
    })
    expect(JSON.parse(String(request.body))).toMatchObject({ video: {} })
    expect(dropped).toEqual([
      'seconds',
      'image_tail',
      'reference_images',
      'negative_prompt',
      'generate_audio',
      'seed',
      'watermark',
      'prompt_extend',
    ])
  })
})

describe('what Luma answers', () => {
  const ORDERED = reply({ id: 'g1', state: 'queued', created_at: '2026-07-10T00:00:00Z' }, 201)

  test('a task from its order to its link', () => {
    const { steps, sent, last } = play(lumaVideo, RAY, [
      ORDERED,
      reply({ id: 'g1', state: 'queued' }),
      reply({ id: 'g1', state: 'processing' }),
      reply({
        id: 'g1',
        state: 'completed',
        output: [
          { type: 'image', url: 'https://x.example/a.png' },
          { type: 'video', url: 'https://x.example/kite.mp4' },
        ],
      }),
    ])
    expect(sent.slice(1)).toEqual(Array.from({ length: 3 }, () => `GET ${BASE}/generations/g1`))
    expect(steps.slice(0, 3)).toMatchObject([
      { kind: 'poll', status: 'queued', afterMs: 3_000 },
      { kind: 'poll', status: 'queued' },
      { kind: 'poll', status: 'in_progress' },
    ])
    expect(last).toMatchObject({
      kind: 'done',
      result: { kind: 'link', url: 'https://x.example/kite.mp4', lastsMs: 3_600_000 },
    })
  })

  test('a dead link is renewed by asking again', () => {
    expect(lumaVideo.renew?.(contextOf(RAY, { id: 'g1' }))?.url).toBe(`${BASE}/generations/g1`)
    expect(lumaVideo.renew?.(contextOf(RAY, {}))).toBeUndefined()
  })

  test.each([
    ['content_moderated', 'moderation'],
    ['generation_failed', 'upstream'],
    ['output_not_found', 'upstream'],
  ])('a task that failed with %s', (failure_code, kind) => {
    const { last } = play(lumaVideo, RAY, [
      ORDERED,
      reply({ id: 'g1', state: 'failed', failure_code, failure_reason: 'no' }),
    ])
    expect(last).toMatchObject({
      kind: 'failed',
      failure: { class: kind, code: failure_code, message: 'no' },
    })
  })

  test('success without a link makes no sense', () => {
    expect(
      play(lumaVideo, RAY, [ORDERED, reply({ id: 'g1', state: 'completed', output: [] })]).last.kind,
    ).toBe('unreadable')
  })

  test.each([null, 'oops', {}, [], undefined])('%j as an answer makes no sense', (body) => {
    expect(lumaVideo.accepted(reply(body), contextOf(RAY, {})).kind).toBe('unreadable')
    expect(lumaVideo.step(reply(body), contextOf(RAY, { id: '1' })).kind).toBe('unreadable')
  })

  test.each([
    [429, 'rate-limited'],
    [400, 'request'],
    [401, 'auth'],
    [402, 'quota'],
    [500, 'overloaded'],
  ])('a call refused with %i is %s', (status, kind) => {
    const body = { detail: 'Too many concurrent jobs' }
    expect(lumaVideo.classify({ status, headers: { 'retry-after': '3' }, body })).toEqual({
      kind,
      ...(kind === 'rate-limited' || kind === 'overloaded' ? { retryAfterMs: 3_000 } : {}),
    })
  })
})

describe('the older API', () => {
  test('takes pictures by address', () => {
    expect(lumaDreamMachineVideo.imageForms).toEqual(['url'])
    const { request, dropped } = submitted(lumaDreamMachineVideo, {
      ...RAY_2,
      request: {
        ...size(854, 480),
        firstFrame: at(PICTURE),
        lastFrame: at(`${PICTURE}?2`),
        extras: { loop: true },
      },
    })
    expect(request.url).toBe(`${OLD_BASE}/generations`)
    expect(JSON.parse(String(request.body))).toEqual({
      model: 'ray-2',
      prompt: 'a red kite',
      aspect_ratio: '16:9',
      resolution: '540p',
      duration: '5s',
      keyframes: { frame0: { type: 'image', url: PICTURE }, frame1: { type: 'image', url: `${PICTURE}?2` } },
      loop: true,
    })
    expect(dropped).toEqual([])
  })

  test('has nine seconds for a word, not ten', () => {
    expect(submittedBody(lumaDreamMachineVideo, { ...RAY_2, request: { seconds: '9' } })).toMatchObject({
      duration: '9s',
    })
    expect(submitted(lumaDreamMachineVideo, { ...RAY_2, request: { seconds: '10' } }).dropped).toEqual([
      'seconds',
    ])
  })

  test('dreams until it is done', () => {
    const { steps, last } = play(lumaDreamMachineVideo, RAY_2, [
      reply({ id: 'g2', state: 'queued' }, 201),
      reply({ id: 'g2', state: 'dreaming', assets: null }),
      reply({ id: 'g2', state: 'completed', assets: { video: 'https://x.example/kite.mp4' } }),
    ])
    expect(steps[1]).toMatchObject({ kind: 'poll', status: 'in_progress' })
    expect(last).toMatchObject({ kind: 'done', result: { kind: 'link', url: 'https://x.example/kite.mp4' } })
  })

  test('fails with a reason and no code', () => {
    const { last } = play(lumaDreamMachineVideo, RAY_2, [
      reply({ id: 'g2', state: 'queued' }, 201),
      reply({ id: 'g2', state: 'failed', failure_reason: 'no' }),
    ])
    expect(last).toMatchObject({
      kind: 'failed',
      failure: { class: 'upstream', code: 'failed', message: 'no' },
    })
  })
})

function size(width: number, height: number): Partial<VideoRequest> {
  return { size: { width, height } }
}
