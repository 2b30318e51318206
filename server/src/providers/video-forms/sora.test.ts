import { describe, expect, test } from 'vitest'
import type { VideoRequest } from '../../core/video/request.ts'
import type { VideoStep } from '../video.ts'
import { soraVideo } from './sora.ts'
import { at, contextOf, type Order, PNG, play, reply, submitted, submittedBody } from './testing/order.ts'

const BASE = 'https://api.openai.com/v1'
const sora = soraVideo({ upstream: 'sora' })
const imitation = soraVideo({ upstream: 'imitation' })
const SORA: Order = { model: 'sora-2-pro', baseUrl: BASE }
const OTHER: Order = { model: 'wan-2.6', baseUrl: 'https://gateway.example/v1' }

const QUEUED = {
  id: 'video_68d7',
  object: 'video',
  model: 'sora-2',
  status: 'queued',
  progress: 0,
  created_at: 1758941485,
  seconds: '8',
  size: '1280x720',
  error: null,
}

describe('what Sora is sent', () => {
  test('an order in words is JSON', () => {
    const { request, state, dropped } = submitted(sora, {
      ...SORA,
      request: { seconds: '8', size: { width: 1280, height: 720 } },
    })
    expect(request).toEqual({
      method: 'POST',
      url: `${BASE}/videos`,
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: '{"model":"sora-2-pro","prompt":"a red kite","size":"1280x720","seconds":"8"}',
    })
    expect([state, dropped]).toEqual([{}, []])
  })

  test.each<[string, Partial<VideoRequest>, object]>([
    ['no seconds are the default, said outright', {}, { seconds: '4' }],
    ['seconds out of range go on as they are [4.4-25]', { seconds: '77' }, { seconds: '77' }],
    ['seconds that are no number go on as they are', { seconds: 'long' }, { seconds: 'long' }],
    ['a field nobody knows', { extras: { camera: { pan: [1] } } }, { camera: { pan: [1] } }],
  ])('%s', (_, request, expected) => {
    expect(submittedBody(sora, { ...SORA, request })).toMatchObject(expected)
  })

  test.each([
    ['sora-2-pro', 720, 1280, '720x1280'],
    ['sora-2-pro', 1920, 1080, '1920x1080'],
    ['sora-2-pro', 1024, 1792, '1024x1792'],
    ['sora-2', 1280, 720, '1280x720'],
    ['sora-2', 1920, 1080, '1280x720'],
    ['sora-2', 1080, 1920, '720x1280'],
    ['sora-2-pro', 1024, 1024, undefined],
    ['sora-2-pro', 854, 480, undefined],
    ['sora-2-pro', 1104, 832, undefined],
    ['sora-2-pro', 3840, 2160, undefined],
  ])('%s of %i x %i [4.4-27] [4.4-28]', (model, width, height, size) => {
    const { request, dropped } = submitted(sora, { ...SORA, model, request: { size: { width, height } } })
    const body: unknown = JSON.parse(String(request.body))
    expect(body).toEqual({
      model,
      prompt: 'a red kite',
      seconds: '4',
      ...(size === undefined ? {} : { size }),
    })
    expect(dropped).toEqual(size === undefined ? ['size'] : [])
  })

  test('a picture goes as a file of a form [4.4-15]', async () => {
    const { request } = submitted(sora, {
      ...SORA,
      request: { firstFrame: PNG, seconds: '8', extras: { camera: { pan: [1, 2] } } },
    })
    const form = await new Response(request.body, { headers: request.headers }).formData()
    expect(form.get('model')).toBe('sora-2-pro')
    expect(form.get('prompt')).toBe('a red kite')
    expect(form.get('seconds')).toBe('8')
    expect(form.getAll('camera[pan][]')).toEqual(['1', '2'])
    const file = form.get('input_reference')
    if (!(file instanceof File)) throw new Error('no file was sent')
    expect([file.name, file.type, file.size]).toEqual(['reference.png', 'image/png', 4])
  })

  test('what it has no place for is dropped and named [4.4-36] [4.4-37] [4.4-38]', () => {
    const { request, dropped } = submitted(sora, {
      ...SORA,
      request: {
        lastFrame: PNG,
        referenceImages: [PNG],
        referenceVideos: ['https://cdn.example/a.mp4'],
        referenceAudios: ['https://cdn.example/a.mp3'],
        ratio: '16:9',
        resolution: '720p',
        negativePrompt: 'text',
        generateAudio: true,
        seed: 1,
        extras: { duration: 30, callback_url: 'https://client.example' },
      },
    })
    expect(JSON.parse(String(request.body))).toEqual({
      model: 'sora-2-pro',
      prompt: 'a red kite',
      seconds: '4',
    })
    expect(dropped).toEqual([
      'ratio',
      'resolution',
      'image_tail',
      'reference_images',
      'reference_videos',
      'reference_audios',
      'negative_prompt',
      'generate_audio',
      'seed',
      'duration',
      'callback_url',
    ])
  })
})

describe('what an imitation is sent', () => {
  test.each(['wan-2.6', 'sora-2', 'openai/sora-2-pro', 'soraya'])(
    'sizes and plain values go on under the client’s own names, whatever the model %s is called',
    (model) => {
      const request = {
        size: { width: 1024, height: 1024 },
        ratio: '1:1',
        resolution: '720p',
        negativePrompt: 'text',
        generateAudio: false,
        seed: 0,
        watermark: false,
        promptExtend: true,
      }
      expect(submittedBody(imitation, { ...OTHER, model, request })).toEqual({
        model,
        prompt: 'a red kite',
        seconds: '4',
        size: '1024x1024',
        ratio: '1:1',
        resolution: '720p',
        negative_prompt: 'text',
        generate_audio: false,
        seed: 0,
        watermark: false,
        prompt_extend: true,
      })
    },
  )

  test('a public address of a picture is said as the official clients say it', () => {
    const request = { firstFrame: at('https://cdn.example/a.png') }
    expect(submittedBody(imitation, { ...OTHER, request })).toMatchObject({
      input_reference: { image_url: 'https://cdn.example/a.png' },
    })
  })
})

describe('a task of Sora', () => {
  test('is polled until its bytes are there', () => {
    const { sent, last, steps } = play(sora, SORA, [
      reply(QUEUED),
      reply({ ...QUEUED, status: 'in_progress', progress: 40 }),
      reply({ ...QUEUED, status: 'completed', progress: 100 }),
    ])
    expect(steps.map((step) => step.kind)).toEqual(['poll', 'poll', 'done'])
    expect(steps[1]).toMatchObject({ status: 'in_progress', progress: 40, afterMs: 10_000 })
    expect(sent.slice(1)).toEqual([`GET ${BASE}/videos/video_68d7`, `GET ${BASE}/videos/video_68d7`])
    expect(last).toEqual({
      kind: 'done',
      result: {
        kind: 'download',
        request: { method: 'GET', url: `${BASE}/videos/video_68d7/content`, headers: {} },
      },
      secondsProduced: undefined,
      size: '1280x720',
      state: { id: 'video_68d7' },
    })
  })

  test.each<[string, object | string, string, string]>([
    ['moderation', { code: 'moderation_blocked', message: 'no. Request id: r1' }, 'moderation', 'no.'],
    ['a bad order', { code: 'invalid_request_error', message: 'size' }, 'invalid', 'size'],
    ['money', { code: 'insufficient_quota', message: 'pay' }, 'quota', 'pay'],
    ['its own fault', { code: 'video_generation_failed', message: 'sorry' }, 'upstream', 'sorry'],
    ['a mere text', 'sorry', 'upstream', 'sorry'],
  ])('fails for %s', (_, error, kind, message) => {
    const body = { ...QUEUED, status: 'failed', error: typeof error === 'string' ? error : { ...error } }
    const { last } = play(sora, SORA, [reply(QUEUED), reply(body)])
    expect(last).toMatchObject({ kind: 'failed', failure: { class: kind, message } })
    expect(JSON.stringify(last)).not.toContain('r1')
  })

  test.each([
    ['no JSON', undefined],
    ['no id', { status: 'queued' }],
    ['no status', { id: 'video_1' }],
    ['a list', []],
  ])('cannot be read: %s', (_, body) => {
    expect(play(sora, SORA, [reply(body)]).last.kind).toBe('unreadable')
  })

  test.each([
    [400, { error: { code: 'invalid_value', type: 'invalid_request_error' } }, { kind: 'request' }],
    [400, { error: { code: 'moderation_blocked' } }, { kind: 'refused-content' }],
    [401, { error: { code: 'invalid_api_key' } }, { kind: 'auth' }],
    [404, { error: { code: 'model_not_found' } }, { kind: 'not-found' }],
    [429, { error: { code: 'insufficient_quota' } }, { kind: 'quota' }],
    [429, { error: { code: 'rate_limit_exceeded' } }, { kind: 'rate-limited', retryAfterMs: 3000 }],
    [500, undefined, { kind: 'overloaded', retryAfterMs: 3000 }],
  ])('a call refused with %i %j', (status, body, expected) => {
    expect(sora.classify({ status, body, headers: { 'retry-after': '3' } })).toEqual(expected)
  })
})

describe('a task of an imitation', () => {
  const LINK = 'https://cdn.example/v.mp4'
  const done = (body: object): VideoStep => play(imitation, OTHER, [reply({ ...body })]).last

  test.each([
    ['url', { id: 'a', status: 'completed', url: LINK }],
    ['video_url', { id: 'a', status: 'SUCCESS', video_url: LINK }],
    ['data.url', { task_id: 'a', data: { status: 'succeeded', url: LINK } }],
    ['metadata.url', { id: 'a', object: 'task', status: 'finished', metadata: { url: LINK } }],
    ['an unknown word', { id: 'a', status: 'ready', url: LINK }],
  ])('has its link at %s', (_, body) => {
    expect(done(body)).toMatchObject({
      kind: 'done',
      result: { kind: 'link', url: LINK, lastsMs: 3_600_000 },
    })
  })

  test('is polled by the id of its first answer', () => {
    const { sent, last } = play(imitation, OTHER, [
      reply({ object: 'task', task_id: 'a/b', status: 'submitted' }),
      reply({ status: 'whatever' }),
      reply({ status: 'completed' }),
    ])
    expect(sent.slice(1)).toEqual(Array(2).fill('GET https://gateway.example/v1/videos/a%2Fb'))
    expect(last).toMatchObject({
      result: { kind: 'download', request: { url: 'https://gateway.example/v1/videos/a%2Fb/content' } },
    })
  })

  test('fetches a link at the server itself with the key, and any other without', () => {
    const own = 'https://gateway.example/files/v.mp4'
    expect(done({ id: 'a', status: 'completed', url: own })).toMatchObject({
      result: { kind: 'download', request: { url: own } },
    })
    expect(done({ id: 'a', status: 'completed', url: '/files/v.mp4' })).toMatchObject({
      result: { kind: 'download', request: { url: 'https://gateway.example/v1/videos/a/content' } },
    })
  })

  test('fails with the reason some give as text', () => {
    expect(done({ id: 'a', status: 'FAILURE', fail_reason: 'no luck' })).toMatchObject({
      kind: 'failed',
      failure: { class: 'upstream', message: 'no luck' },
    })
  })

  test('is asked again when its link has died', () => {
    expect(imitation.renew?.(contextOf(OTHER, { id: 'a' }))).toMatchObject({
      method: 'GET',
      url: 'https://gateway.example/v1/videos/a',
    })
    expect(imitation.renew?.(contextOf(OTHER, {}))).toBeUndefined()
  })
})
