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
} from '../video-forms/testing/order.ts'
import { viduVideo } from './video.ts'

const BASE = 'https://api.vidu.com/ent/v2'
const VIDU: Order = { model: 'viduq3-turbo', baseUrl: BASE }
const OURS = 'video_abc123'
const PICTURE = at('https://cdn.example/a.png')
const LINK = 'https://prod.example/v.mp4'
const WIDE = { width: 1280, height: 720 }

const ROWS: readonly (readonly [
  what: string,
  model: string,
  request: Partial<VideoRequest>,
  path: string,
  body: object,
  dropped: readonly string[],
])[] = [
  [
    'no seconds are five; sound is always said',
    'viduq3-turbo',
    {},
    'text2video',
    { duration: 5, audio: true },
    [],
  ],
  ['"8" is a number [4.4-22]', 'viduq2', { seconds: '8' }, 'text2video', { duration: 8 }, []],
  ['seconds out of range go on [4.4-25]', 'viduq2', { seconds: '60' }, 'text2video', { duration: 60 }, []],
  [
    'a size is a ratio and a resolution',
    'viduq2',
    { size: { width: 480, height: 854 } },
    'text2video',
    { duration: 5, aspect_ratio: '9:16', resolution: '540p' },
    [],
  ],
  [
    'a ratio it lacks is left out [4.4-28]',
    'viduq2',
    { size: { width: 1470, height: 630 } },
    'text2video',
    { duration: 5, resolution: '720p' },
    [],
  ],
  [
    'explicit words win',
    'viduq2',
    { size: WIDE, ratio: '1:1', resolution: '1080P' },
    'text2video',
    { duration: 5, aspect_ratio: '1:1', resolution: '1080p' },
    [],
  ],
  [
    'a first frame has its own ratio',
    'viduq2-pro',
    { firstFrame: PNG, size: WIDE, ratio: '1:1' },
    'img2video',
    { duration: 5, resolution: '720p', images: [`data:image/png;base64,${PNG_BASE64}`] },
    ['ratio'],
  ],
  [
    'both frames',
    'viduq3-pro',
    { firstFrame: PICTURE, lastFrame: PICTURE, referenceImages: [PICTURE], generateAudio: false },
    'start-end2video',
    { duration: 5, audio: false, images: [PICTURE.url, PICTURE.url] },
    ['reference_images'],
  ],
  [
    'a last frame alone is dropped [4.4-36]',
    'viduq2',
    { lastFrame: PICTURE },
    'text2video',
    { duration: 5 },
    ['image_tail'],
  ],
  [
    'references, seven of them',
    'viduq3-mix',
    { referenceImages: Array(8).fill(PICTURE), ratio: '4:3' },
    'reference2video',
    { duration: 5, audio: true, aspect_ratio: '4:3', images: Array(7).fill(PICTURE.url) },
    ['reference_images'],
  ],
  [
    'what it has no place for',
    'viduq1',
    {
      negativePrompt: 'text',
      generateAudio: true,
      promptExtend: true,
      seed: 7,
      watermark: false,
      referenceVideos: ['https://cdn.example/m.mp4'],
      extras: {
        movement_amplitude: 'small',
        off_peak: true,
        payload: 'mine',
        callback_url: 'https://client.example',
      },
    },
    'text2video',
    { duration: 5, seed: 7, watermark: false, movement_amplitude: 'small' },
    [
      'reference_videos',
      'negative_prompt',
      'generate_audio',
      'prompt_extend',
      'off_peak',
      'payload',
      'callback_url',
    ],
  ],
]

describe('what Vidu is sent', () => {
  test.each(ROWS)('%s', (_, model, request, path, body, dropped) => {
    const formed = submitted(viduVideo, { ...VIDU, model, request })
    expect(formed.request.url).toBe(`${BASE}/${path}`)
    expect(JSON.parse(String(formed.request.body))).toEqual({
      model,
      prompt: 'a red kite',
      payload: OURS,
      ...body,
    })
    expect(formed.dropped).toEqual(dropped)
  })

  test('the key stands behind a word of its own', () => {
    expect(viduVideo.auth).toEqual({ kind: 'header', name: 'authorization', prefix: 'Token ' })
  })
})

describe('a task of Vidu', () => {
  const created = reply({ task_id: 't1', state: 'created', model: 'viduq3-turbo', credits: 55 })
  const poll = `${BASE}/tasks/t1/creations`

  test('is polled until its creations are there', () => {
    const { sent, steps, last } = play(viduVideo, VIDU, [
      created,
      reply({ id: 't1', state: 'queueing', err_code: '' }),
      reply({ id: 't1', state: 'processing', err_code: '' }),
      reply({
        id: 't1',
        state: 'success',
        err_code: '',
        creations: [{ id: 'c0' }, { id: 'c1', url: LINK, cover_url: 'x' }],
      }),
    ])
    expect(sent.slice(1)).toEqual(Array(3).fill(`GET ${poll}`))
    expect(steps.slice(0, 3).map((step) => (step.kind === 'poll' ? step.status : step.kind))).toEqual([
      'queued',
      'queued',
      'in_progress',
    ])
    expect(last).toMatchObject({ kind: 'done', result: { kind: 'link', url: LINK, lastsMs: 86_400_000 } })
  })

  test('whose link has died is asked again', () => {
    expect(viduVideo.renew?.(contextOf(VIDU, { id: 't1' }))?.url).toBe(poll)
    expect(viduVideo.renew?.(contextOf(VIDU, {}))).toBeUndefined()
  })

  test.each([
    ['CreationPolicyViolation', 'moderation'],
    ['TaskPromptPolicyViolation', 'moderation'],
    ['ImageDownloadFailure', 'invalid'],
    ['CreditInsufficient', 'quota'],
    ['SystemThrottling', 'rate'],
    ['UserCancelled', 'cancelled'],
    ['InternalServiceFailure', 'upstream'],
    ['SomethingNew', 'upstream'],
  ])('that failed with %s', (code, kind) => {
    const body = { id: 't1', state: 'failed', err_code: code, creations: [] }
    expect(play(viduVideo, VIDU, [created, reply(body)]).last).toMatchObject({
      kind: 'failed',
      failure: { class: kind, code, message: code },
    })
  })

  test('success without a creation is asked again', () => {
    const body = { id: 't1', state: 'success', err_code: '', creations: [] }
    expect(play(viduVideo, VIDU, [created, reply(body)]).last.kind).toBe('unreadable')
  })

  test.each([undefined, {}, [], { task_id: 't1' }])('an answer of %j cannot be read', (body) => {
    expect(play(viduVideo, VIDU, [reply(body)]).last.kind).toBe('unreadable')
  })
})

describe('a call refused', () => {
  test.each([
    [400, { reason: 'FieldInvalid' }, 'request'],
    [400, { reason: 'CreditInsufficient' }, 'quota'],
    [400, { err_code: 'AuditSubmitIllegal' }, 'refused-content'],
    [401, { reason: 'Unauthorized' }, 'auth'],
    [429, { reason: 'QuotaExceeded' }, 'rate-limited'],
    [429, {}, 'rate-limited'],
    [500, undefined, 'overloaded'],
  ])('with %i %j', (status, body, kind) => {
    expect(viduVideo.classify({ status, body, headers: {} }).kind).toBe(kind)
  })
})
