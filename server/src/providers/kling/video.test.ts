import { describe, expect, test } from 'vitest'
import type { JsonValue } from '../../core/json.ts'
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
import { klingVideo } from './video.ts'

const BASE = 'https://api-singapore.klingai.com'
const OURS = 'video_abc123'
const OLD: Order = { model: 'kling-v2-6', baseUrl: BASE }
const OMNI: Order = { model: 'kling-v3-omni', baseUrl: BASE }
const NEW: Order = { model: 'kling-3.0', baseUrl: BASE }
const PICTURE = at('https://cdn.example/a.png')
const LINK = 'https://cdn.klingai.com/v.mp4'
const WIDE = { width: 1280, height: 720 }

type Row = readonly [
  what: string,
  model: string,
  request: Partial<VideoRequest>,
  path: string,
  body: object,
  dropped: readonly string[],
]

const FIRST_GENERATION: readonly Row[] = [
  ['no seconds are five, as text', 'kling-v2-6', {}, 'text2video', { duration: '5' }, []],
  ['seconds are text [4.4-22]', 'kling-v3', { seconds: '8' }, 'text2video', { duration: '8' }, []],
  [
    'seconds out of range go on [4.4-25]',
    'kling-v2-6',
    { seconds: '99' },
    'text2video',
    { duration: '99' },
    [],
  ],
  [
    'a size is a ratio and a mode',
    'kling-v2-6',
    { size: { width: 1080, height: 1920 } },
    'text2video',
    { duration: '5', aspect_ratio: '9:16', mode: 'pro' },
    [],
  ],
  [
    'only the third version has 4k',
    'kling-v3',
    { size: { width: 3840, height: 2160 } },
    'text2video',
    { duration: '5', aspect_ratio: '16:9', mode: '4k' },
    [],
  ],
  [
    'others have less',
    'kling-v2-6',
    { size: { width: 3840, height: 2160 } },
    'text2video',
    { duration: '5', aspect_ratio: '16:9', mode: 'pro' },
    [],
  ],
  [
    'explicit words win',
    'kling-v2-6',
    { size: WIDE, ratio: '1:1', resolution: '1080P' },
    'text2video',
    { duration: '5', aspect_ratio: '1:1', mode: 'pro' },
    [],
  ],
  [
    'a resolution it has no word for',
    'kling-v2-6',
    { resolution: '540p' },
    'text2video',
    { duration: '5' },
    ['resolution'],
  ],
  [
    'its own mode',
    'kling-v2-6',
    { size: WIDE, extras: { mode: 'pro', cfg_scale: 0.7 } },
    'text2video',
    { duration: '5', aspect_ratio: '16:9', mode: 'pro', cfg_scale: 0.7 },
    [],
  ],
  [
    'a first frame: bare base64, and its own ratio',
    'kling-v2-6',
    { firstFrame: PNG, size: WIDE, ratio: '1:1' },
    'image2video',
    { duration: '5', mode: 'std', image: PNG_BASE64 },
    ['ratio'],
  ],
  [
    'a last frame may stand alone',
    'kling-v2-1',
    { lastFrame: PICTURE },
    'image2video',
    { duration: '5', image_tail: PICTURE.url },
    [],
  ],
  [
    'references, where the model takes them',
    'kling-v1-6',
    { referenceImages: Array(5).fill(PICTURE) },
    'multi-image2video',
    { duration: '5', image_list: Array(4).fill({ image: PICTURE.url }) },
    ['reference_images'],
  ],
  [
    'references elsewhere',
    'kling-v3',
    { referenceImages: [PICTURE] },
    'text2video',
    { duration: '5' },
    ['reference_images'],
  ],
  [
    'words about sound, paint and what to avoid',
    'kling-v3',
    { generateAudio: false, watermark: true, negativePrompt: 'text' },
    'text2video',
    { duration: '5', sound: 'off', watermark_info: { enabled: true }, negative_prompt: 'text' },
    [],
  ],
  [
    'sound on 2.6 needs full pixels',
    'kling-v2-6',
    { generateAudio: true, size: WIDE },
    'text2video',
    { duration: '5', aspect_ratio: '16:9', sound: 'on', mode: 'pro' },
    [],
  ],
  [
    'but not against an explicit word',
    'kling-v2-6',
    { generateAudio: true, resolution: '720p' },
    'text2video',
    { duration: '5', sound: 'on', mode: 'std' },
    [],
  ],
  [
    'what it has no place for',
    'kling-v2-1',
    {
      generateAudio: true,
      seed: 1,
      promptExtend: true,
      referenceAudios: ['https://cdn.example/a.mp3'],
      extras: { duration: '10', external_task_id: 'mine', callback_url: 'https://client.example' },
    },
    'text2video',
    { duration: '5' },
    [
      'reference_audios',
      'generate_audio',
      'seed',
      'prompt_extend',
      'duration',
      'external_task_id',
      'callback_url',
    ],
  ],
  [
    'omni: frames and references in one list',
    'kling-v3-omni',
    {
      firstFrame: PNG,
      referenceImages: [PICTURE],
      size: WIDE,
      referenceVideos: ['https://cdn.example/m.mp4'],
    },
    'omni-video',
    {
      duration: '5',
      mode: 'std',
      image_list: [{ image_url: PNG_BASE64, type: 'first_frame' }, { image_url: PICTURE.url }],
      video_list: [
        { video_url: 'https://cdn.example/m.mp4', refer_type: 'feature', keep_original_sound: 'no' },
      ],
    },
    [],
  ],
  [
    'omni: both frames shut references out',
    'kling-video-o1',
    { firstFrame: PICTURE, lastFrame: PICTURE, referenceImages: [PICTURE] },
    'omni-video',
    {
      duration: '5',
      image_list: [
        { image_url: PICTURE.url, type: 'first_frame' },
        { image_url: PICTURE.url, type: 'end_frame' },
      ],
    },
    ['reference_images'],
  ],
  [
    'omni: words alone need a ratio',
    'kling-v3-omni',
    { size: { width: 1024, height: 768 } },
    'omni-video',
    { duration: '5', aspect_ratio: '16:9', mode: 'std' },
    [],
  ],
  [
    'omni: seven pictures, one video, no last frame alone',
    'kling-v3-omni',
    {
      lastFrame: PICTURE,
      referenceImages: Array(9).fill(PICTURE),
      ratio: '9:16',
    },
    'omni-video',
    { duration: '5', aspect_ratio: '9:16', image_list: Array(7).fill({ image_url: PICTURE.url }) },
    ['image_tail', 'reference_images'],
  ],
]

describe('what the first generation is sent', () => {
  test.each(FIRST_GENERATION)('%s (%s)', (_, model, request, path, body, dropped) => {
    const formed = submitted(klingVideo, { ...OLD, model, request })
    expect(formed.request.url).toBe(`${BASE}/v1/videos/${path}`)
    expect(JSON.parse(String(formed.request.body))).toEqual({
      model_name: model,
      prompt: 'a red kite',
      external_task_id: OURS,
      ...body,
    })
    expect(formed.dropped).toEqual(dropped)
    expect(formed.state).toEqual({ path })
  })
})

const prompt = { type: 'prompt', text: 'a red kite' }
const SECOND_GENERATION: readonly Row[] = [
  [
    'seconds are a number [4.4-22]',
    'kling-3.0',
    { seconds: '8' },
    'text-to-video',
    { settings: { duration: 8 } },
    [],
  ],
  [
    'a size is a ratio and a resolution',
    'kling-3.0',
    { size: { width: 3840, height: 2160 } },
    'text-to-video',
    { settings: { duration: 5, aspect_ratio: '16:9', resolution: '4k' } },
    [],
  ],
  [
    'Turbo has no 4k and one picture',
    'kling-3.0-turbo',
    { size: { width: 3840, height: 2160 }, firstFrame: PICTURE, lastFrame: PICTURE, ratio: '1:1' },
    'image-to-video',
    {
      contents: [prompt, { type: 'first_frame', url: PICTURE.url }],
      settings: { duration: 5, resolution: '1080p' },
    },
    ['ratio', 'image_tail'],
  ],
  [
    'both frames',
    'kling-3.0',
    { firstFrame: PICTURE, lastFrame: PNG },
    'image-to-video',
    {
      contents: [prompt, { type: 'first_frame', url: PICTURE.url }, { type: 'last_frame', url: PNG_BASE64 }],
      settings: { duration: 5 },
    },
    [],
  ],
  [
    'sound on 2.6 needs full pixels',
    'kling-2.6',
    { generateAudio: true, size: WIDE },
    'text-to-video',
    { settings: { duration: 5, aspect_ratio: '16:9', resolution: '1080p', audio: 'native' } },
    [],
  ],
  [
    'other fields are settings',
    'kling-3.0',
    { generateAudio: false, watermark: false, extras: { multi_shot: true }, negativePrompt: 'text' },
    'text-to-video',
    {
      settings: { duration: 5, audio: 'off', multi_shot: true },
      options: { external_task_id: OURS, watermark_info: { enabled: false } },
    },
    ['negative_prompt'],
  ],
  [
    'omni takes references',
    'kling-3.0-omni',
    {
      referenceImages: [PICTURE],
      referenceVideos: ['https://cdn.example/m.mp4', 'https://cdn.example/n.mp4'],
    },
    'omni-video',
    {
      contents: [
        prompt,
        { type: 'refer_image', url: PICTURE.url },
        { type: 'feature_video', url: 'https://cdn.example/m.mp4' },
      ],
      settings: { duration: 5 },
    },
    ['reference_videos'],
  ],
  [
    'others do not',
    'kling-3.0',
    { referenceImages: [PICTURE] },
    'text-to-video',
    { settings: { duration: 5 } },
    ['reference_images'],
  ],
]

describe('what the second generation is sent', () => {
  test.each(SECOND_GENERATION)('%s (%s)', (_, model, request, path, body, dropped) => {
    const formed = submitted(klingVideo, { ...NEW, model, request })
    expect(formed.request.url).toBe(`${BASE}/${path}/${model}`)
    expect(JSON.parse(String(formed.request.body))).toEqual({
      ...('contents' in body ? {} : { prompt: 'a red kite' }),
      options: { external_task_id: OURS },
      ...body,
    })
    expect(formed.dropped).toEqual(dropped)
  })
})

const ok = (data: JsonValue): JsonValue => ({ code: 0, message: 'SUCCEED', request_id: 'r1', data })

describe('a task of the first generation', () => {
  const created = ok({ task_id: '840', task_status: 'submitted' })

  test('is polled below its own path', () => {
    const { steps, sent, last } = play(klingVideo, { ...OLD, request: { firstFrame: PNG } }, [
      reply(created),
      reply(ok({ task_id: '840', task_status: 'processing' })),
      reply(
        ok({
          task_id: '840',
          task_status: 'succeed',
          task_status_msg: '',
          task_result: {
            videos: [
              { id: 'v0', url: '' },
              { id: 'v1', url: LINK, watermark_url: 'x', duration: '5.1' },
            ],
          },
        }),
      ),
    ])
    expect(sent.slice(1)).toEqual(Array(2).fill(`GET ${BASE}/v1/videos/image2video/840`))
    expect(steps.slice(0, 2)).toMatchObject([
      { kind: 'poll', status: 'queued', afterMs: 8000 },
      { kind: 'poll', status: 'in_progress' },
    ])
    expect(last).toEqual({
      kind: 'done',
      result: { kind: 'link', url: LINK, lastsMs: 2_592_000_000 },
      secondsProduced: 5.1,
      size: undefined,
      state: { path: 'image2video', id: '840' },
    })
  })

  test.each([
    ['Failure to pass the risk control system', 'moderation', 'risk_control'],
    ['Image pixel is invalid', 'invalid', 'failed'],
    ['something broke', 'upstream', 'failed'],
  ])('fails: %s', (message, kind, code) => {
    const body = ok({ task_id: '840', task_status: 'failed', task_status_msg: message })
    const { last } = play(klingVideo, OLD, [reply(created), reply(body)])
    expect(last).toMatchObject({ kind: 'failed', failure: { class: kind, code, message } })
    expect(JSON.stringify(last)).not.toContain('r1')
  })

  test.each([
    [1301, 'moderation'],
    [1303, 'rate'],
    [1102, 'quota'],
    [1004, 'auth'],
    [1201, 'invalid'],
    [5000, 'upstream'],
    [9999, 'upstream'],
  ])('refused with %i in a 200', (code, kind) => {
    const body = { code, message: 'no', request_id: 'r1', data: null }
    expect(play(klingVideo, OLD, [reply(body)]).last).toMatchObject({
      kind: 'failed',
      failure: { class: kind, code: String(code), message: 'no', body: { code, message: 'no' } },
    })
  })

  test('a refused poll is no verdict; one too fast slows the next', () => {
    const { steps, sent } = play(klingVideo, OLD, [
      reply(created),
      reply({ code: 1302, message: 'too fast' }),
      reply({ code: 1000, message: 'who are you' }),
      reply(ok({ task_id: '840', task_status: 'processing' })),
    ])
    expect(steps.map((step) => (step.kind === 'poll' ? step.afterMs : step.kind))).toEqual([
      8000,
      20_000,
      'unreadable',
      8000,
    ])
    expect(new Set(sent.slice(1)).size).toBe(1)
  })

  test.each([undefined, [], {}, ok(null), ok({ task_status: 'submitted' }), ok({ task_id: '1' })])(
    'an answer of %j cannot be read',
    (body) => {
      expect(play(klingVideo, OLD, [reply(body)]).last.kind).toBe('unreadable')
    },
  )

  test('success without a video is asked again', () => {
    const body = ok({ task_id: '840', task_status: 'succeed', task_result: { videos: [] } })
    expect(play(klingVideo, OLD, [reply(created), reply(body)]).last.kind).toBe('unreadable')
  })

  test('is found by our own id when its create call got no answer', () => {
    const context = contextOf(OMNI, { path: 'omni-video' })
    expect(klingVideo.find?.(context)?.url).toBe(`${BASE}/v1/videos/omni-video/${OURS}`)
  })
})

describe('a task of the second generation', () => {
  const created = ok({ id: 't1', status: 'submitted', external_id: OURS })

  test('is polled among all tasks', () => {
    const { sent, last } = play(klingVideo, NEW, [
      reply(created),
      reply(ok([{ id: 't1', status: 'processing', message: '' }])),
      reply(
        ok([
          {
            id: 't1',
            status: 'succeeded',
            message: 'SUCCEED',
            outputs: [
              { type: 'cover', url: 'https://cdn.example/c.png' },
              { type: 'video', id: 'v', url: LINK, duration: '5.04' },
            ],
          },
        ]),
      ),
    ])
    expect(sent.slice(1)).toEqual(Array(2).fill(`GET ${BASE}/tasks?task_ids=t1`))
    expect(last).toMatchObject({
      kind: 'done',
      result: { url: LINK },
      secondsProduced: 5.04,
      state: { id: 't1' },
    })
  })

  test('fails with its message', () => {
    const failed = ok([{ id: 't1', status: 'failed', message: 'Failure to pass the risk control system' }])
    expect(play(klingVideo, NEW, [reply(created), reply(failed)]).last).toMatchObject({
      failure: { class: 'moderation' },
    })
  })

  test('is found by our own id; while it is not there, that is no answer', () => {
    expect(klingVideo.find?.(contextOf(NEW, {}))?.url).toBe(`${BASE}/tasks?external_task_ids=${OURS}`)
    expect(klingVideo.step(reply(ok([])), contextOf(NEW, {})).kind).toBe('unreadable')
  })
})

describe('a call refused', () => {
  test.each([
    [401, 1002, 'auth'],
    [429, 1101, 'quota'],
    [403, 1103, 'auth'],
    [400, 1201, 'request'],
    [404, 1203, 'not-found'],
    [400, 1301, 'refused-content'],
    [429, 1302, 'rate-limited'],
    [429, 1304, 'auth'],
    [503, 5001, 'overloaded'],
    [429, undefined, 'rate-limited'],
  ])('with %i and code %s', (status, code, kind) => {
    const body = { ...(code === undefined ? {} : { code }), message: '', request_id: '' }
    expect(klingVideo.classify({ status, body, headers: {} }).kind).toBe(kind)
  })

  test('and the order in its body is never the client’s to name', () => {
    expect(
      submittedBody(klingVideo, { ...OLD, request: { extras: { model_name: 'kling-v3' } } }),
    ).toMatchObject({
      model_name: 'kling-v2-6',
    })
  })
})
