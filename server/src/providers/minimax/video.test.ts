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
} from '../video-forms/testing/order.ts'
import { minimaxVideo } from './video.ts'

const BASE = 'https://api.minimax.io/v1'
const HAILUO: Order = { model: 'MiniMax-Hailuo-02', baseUrl: BASE }
const H3: Order = { model: 'MiniMax-H3', baseUrl: BASE }
const PICTURE = at('https://cdn.example/a.png')
const LINK = 'https://files.example/output.mp4'
const HD = { width: 1920, height: 1080 }
const SD = { width: 854, height: 480 }
const TEXT = { type: 'text', text: 'a red kite' }

type Row = readonly [
  what: string,
  model: string,
  request: Partial<VideoRequest>,
  body: object,
  dropped: readonly string[],
]

const FIRST: readonly Row[] = [
  ['no seconds are six, said outright', 'MiniMax-Hailuo-2.3', {}, { duration: 6 }, []],
  ['"10" is a number [4.4-22]', 'MiniMax-Hailuo-2.3', { seconds: '10' }, { duration: 10 }, []],
  ['seconds out of range go on [4.4-25]', 'MiniMax-Hailuo-2.3', { seconds: '7' }, { duration: 7 }, []],
  ['a size is a resolution', 'MiniMax-Hailuo-2.3', { size: HD }, { duration: 6, resolution: '1080P' }, []],
  [
    'ten seconds give up a derived 1080P',
    'MiniMax-Hailuo-2.3',
    { size: HD, seconds: '10' },
    { duration: 10, resolution: '768P' },
    [],
  ],
  [
    'never an explicit one',
    'MiniMax-Hailuo-2.3',
    { size: SD, resolution: '1080p', seconds: '10' },
    { duration: 10, resolution: '1080P' },
    [],
  ],
  ['words have no 512P', 'MiniMax-Hailuo-02', { size: SD }, { duration: 6, resolution: '768P' }, []],
  [
    'a first frame has',
    'MiniMax-Hailuo-02',
    { size: SD, firstFrame: PNG },
    { duration: 6, resolution: '512P', first_frame_image: `data:image/png;base64,${PNG_BASE64}` },
    [],
  ],
  [
    'both frames have not',
    'MiniMax-Hailuo-02',
    { size: SD, firstFrame: PICTURE, lastFrame: PICTURE },
    { duration: 6, resolution: '768P', first_frame_image: PICTURE.url, last_frame_image: PICTURE.url },
    [],
  ],
  [
    'other models have no last frame [4.4-36]',
    'MiniMax-Hailuo-2.3',
    { firstFrame: PICTURE, lastFrame: PICTURE },
    { duration: 6, first_frame_image: PICTURE.url },
    ['image_tail'],
  ],
  ['nor has it one alone', 'MiniMax-Hailuo-02', { lastFrame: PICTURE }, { duration: 6 }, ['image_tail']],
  [
    'a subject, on the model for it',
    'S2V-01',
    { referenceImages: [PICTURE, PICTURE], size: HD },
    { duration: 6, subject_reference: [{ type: 'character', image: [PICTURE.url] }] },
    ['size', 'reference_images'],
  ],
  [
    'what it has no place for',
    'MiniMax-Hailuo-2.3',
    {
      ratio: '16:9',
      referenceImages: [PICTURE],
      negativePrompt: 'text',
      generateAudio: true,
      seed: 1,
      watermark: false,
      promptExtend: false,
      extras: { fast_pretreatment: true, callback_url: 'https://client.example', duration: 10 },
    },
    { duration: 6, aigc_watermark: false, prompt_optimizer: false, fast_pretreatment: true },
    ['ratio', 'reference_images', 'negative_prompt', 'generate_audio', 'seed', 'callback_url', 'duration'],
  ],
]

describe('what the first form is sent', () => {
  test.each(FIRST)('%s (%s)', (_, model, request, body, dropped) => {
    const formed = submitted(minimaxVideo, { ...HAILUO, model, request })
    expect(formed.request.url).toBe(`${BASE}/video_generation`)
    expect(JSON.parse(String(formed.request.body))).toEqual({ model, prompt: 'a red kite', ...body })
    expect(formed.dropped).toEqual(dropped)
  })
})

const SECOND: readonly Row[] = [
  ['words alone need a ratio', 'MiniMax-H3', {}, { duration: 6, ratio: '16:9' }, []],
  [
    'of the size, where it has one',
    'MiniMax-H3',
    { size: { width: 1080, height: 1920 }, seconds: '15' },
    { duration: 15, ratio: '9:16', resolution: '768P' },
    [],
  ],
  [
    'its higher step is 2K',
    'MiniMax-H3',
    { size: { width: 3840, height: 2160 } },
    { duration: 6, ratio: '16:9', resolution: '2K' },
    [],
  ],
  [
    'explicit words win',
    'MiniMax-H3',
    { size: HD, ratio: '21:9', resolution: '2k' },
    { duration: 6, ratio: '21:9', resolution: '2K' },
    [],
  ],
  [
    'frames have their own ratio',
    'MiniMax-H3',
    {
      firstFrame: PICTURE,
      lastFrame: PICTURE,
      size: HD,
      ratio: '1:1',
      referenceAudios: ['https://cdn.example/a.mp3'],
    },
    {
      duration: 6,
      resolution: '768P',
      content: [
        TEXT,
        { type: 'image_url', image_url: { url: PICTURE.url }, role: 'first_frame' },
        { type: 'image_url', image_url: { url: PICTURE.url }, role: 'last_frame' },
      ],
    },
    ['ratio', 'reference_audios'],
  ],
  [
    'references may do without one',
    'MiniMax-H3',
    { referenceVideos: Array(4).fill('https://cdn.example/m.mp4'), generateAudio: false, seed: 1 },
    {
      duration: 6,
      content: [
        TEXT,
        ...Array(3).fill({
          type: 'video_url',
          video_url: { url: 'https://cdn.example/m.mp4' },
          role: 'reference_video',
        }),
      ],
    },
    ['generate_audio', 'seed', 'reference_videos'],
  ],
]

describe('what the second form is sent', () => {
  test.each(SECOND)('%s', (_, model, request, body, dropped) => {
    const formed = submitted(minimaxVideo, { ...H3, model, request })
    expect(formed.request.url).toBe('https://api.minimax.io/v2/video_generation')
    expect(JSON.parse(String(formed.request.body))).toEqual({ model, content: [TEXT], ...body })
    expect(formed.dropped).toEqual(dropped)
  })
})

const OK = { status_code: 0, status_msg: 'success' }

describe('a task of the first form', () => {
  const created = reply({ task_id: '1069', base_resp: OK })
  const query = `GET ${BASE}/query/video_generation?task_id=1069`
  const success = {
    task_id: '1069',
    status: 'Success',
    file_id: '176844',
    video_width: 1366,
    video_height: 768,
    base_resp: OK,
  }
  const file = `${BASE}/files/retrieve?file_id=176844`

  test('is polled, and then its file is asked for', () => {
    const { steps, sent, last } = play(minimaxVideo, HAILUO, [
      created,
      reply({ task_id: '1069', status: 'Queueing', base_resp: OK }),
      reply({ task_id: '1069', status: 'Processing', base_resp: OK }),
      reply(success),
      reply({ file: { file_id: 176844, bytes: 0, download_url: LINK }, base_resp: OK }),
    ])
    expect(sent.slice(1)).toEqual([query, query, query, `GET ${file}`])
    expect(
      steps.map((step) => (step.kind === 'poll' ? `${step.status} ${step.afterMs}` : step.kind)),
    ).toEqual(['queued 10000', 'queued 10000', 'in_progress 10000', 'in_progress 2000', 'done'])
    expect(last).toEqual({
      kind: 'done',
      result: { kind: 'link', url: LINK, lastsMs: 32_400_000 },
      size: '1366x768',
      state: { id: '1069', file: '176844', size: '1366x768' },
    })
  })

  test('whose file lags is asked again', () => {
    const { steps } = play(minimaxVideo, HAILUO, [
      created,
      reply({ ...success, file_id: '' }),
      reply(success),
      reply({ file: {}, base_resp: OK }),
      reply({ file: { download_url: LINK }, base_resp: OK }),
    ])
    expect(steps.map((step) => step.kind)).toEqual(['poll', 'unreadable', 'poll', 'unreadable', 'done'])
  })

  test('whose link has died gets a new one', () => {
    const context = contextOf(HAILUO, { id: '1069', file: '176844' })
    expect(minimaxVideo.renew?.(context)?.url).toBe(file)
    expect(minimaxVideo.renew?.(contextOf(HAILUO, { id: '1069' }))).toBeUndefined()
  })

  test.each([
    [1026, 'moderation'],
    [1008, 'quota'],
    [1002, 'rate'],
    [1004, 'auth'],
    [2013, 'invalid'],
    [1000, 'upstream'],
    [7777, 'upstream'],
  ])('refused with %i in a 200', (code, kind) => {
    const body = { task_id: '', base_resp: { status_code: code, status_msg: 'no' } }
    expect(play(minimaxVideo, HAILUO, [reply(body)]).last).toMatchObject({
      kind: 'failed',
      failure: { class: kind, code: String(code), message: 'no', body },
    })
  })

  test.each<[string, JsonValue, string, string]>([
    ['1027', { status_code: 1027, status_msg: 'output sensitive' }, 'moderation', 'output sensitive'],
    ['1000', { status_code: 1000, status_msg: 'unknown' }, 'upstream', 'unknown'],
    ['failed', OK, 'upstream', 'the task has failed upstream, without a reason'],
  ])('that failed with %s', (code, base, kind, message) => {
    const body = { task_id: '1069', status: 'Fail', base_resp: base }
    expect(play(minimaxVideo, HAILUO, [created, reply(body)]).last).toMatchObject({
      kind: 'failed',
      failure: { class: kind, code, message },
    })
  })

  test('goes on when a poll or the question for its file came too fast', () => {
    const tooFast = reply({ base_resp: { status_code: 1002, status_msg: 'rate limit' } })
    const { steps, sent } = play(minimaxVideo, HAILUO, [
      created,
      tooFast,
      reply({ base_resp: { status_code: 1004, status_msg: 'who are you' } }),
      reply(success),
      tooFast,
      reply({ file: { download_url: LINK }, base_resp: OK }),
    ])
    expect(steps.map((step) => (step.kind === 'poll' ? step.afterMs : step.kind))).toEqual([
      10_000,
      20_000,
      'unreadable',
      2000,
      20_000,
      'done',
    ])
    expect(sent.slice(1)).toEqual([query, query, `GET ${file}`, `GET ${file}`])
  })

  test.each([undefined, {}, [], { base_resp: OK }, { task_id: '', base_resp: OK }])(
    'an answer of %j cannot be read',
    (body) => {
      expect(play(minimaxVideo, HAILUO, [reply(body)]).last.kind).toBe('unreadable')
      expect(play(minimaxVideo, HAILUO, [created, reply(body)]).last.kind).toBe('unreadable')
    },
  )
})

describe('a task of the second form', () => {
  const created = reply({ task_id: 't1' })

  test('is polled until its link is there', () => {
    const { sent, steps, last } = play(minimaxVideo, H3, [
      created,
      reply({ task: { id: 't1', status: 'running' } }),
      reply({
        task: {
          id: 't1',
          status: 'succeeded',
          content: { url: LINK, prompt: 'a red kite' },
          usage: { total_seconds: 6, output_seconds: 6.2 },
        },
      }),
    ])
    expect(sent.slice(1)).toEqual(Array(2).fill('GET https://api.minimax.io/v2/query/video_generation/t1'))
    expect(steps.slice(0, 2)).toMatchObject([
      { status: 'queued', afterMs: 10_000 },
      { status: 'in_progress' },
    ])
    expect(last).toMatchObject({
      kind: 'done',
      result: { kind: 'link', url: LINK, lastsMs: 3_600_000 },
      secondsProduced: 6.2,
    })
  })

  test.each([
    ['failed', { code: '1027', message: 'output sensitive' }, 'moderation'],
    ['failed', { code: 'odd', message: 'no' }, 'upstream'],
    ['expired', undefined, 'expired'],
    ['cancelled', undefined, 'cancelled'],
  ])('that has %s with %j', (status, error, kind) => {
    const task = { id: 't1', status, ...(error === undefined ? {} : { error }) }
    expect(play(minimaxVideo, H3, [created, reply({ task })]).last).toMatchObject({
      kind: 'failed',
      failure: { class: kind },
    })
  })

  test.each([undefined, {}, { task: {} }])('an answer of %j cannot be read', (body) => {
    expect(play(minimaxVideo, H3, [reply(body)]).last.kind).toBe('unreadable')
    expect(play(minimaxVideo, H3, [created, reply(body)]).last.kind).toBe('unreadable')
  })
})

describe('a call refused', () => {
  test.each([
    [400, 'bad_request_error', 'request'],
    [401, 'authorized_error', 'auth'],
    [402, 'insufficient_balance_error', 'quota'],
    [422, 'unprocessable_entity_error', 'refused-content'],
    [429, 'rate_limit_error', 'rate-limited'],
    [500, 'server_error', 'overloaded'],
  ])('with %i %s', (status, type, kind) => {
    const body = { type: 'error', error: { type, message: '', http_code: String(status) } }
    expect(minimaxVideo.classify({ status, body, headers: {} }).kind).toBe(kind)
  })
})
