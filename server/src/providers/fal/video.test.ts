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
import { falVideo } from './video.ts'

const BASE = 'https://queue.fal.run'
const KLING: Order = { model: 'fal-ai/kling-video/v2.5-turbo/pro/text-to-video', baseUrl: BASE }
const PICTURE = 'https://cdn.example/kite.png'
const DATA = `data:image/png;base64,${PNG_BASE64}`

describe('what fal is sent', () => {
  test('the key has a word of its own before it', () => {
    expect(falVideo.auth).toEqual({ kind: 'header', name: 'authorization', prefix: 'Key ' })
  })

  test('an order in words, with how long its file shall live', () => {
    const { request, state, dropped } = submitted(falVideo, {
      ...KLING,
      request: {
        seconds: '10',
        size: { width: 720, height: 1280 },
        negativePrompt: 'text',
        extras: { cfg_scale: 0.4 },
      },
    })
    expect(request).toMatchObject({
      method: 'POST',
      url: `${BASE}/fal-ai/kling-video/v2.5-turbo/pro/text-to-video`,
    })
    expect(request.headers['x-fal-object-lifecycle-preference']).toBe(
      '{"expiration_duration_seconds":172800}',
    )
    expect(JSON.parse(String(request.body))).toEqual({
      prompt: 'a red kite',
      duration: '10',
      aspect_ratio: '9:16',
      negative_prompt: 'text',
      cfg_scale: 0.4,
    })
    expect([state, dropped]).toEqual([{ app: 'fal-ai/kling-video' }, []])
  })

  test.each<[string, string, Partial<VideoRequest>, object]>([
    [
      'Veo: a length with its unit',
      'fal-ai/veo3.1',
      size(1920, 1080),
      { duration: '8s', aspect_ratio: '16:9', resolution: '1080p' },
    ],
    ['Sora: a length as a number', 'fal-ai/sora-2/text-to-video', {}, { duration: 4 }],
    [
      'Hailuo: its own steps',
      'fal-ai/minimax/hailuo-02/standard/text-to-video',
      size(1280, 720),
      { duration: '6', resolution: '768P' },
    ],
    ['Grok: a number', 'xai/grok-imagine-video/text-to-video', { seconds: '7' }, { duration: 7 }],
    [
      'Seedance: many ratios',
      'fal-ai/bytedance/seedance/v1/pro/text-to-video',
      size(1470, 630),
      { duration: '5', aspect_ratio: '21:9', resolution: '720p' },
    ],
    [
      'an endpoint nobody knew',
      'someone/new-model',
      size(1280, 720),
      { duration: '5', aspect_ratio: '16:9', resolution: '720p' },
    ],
    [
      'seconds out of range go on as they are [4.4-25]',
      'fal-ai/veo3',
      { seconds: '77' },
      { duration: '77s' },
    ],
    [
      'seconds that are no number go on as they are',
      'fal-ai/veo3',
      { seconds: 'auto' },
      { duration: 'auto' },
    ],
    [
      'explicit ones win',
      'fal-ai/veo3',
      { ...size(1280, 720), ratio: '1:1', resolution: '4K' },
      { aspect_ratio: '1:1', resolution: '4k' },
    ],
    [
      'switches [4.4-33]',
      'fal-ai/veo3',
      { generateAudio: false, seed: 7, promptExtend: false },
      { generate_audio: false, seed: 7, enhance_prompt: false },
    ],
    [
      'a field nobody knows [4.4-32]',
      'fal-ai/veo3',
      { extras: { camera: { pan: [1] } } },
      { camera: { pan: [1] } },
    ],
  ])('%s', (_, model, request, expected) => {
    expect(submittedBody(falVideo, { model, baseUrl: BASE, request })).toMatchObject(expected)
  })

  test.each<[string, string, Partial<VideoRequest>, string, object]>([
    [
      'Veo: a first frame',
      'fal-ai/veo3.1/fast',
      { firstFrame: PNG },
      'fal-ai/veo3.1/fast/image-to-video',
      { image_url: DATA },
    ],
    [
      'Veo: both frames',
      'fal-ai/veo3.1',
      { firstFrame: at(PICTURE), lastFrame: PNG },
      'fal-ai/veo3.1/first-last-frame-to-video',
      { first_frame_url: PICTURE, last_frame_url: DATA },
    ],
    [
      'Veo: references',
      'fal-ai/veo3.1',
      { referenceImages: [PNG] },
      'fal-ai/veo3.1/reference-to-video',
      { image_urls: [DATA] },
    ],
    ['Veo: words for an endpoint of pictures', 'fal-ai/veo3.1/image-to-video', {}, 'fal-ai/veo3.1', {}],
    [
      'Kling 2: both frames',
      KLING.model,
      { firstFrame: PNG, lastFrame: PNG },
      'fal-ai/kling-video/v2.5-turbo/pro/image-to-video',
      { image_url: DATA, tail_image_url: DATA },
    ],
    [
      'Kling 3: both frames',
      'fal-ai/kling-video/v3/pro/image-to-video',
      { firstFrame: PNG, lastFrame: PNG },
      'fal-ai/kling-video/v3/pro/image-to-video',
      { start_image_url: DATA, end_image_url: DATA },
    ],
    [
      'Sora: a kind in the middle of the path',
      'fal-ai/sora-2/text-to-video/pro',
      { firstFrame: PNG },
      'fal-ai/sora-2/image-to-video/pro',
      { image_url: DATA },
    ],
    [
      'Seedance 2: references of all kinds',
      'bytedance/seedance-2.0/text-to-video',
      {
        referenceImages: [PNG],
        referenceVideos: ['https://cdn.example/a.mp4'],
        referenceAudios: ['https://cdn.example/a.mp3'],
      },
      'bytedance/seedance-2.0/reference-to-video',
      {
        image_urls: [DATA],
        video_urls: ['https://cdn.example/a.mp4'],
        audio_urls: ['https://cdn.example/a.mp3'],
      },
    ],
    [
      'a subject',
      'fal-ai/minimax/video-01-subject-reference',
      { referenceImages: [PNG, PNG] },
      'fal-ai/minimax/video-01-subject-reference',
      { subject_reference_image_url: DATA },
    ],
  ])('%s [4.4-33]', (_, model, request, endpoint, expected) => {
    const submission = submitted(falVideo, { model, baseUrl: BASE, request })
    expect(submission.request.url).toBe(`${BASE}/${endpoint}`)
    expect(JSON.parse(String(submission.request.body))).toMatchObject(expected)
    expect(submission.dropped).toEqual([])
  })

  test.each<[string, string, Partial<VideoRequest>, readonly string[]]>([
    ['a tail without a first frame', KLING.model, { lastFrame: PNG }, ['image_tail']],
    [
      'a tail where there is one frame',
      'fal-ai/sora-2/text-to-video',
      { firstFrame: PNG, lastFrame: PNG },
      ['image_tail'],
    ],
    ['references where there are none', KLING.model, { referenceImages: [PNG] }, ['reference_images']],
    [
      'marks and rewriting',
      KLING.model,
      { watermark: true, promptExtend: true },
      ['watermark', 'prompt_extend'],
    ],
    [
      'a length beside the order',
      KLING.model,
      { extras: { duration: '10', num_frames: 900, webhook_url: 'https://x.example' } },
      ['duration', 'num_frames', 'webhook_url'],
    ],
  ])('dropped and named: %s [4.4-36]', (_, model, request, dropped) => {
    expect(submitted(falVideo, { model, baseUrl: BASE, request }).dropped).toEqual(dropped)
  })
})

const REQUESTS = `${BASE}/fal-ai/kling-video/requests/r1`
const ORDERED = reply({
  status: 'IN_QUEUE',
  request_id: 'r1',
  response_url: REQUESTS,
  status_url: `${REQUESTS}/status`,
  cancel_url: `${REQUESTS}/cancel`,
  queue_position: 0,
})
const OVER = reply({ status: 'COMPLETED', request_id: 'r1', response_url: REQUESTS, logs: [] })

describe('what fal answers', () => {
  test('a task from its order over its end to its file', () => {
    const { steps, sent, last } = play(falVideo, KLING, [
      ORDERED,
      reply({ status: 'IN_QUEUE', queue_position: 2 }, 202),
      reply({ status: 'IN_PROGRESS', logs: null }, 202),
      OVER,
      reply({
        video: {
          url: 'https://v3.fal.media/kite.mp4',
          content_type: 'video/mp4',
          width: 1280,
          height: 720,
          duration: 5.1,
        },
        seed: 42,
      }),
    ])
    expect(sent.slice(1)).toEqual([
      `GET ${REQUESTS}/status`,
      `GET ${REQUESTS}/status`,
      `GET ${REQUESTS}/status`,
      `GET ${REQUESTS}`,
    ])
    expect(steps.slice(0, 4)).toMatchObject([
      { kind: 'poll', status: 'queued', afterMs: 3_000 },
      { kind: 'poll', status: 'queued' },
      { kind: 'poll', status: 'in_progress' },
      { kind: 'poll', status: 'in_progress', afterMs: 1_000 },
    ])
    expect(last).toMatchObject({
      kind: 'done',
      result: { kind: 'link', url: 'https://v3.fal.media/kite.mp4', lastsMs: 172_800_000 },
      secondsProduced: 5.1,
      size: '1280x720',
    })
  })

  test('addresses of another host never get the key; they are made from the id', () => {
    const { sent } = play(falVideo, KLING, [
      reply({
        status: 'IN_QUEUE',
        request_id: 'r1',
        status_url: 'https://elsewhere.example/status',
        response_url: 'https://elsewhere.example/',
      }),
      OVER,
    ])
    expect(sent.slice(1)).toEqual([`GET ${REQUESTS}/status`, `GET ${REQUESTS}`])
  })

  test.each<[string, object]>([
    ['a list', { videos: [{ url: 'https://v3.fal.media/kite.mp4' }] }],
    ['a bare address', { video: 'https://v3.fal.media/kite.mp4' }],
  ])('a result in %s', (_, body) => {
    expect(
      play(falVideo, KLING, [ORDERED, OVER, reply(JSON.parse(JSON.stringify(body)))]).last,
    ).toMatchObject({
      kind: 'done',
      result: { url: 'https://v3.fal.media/kite.mp4' },
    })
  })

  test('a result as bytes', () => {
    const { last } = play(falVideo, KLING, [
      ORDERED,
      OVER,
      reply({ video: { url: 'data:video/mp4;base64,AAAA' } }),
    ])
    expect(last).toMatchObject({ result: { kind: 'base64', data: 'AAAA', mediaType: 'video/mp4' } })
  })

  test.each([
    ['content_policy_violation', 'moderation'],
    ['image_too_small', 'invalid'],
    ['downstream_service_error', 'upstream'],
    ['something_new', 'upstream'],
  ])('over, and the result is a refusal: %s', (type, kind) => {
    const { last } = play(falVideo, KLING, [
      ORDERED,
      OVER,
      reply({ detail: [{ loc: ['body', 'prompt'], msg: 'no', type }] }),
    ])
    expect(last).toMatchObject({ kind: 'failed', failure: { class: kind, code: type, message: 'no' } })
  })

  test.each([
    [422, 'content_policy_violation', 'moderation'],
    [422, 'image_too_small', 'invalid'],
    [422, 'something_new', 'invalid'],
  ])('over, and the result has status %i: %s', (status, type, kind) => {
    const { steps } = play(falVideo, KLING, [ORDERED, OVER])
    const state = steps[1]?.kind === 'poll' ? steps[1].state : {}
    const refused = reply({ detail: [{ loc: ['body', 'prompt'], msg: 'no', type }] }, status)
    expect(falVideo.verdict?.(refused, contextOf(KLING, state))).toMatchObject({
      kind: 'failed',
      failure: { class: kind, code: type, message: 'no' },
    })
  })

  test.each([
    [500, 'runner_server_error', 'unreadable'],
    [504, 'request_timeout', 'unreadable'],
    [429, 'too_many', undefined],
    [401, 'unauthorized', undefined],
    [400, undefined, undefined],
  ])('a result with status %i is asked for again', (status, error_type, kind) => {
    const body =
      error_type === undefined ? { detail: 'Request is still in progress' } : { detail: 'no', error_type }
    const state = { id: 'r1', app: 'fal-ai/kling-video', asks: 'result' }
    expect(falVideo.verdict?.(reply(body, status), contextOf(KLING, state))?.kind).toBe(kind)
  })

  test('a refused question before it is over says nothing of the task', () => {
    const refused = reply({ detail: [{ type: 'missing', msg: 'no' }] }, 422)
    expect(falVideo.verdict?.(refused, contextOf(KLING, { id: 'r1' }))).toBeUndefined()
  })

  test('over with an error beside it', () => {
    const { last } = play(falVideo, KLING, [
      ORDERED,
      reply({ status: 'COMPLETED', error: 'cancelled by the client', error_type: 'client_cancelled' }),
    ])
    expect(last).toMatchObject({ kind: 'failed', failure: { class: 'cancelled' } })
  })

  test('a result without a file makes no sense', () => {
    expect(play(falVideo, KLING, [ORDERED, OVER, reply({ seed: 42 })]).last.kind).toBe('unreadable')
  })

  test.each([null, 'oops', {}, [], undefined])('%j as an answer makes no sense', (body) => {
    expect(falVideo.accepted(reply(body), contextOf(KLING, {})).kind).toBe('unreadable')
    expect(falVideo.step(reply(body), contextOf(KLING, { id: 'r1' })).kind).toBe('unreadable')
    expect(falVideo.step(reply(body), contextOf(KLING, { id: 'r1', asks: 'result' })).kind).toBe('unreadable')
  })

  test.each([
    [422, [{ type: 'content_policy_violation', msg: 'no' }], 'refused-content'],
    [422, [{ type: 'missing', msg: 'no' }], 'request'],
    [422, [{ type: 'something_new', msg: 'no' }], 'request'],
    [400, 'Request is still in progress', 'overloaded'],
    [401, 'Cannot access application', 'auth'],
    [
      403,
      'User is locked. Reason: Exhausted balance. Top up your balance at fal.ai/dashboard/billing.',
      'quota',
    ],
    [404, 'Application not found', 'not-found'],
    [429, 'Too many requests', 'rate-limited'],
    [504, 'Request timed out', 'overloaded'],
  ])('a call refused with %i %j is %s', (status, detail, kind) => {
    expect(falVideo.classify({ status, headers: {}, body: { detail } }).kind).toBe(kind)
  })
})

function size(width: number, height: number): Partial<VideoRequest> {
  return { size: { width, height } }
}
