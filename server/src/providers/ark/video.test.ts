import { describe, expect, test } from 'vitest'
import type { VideoRequest } from '../../core/video/request.ts'
import { at, type Order, PNG, PNG_BASE64, play, reply, submitted } from '../video-forms/testing/order.ts'
import { pixelsOf } from './pixels.ts'
import { arkVideo } from './video.ts'

const TASKS = 'https://ark.ap-southeast.bytepluses.com/api/v3/contents/generations/tasks'
const SEEDANCE: Order = {
  model: 'dreamina-seedance-2-0-260128',
  baseUrl: 'https://ark.ap-southeast.bytepluses.com/api/v3',
}
const LINK = 'https://ark-content.example/v.mp4'
const PICTURE = at('https://cdn.example/a.png')
const TEXT = { type: 'text', text: 'a red kite' }
const picture = (url: string, role: string): object => ({ type: 'image_url', image_url: { url }, role })

const ROWS: readonly (readonly [
  what: string,
  model: string,
  request: Partial<VideoRequest>,
  body: object,
  dropped: readonly string[],
])[] = [
  ['no seconds are five, said outright', 'seedance-2-0', {}, { duration: 5 }, []],
  ['"8" is a number [4.4-22]', 'seedance-2-0', { seconds: '8' }, { duration: 8 }, []],
  ['seconds out of range go on [4.4-25]', 'seedance-2-0', { seconds: '99' }, { duration: 99 }, []],
  ['as long as you like cannot be billed', 'seedance-2-0', { seconds: '-1' }, { duration: 5 }, []],
  [
    'a size is a ratio and a resolution',
    'doubao-seedance-2-0-260128',
    { size: { width: 3840, height: 2160 } },
    { duration: 5, ratio: '16:9', resolution: '4k' },
    [],
  ],
  [
    'fast and mini stop at 720p',
    'doubao-seedance-2-0-fast-260128',
    { size: { width: 1920, height: 1080 } },
    { duration: 5, ratio: '16:9', resolution: '720p' },
    [],
  ],
  [
    'the first versions stop at 1080p',
    'seedance-1-0-pro-250528',
    { size: { width: 3840, height: 2160 } },
    { duration: 5, ratio: '16:9', resolution: '1080p' },
    [],
  ],
  [
    'a ratio that fits none is left out [4.4-28]',
    'seedance-2-0',
    { size: { width: 2000, height: 500 } },
    { duration: 5, resolution: '720p' },
    [],
  ],
  [
    'explicit words win',
    'seedance-2-0',
    { size: { width: 1280, height: 720 }, ratio: '9:16', resolution: '1080P' },
    { duration: 5, ratio: '9:16', resolution: '1080p' },
    [],
  ],
  [
    'a first frame has its own ratio',
    'seedance-2-0',
    { firstFrame: PNG, size: { width: 1280, height: 720 } },
    {
      duration: 5,
      ratio: 'adaptive',
      resolution: '720p',
      content: [TEXT, picture(`data:image/png;base64,${PNG_BASE64}`, 'first_frame')],
    },
    [],
  ],
  [
    'unless the client names one',
    'seedance-2-0',
    { firstFrame: PICTURE, lastFrame: PICTURE, ratio: '1:1' },
    {
      duration: 5,
      ratio: '1:1',
      content: [TEXT, picture(PICTURE.url, 'first_frame'), picture(PICTURE.url, 'last_frame')],
    },
    [],
  ],
  [
    'frames shut references out',
    'seedance-2-0',
    { firstFrame: PICTURE, referenceImages: [PICTURE], referenceVideos: ['https://cdn.example/m.mp4'] },
    { duration: 5, ratio: 'adaptive', content: [TEXT, picture(PICTURE.url, 'first_frame')] },
    ['reference_images', 'reference_videos'],
  ],
  ['a last frame alone is dropped', 'seedance-2-0', { lastFrame: PICTURE }, { duration: 5 }, ['image_tail']],
  [
    'references of all kinds',
    'ep-20260128-abc',
    {
      referenceImages: Array(10).fill(PICTURE),
      referenceVideos: ['https://cdn.example/m.mp4'],
      referenceAudios: ['https://cdn.example/a.mp3'],
    },
    {
      duration: 5,
      content: [
        TEXT,
        ...Array(9).fill(picture(PICTURE.url, 'reference_image')),
        { type: 'video_url', video_url: { url: 'https://cdn.example/m.mp4' }, role: 'reference_video' },
        { type: 'audio_url', audio_url: { url: 'https://cdn.example/a.mp3' }, role: 'reference_audio' },
      ],
    },
    ['reference_images'],
  ],
  [
    'sounds never stand alone',
    'seedance-2-0',
    { referenceAudios: ['https://cdn.example/a.mp3'] },
    { duration: 5 },
    ['reference_audios'],
  ],
  [
    'but on 2.5, which goes up to 1080p',
    'doubao-seedance-2-5-260628',
    { referenceAudios: ['https://cdn.example/a.mp3'], size: { width: 3840, height: 2160 } },
    {
      duration: 5,
      ratio: '16:9',
      resolution: '1080p',
      content: [
        TEXT,
        { type: 'audio_url', audio_url: { url: 'https://cdn.example/a.mp3' }, role: 'reference_audio' },
      ],
    },
    [],
  ],
  [
    'the first version: four references on Lite, no sound, a seed',
    'seedance-1-0-lite-i2v-250428',
    { referenceImages: Array(5).fill(PICTURE), generateAudio: true, seed: 7, watermark: false },
    {
      duration: 5,
      seed: 7,
      watermark: false,
      content: [TEXT, ...Array(4).fill(picture(PICTURE.url, 'reference_image'))],
    },
    ['generate_audio', 'reference_images'],
  ],
  [
    'the second version: sound, no seed',
    'seedance-2-0',
    { generateAudio: false, seed: 7 },
    { duration: 5, generate_audio: false },
    ['seed'],
  ],
  [
    'other fields go on, what is not a client’s to say does not [4.4-32]',
    'seedance-1-5-pro-251215',
    {
      negativePrompt: 'text',
      promptExtend: true,
      extras: {
        camera_fixed: true,
        return_last_frame: true,
        service_tier: 'flex',
        frames: 289,
        callback_url: 'https://client.example',
      },
    },
    { duration: 5, camera_fixed: true, return_last_frame: true },
    ['negative_prompt', 'prompt_extend', 'service_tier', 'frames', 'callback_url'],
  ],
]

describe('what Seedance is sent', () => {
  test.each(ROWS)('%s', (_, model, request, body, dropped) => {
    const formed = submitted(arkVideo, { ...SEEDANCE, model, request })
    expect(formed.request.url).toBe(TASKS)
    expect(JSON.parse(String(formed.request.body))).toEqual({ model, content: [TEXT], ...body })
    expect(formed.dropped).toEqual(dropped)
  })
})

describe('a task of Seedance', () => {
  const created = reply({ id: 'cgt-1' })

  test('is polled by its id', () => {
    const { steps, sent, last } = play(arkVideo, SEEDANCE, [
      created,
      reply({ id: 'cgt-1', status: 'queued' }),
      reply({ id: 'cgt-1', status: 'running' }),
      reply({
        id: 'cgt-1',
        status: 'succeeded',
        content: { video_url: LINK, last_frame_url: 'https://ark-content.example/l.png' },
        resolution: '720p',
        ratio: '9:16',
        duration: 5,
      }),
    ])
    expect(sent.slice(1)).toEqual(Array(3).fill(`GET ${TASKS}/cgt-1`))
    expect(steps.slice(0, 3).map((step) => (step.kind === 'poll' ? step.status : step.kind))).toEqual([
      'queued',
      'queued',
      'in_progress',
    ])
    expect(last).toEqual({
      kind: 'done',
      result: { kind: 'link', url: LINK, lastsMs: 86_400_000 },
      secondsProduced: 5,
      size: '720x1280',
      state: { id: 'cgt-1' },
    })
  })

  test.each([
    ['failed', 'OutputVideoSensitiveContentDetected', 'moderation'],
    ['failed', 'OutputAudioSensitiveContentDetected.PolicyViolation', 'moderation'],
    ['failed', 'InvalidParameter', 'invalid'],
    ['failed', 'InternalServiceError', 'upstream'],
    ['failed', 'SomethingNew', 'upstream'],
  ])('that has %s with %s', (status, code, kind) => {
    const error = { code, message: 'The output is no good. Request id: 0217a4' }
    const { last } = play(arkVideo, SEEDANCE, [created, reply({ id: 'cgt-1', status, error })])
    expect(last).toMatchObject({
      kind: 'failed',
      failure: { class: kind, code, message: 'The output is no good.' },
    })
    expect(JSON.stringify(last)).not.toContain('0217a4')
  })

  test.each(['cancelled', 'expired'])('that was %s', (status) => {
    expect(play(arkVideo, SEEDANCE, [created, reply({ id: 'cgt-1', status })]).last).toMatchObject({
      failure: { class: status, code: status },
    })
  })

  test('without a video is asked again', () => {
    const { steps } = play(arkVideo, SEEDANCE, [
      created,
      reply({ id: 'cgt-1', status: 'succeeded', content: {} }),
      reply(undefined),
      reply({ id: 'cgt-1', status: 'succeeded', content: { video_url: LINK } }),
    ])
    expect(steps.map((step) => step.kind)).toEqual(['poll', 'unreadable', 'unreadable', 'done'])
  })

  test.each([undefined, {}, [], { error: null }])(
    'an answer of %j to the create call cannot be read',
    (body) => {
      expect(play(arkVideo, SEEDANCE, [reply(body)]).last.kind).toBe('unreadable')
    },
  )
})

describe('a call refused', () => {
  test.each([
    [400, 'InvalidParameter', 'request'],
    [400, 'InputTextSensitiveContentDetected', 'refused-content'],
    [400, 'InputImageSensitiveContentDetected.PrivacyInformation', 'refused-content'],
    [401, 'AuthenticationError', 'auth'],
    [403, 'AccountOverdueError', 'quota'],
    [404, 'InvalidEndpoint.NotFound', 'not-found'],
    [404, 'ModelNotOpen', 'auth'],
    [429, 'RateLimitExceeded.EndpointRPMExceeded', 'rate-limited'],
    [429, 'QuotaExceeded', 'rate-limited'],
    [429, 'ServerOverloaded', 'overloaded'],
    [500, 'InternalServiceError', 'overloaded'],
  ])('with %i %s', (status, code, kind) => {
    expect(arkVideo.classify({ status, body: { error: { code, message: '' } }, headers: {} }).kind).toBe(kind)
  })
})

describe('pixels that answers leave unsaid', () => {
  test.each([
    ['16:9', '720p', 'later', '1280x720'],
    ['16:9', '720P', 'first', '1248x704'],
    ['3:4', '1080p', 'later', '1248x1664'],
    ['21:9', '4k', 'later', '4398x1886'],
    ['21:9', '4k', 'first', undefined],
    ['adaptive', '720p', 'later', undefined],
    [undefined, '720p', 'later', undefined],
    ['16:9', undefined, 'later', undefined],
  ] as const)('%s at %s, %s', (ratio, resolution, generation, size) => {
    expect(pixelsOf({ ratio, resolution, generation })).toBe(size)
  })
})
