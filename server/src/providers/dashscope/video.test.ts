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
import { dashscopeVideo } from './video.ts'

const BASE = 'https://dashscope.aliyuncs.com/compatible-mode/v1'
const API = 'https://dashscope.aliyuncs.com/api/v1'
const CREATE = `${API}/services/aigc/video-generation/video-synthesis`
const NEW: Order = { model: 'wan2.7-t2v', baseUrl: BASE }
const OLD: Order = { model: 'wan2.6-t2v', baseUrl: BASE }
const PICTURE = 'https://cdn.example/kite.png'
const DATA = `data:image/png;base64,${PNG_BASE64}`

describe('what Wan is sent', () => {
  test('an order in words, as a task', () => {
    const { request, state, dropped } = submitted(dashscopeVideo, {
      ...NEW,
      request: { seconds: '8', size: { width: 1280, height: 720 }, negativePrompt: 'text' },
    })
    expect(request).toMatchObject({ method: 'POST', url: CREATE })
    expect(request.headers['x-dashscope-async']).toBe('enable')
    expect(JSON.parse(String(request.body))).toEqual({
      model: 'wan2.7-t2v',
      input: { prompt: 'a red kite', negative_prompt: 'text' },
      parameters: { duration: 8, ratio: '16:9', resolution: '720P' },
    })
    expect([state, dropped]).toEqual([{}, []])
  })

  test.each<[string, string, string]>([
    ['the chat address', BASE, API],
    ['the video address', API, API],
    ['a bare host', 'https://dashscope-intl.aliyuncs.com', 'https://dashscope-intl.aliyuncs.com/api/v1'],
    [
      'a workspace of its own',
      'https://ws.cn-beijing.maas.aliyuncs.com/compatible-mode/v1/',
      'https://ws.cn-beijing.maas.aliyuncs.com/api/v1',
    ],
  ])('from %s', (_, baseUrl, api) => {
    expect(submitted(dashscopeVideo, { ...NEW, baseUrl }).request.url.startsWith(`${api}/services/`)).toBe(
      true,
    )
  })

  test.each<[string, Order, Partial<VideoRequest>, object]>([
    ['no seconds are the default, said outright', NEW, {}, { duration: 5 }],
    ['seconds out of range go on as they are [4.4-25]', NEW, { seconds: '77' }, { duration: 77 }],
    ['seconds that are no number go on as they are', NEW, { seconds: 'long' }, { duration: 'long' }],
    ['a small size is the smallest step 2.7 has', NEW, size(854, 480), { ratio: '16:9', resolution: '720P' }],
    ['a square', NEW, size(1024, 1024), { ratio: '1:1', resolution: '720P' }],
    ['a tall full picture', NEW, size(1080, 1920), { ratio: '9:16', resolution: '1080P' }],
    ['a size above all steps', NEW, size(3840, 2160), { ratio: '16:9', resolution: '1080P' }],
    ['a ratio 2.7 lacks leaves the resolution', NEW, size(1470, 630), { resolution: '720P' }],
    [
      'an explicit ratio and resolution win over the size',
      NEW,
      { ...size(1280, 720), ratio: '3:4', resolution: '1080p' },
      { ratio: '3:4', resolution: '1080P' },
    ],
    ['an explicit resolution is never given up', NEW, { resolution: '480p' }, { resolution: '480P' }],
    ['2.6 takes pixels', OLD, size(1280, 720), { size: '1280*720' }],
    ['2.6: the nearest pixels', OLD, size(1792, 1024), { size: '1920*1080' }],
    ['2.6: a square', OLD, size(1024, 1024), { size: '960*960' }],
    ['2.6: 4:3', OLD, size(1104, 832), { size: '1088*832' }],
    [
      '2.6: a ratio and a resolution choose a size',
      OLD,
      { ratio: '9:16', resolution: '1080p' },
      { size: '1080*1920' },
    ],
    [
      'switches',
      NEW,
      { seed: 7, watermark: false, promptExtend: true },
      { seed: 7, watermark: false, prompt_extend: true },
    ],
    ['a field nobody knows [4.4-32]', NEW, { extras: { shot_type: 'multi' } }, { shot_type: 'multi' }],
    ['3.0 has a small step', { ...NEW, model: 'wan3.0-video' }, size(854, 480), { resolution: '480P' }],
    ['3.0 can be silent', { ...NEW, model: 'wan3.0-video' }, { generateAudio: false }, { audio: false }],
    [
      '2.6 flash can be silent',
      { ...OLD, model: 'wan2.6-i2v-flash' },
      { generateAudio: false },
      { audio: false },
    ],
  ])('%s', (_, given, request, parameters) => {
    expect(submittedBody(dashscopeVideo, { ...given, request })['parameters']).toMatchObject(parameters)
  })

  test('2.6 has no pixels for a very wide picture: named', () => {
    const { request, dropped } = submitted(dashscopeVideo, { ...OLD, request: size(1470, 630) })
    expect(JSON.parse(String(request.body))).toMatchObject({ parameters: { duration: 5 } })
    expect(dropped).toEqual(['size'])
  })

  test.each<[string, string, Partial<VideoRequest>, string, object]>([
    [
      'a first frame',
      'wan2.7-t2v',
      { firstFrame: PNG },
      'wan2.7-i2v',
      { media: [{ type: 'first_frame', url: DATA }] },
    ],
    [
      'both frames',
      'wan2.7-t2v-2026-06-12',
      { firstFrame: at(PICTURE), lastFrame: PNG },
      'wan2.7-i2v',
      {
        media: [
          { type: 'first_frame', url: PICTURE },
          { type: 'last_frame', url: DATA },
        ],
      },
    ],
    [
      'a dated model keeps its date',
      'wan2.7-i2v-2026-04-25',
      { firstFrame: PNG },
      'wan2.7-i2v-2026-04-25',
      { media: [{ type: 'first_frame', url: DATA }] },
    ],
    ['words for a model of pictures', 'wan2.7-i2v', {}, 'wan2.7-t2v', {}],
    [
      'references beside a first frame',
      'wan2.7-t2v',
      { firstFrame: PNG, referenceImages: [at(PICTURE)], referenceVideos: ['https://cdn.example/a.mp4'] },
      'wan2.7-r2v',
      {
        media: [
          { type: 'first_frame', url: DATA },
          { type: 'reference_image', url: PICTURE },
          { type: 'reference_video', url: 'https://cdn.example/a.mp4' },
        ],
      },
    ],
    ['2.6: a first frame', 'wan2.6-t2v', { firstFrame: PNG }, 'wan2.6-i2v', { img_url: DATA }],
    [
      '2.6: references',
      'wan2.6-t2v',
      { referenceImages: [at(PICTURE)] },
      'wan2.6-r2v',
      { reference_urls: [PICTURE] },
    ],
    [
      '2.6: the frame goes before references',
      'wan2.6-t2v',
      { firstFrame: PNG, referenceImages: [PNG] },
      'wan2.6-i2v',
      { img_url: DATA },
    ],
    ['2.5 preview', 'wan2.5-t2v-preview', { firstFrame: PNG }, 'wan2.5-i2v-preview', { img_url: DATA }],
    [
      '2.2: both frames',
      'wan2.2-i2v-flash',
      { firstFrame: PNG, lastFrame: PNG },
      'wan2.2-kf2v-flash',
      { first_frame_url: DATA, last_frame_url: DATA },
    ],
    [
      '3.0: one model for all',
      'wan3.0-video',
      { firstFrame: PNG, lastFrame: PNG },
      'wan3.0-video',
      {
        media: [
          { type: 'first_frame', url: DATA },
          { type: 'last_frame', url: DATA },
        ],
      },
    ],
    [
      '3.0: sounds as references',
      'wan3.0-video',
      { referenceImages: [PNG], referenceAudios: ['https://cdn.example/a.mp3'] },
      'wan3.0-video',
      {
        media: [
          { type: 'reference_image', url: DATA },
          { type: 'reference_audio', url: 'https://cdn.example/a.mp3' },
        ],
      },
    ],
    [
      'the vendor’s own field beside the prompt',
      'wan2.7-t2v',
      { extras: { audio_url: PICTURE } },
      'wan2.7-t2v',
      { audio_url: PICTURE },
    ],
  ])('%s [4.4-33]', (_, model, request, sentModel, input) => {
    const body = submittedBody(dashscopeVideo, { model, baseUrl: BASE, request })
    expect(body['model']).toBe(sentModel)
    expect(body['input']).toEqual({ prompt: 'a red kite', ...input })
  })

  test('words for a model of references alone are left for the vendor to refuse', () => {
    const body = submittedBody(dashscopeVideo, { model: 'wan2.6-r2v-flash', baseUrl: BASE })
    expect(body).toMatchObject({ model: 'wan2.6-r2v-flash' })
    expect(body['input']).toEqual({ prompt: 'a red kite' })
  })

  test('both frames of 2.2 have an address of their own', () => {
    const { request } = submitted(dashscopeVideo, {
      model: 'wan2.2-kf2v-flash',
      baseUrl: BASE,
      request: { firstFrame: PNG, lastFrame: PNG },
    })
    expect(request.url).toBe(`${API}/services/aigc/image2video/video-synthesis`)
  })

  test.each<[string, string, Partial<VideoRequest>, readonly string[]]>([
    ['a tail without a first frame', 'wan2.7-t2v', { lastFrame: PNG }, ['image_tail']],
    ['a ratio beside a first frame', 'wan2.7-t2v', { firstFrame: PNG, ratio: '9:16' }, ['ratio']],
    [
      'a tail where there is no such model',
      'wan2.6-t2v',
      { firstFrame: PNG, lastFrame: PNG },
      ['image_tail'],
    ],
    [
      'references where there is no such model',
      'wan2.5-t2v-preview',
      { referenceImages: [PNG] },
      ['reference_images'],
    ],
    ['2.7 cannot be silenced', 'wan2.7-t2v', { generateAudio: false }, ['generate_audio']],
    ['sounds', 'wan2.7-t2v', { referenceAudios: ['https://cdn.example/a.mp3'] }, ['reference_audios']],
    [
      'a length or a callback beside the order',
      'wan2.7-t2v',
      { extras: { duration: 15, callback_url: 'https://x.example' } },
      ['duration', 'callback_url'],
    ],
  ])('dropped and named: %s [4.4-36]', (_, model, request, dropped) => {
    const submission = submitted(dashscopeVideo, { model, baseUrl: BASE, request })
    expect(submission.dropped).toEqual(dropped)
    expect(JSON.parse(String(submission.request.body))).toMatchObject({ parameters: { duration: 5 } })
  })
})

const PENDING = reply({ output: { task_id: '0385dc79', task_status: 'PENDING' }, request_id: 'r1' })
const RUNNING = reply({ request_id: 'r2', output: { task_id: '0385dc79', task_status: 'RUNNING' } })
const UNKNOWN = reply({ request_id: 'r2', output: { task_id: '0385dc79', task_status: 'UNKNOWN' } })

function outcome(output: JsonValue, usage: JsonValue = null): ReturnType<typeof reply> {
  return reply({ request_id: 'r3', output, usage })
}

describe('what Wan answers', () => {
  test('a task from its order to its link', () => {
    const { steps, sent, last } = play(dashscopeVideo, NEW, [
      PENDING,
      RUNNING,
      RUNNING,
      outcome(
        { task_id: '0385dc79', task_status: 'SUCCEEDED', video_url: 'https://oss.example/kite.mp4' },
        { duration: 5, output_video_duration: 5, SR: 720, video_count: 1, size: '1280*720' },
      ),
    ])
    expect(sent.slice(1)).toEqual(Array.from({ length: 3 }, () => `GET ${API}/tasks/0385dc79`))
    expect(steps[0]).toMatchObject({ kind: 'poll', status: 'queued', afterMs: 15_000 })
    expect(steps[1]).toMatchObject({ kind: 'poll', status: 'in_progress' })
    expect(last).toMatchObject({
      kind: 'done',
      result: { kind: 'link', url: 'https://oss.example/kite.mp4', lastsMs: 86_400_000 },
      secondsProduced: 5,
      size: '1280x720',
    })
  })

  test.each<[string, string, string]>([
    ['DataInspectionFailed', 'moderation', 'Output data may contain inappropriate content.'],
    ['InvalidParameter', 'invalid', 'The size is not supported.'],
    ['InternalError', 'upstream', 'Internal server error.'],
    ['SomethingNew', 'upstream', 'Who knows.'],
    ['Throttling.RateQuota', 'rate', 'Too many.'],
    ['Arrearage', 'quota', 'Pay first.'],
  ])('a task that failed with %s', (code, kind, message) => {
    const { last } = play(dashscopeVideo, NEW, [
      PENDING,
      outcome({ task_id: '0385dc79', task_status: 'FAILED', code, message: `${message} request_id: 7f-9` }),
    ])
    expect(last).toMatchObject({ kind: 'failed', failure: { class: kind, code, message } })
    // The vendor's own ids stay with us.
    expect(JSON.stringify(last)).not.toMatch(/7f-9|"r3"/)
  })

  test('a cancelled task', () => {
    const { last } = play(dashscopeVideo, NEW, [
      PENDING,
      outcome({ task_id: '0385dc79', task_status: 'CANCELED' }),
    ])
    expect(last).toMatchObject({ kind: 'failed', failure: { class: 'cancelled' } })
  })

  test('a task nobody knows any more has expired, one that is not known yet has not', () => {
    const early = play(dashscopeVideo, NEW, [PENDING, UNKNOWN, UNKNOWN, RUNNING, UNKNOWN])
    expect(early.last.kind).toBe('poll')
    const late = play(dashscopeVideo, NEW, [PENDING, UNKNOWN, UNKNOWN, UNKNOWN])
    expect(late.last).toMatchObject({ kind: 'failed', failure: { class: 'expired', code: 'UNKNOWN' } })
  })

  test('success without a link makes no sense', () => {
    const { last } = play(dashscopeVideo, NEW, [
      PENDING,
      outcome({ task_id: '0385dc79', task_status: 'SUCCEEDED' }),
    ])
    expect(last.kind).toBe('unreadable')
  })

  test('a refusal inside a 200', () => {
    const { last } = play(dashscopeVideo, NEW, [
      reply({ code: 'InvalidParameter', message: 'no', request_id: 'r4' }),
    ])
    expect(last).toMatchObject({ kind: 'failed', failure: { class: 'invalid', code: 'InvalidParameter' } })
  })

  test.each([null, 'oops', {}, [], undefined])('%j as an answer makes no sense', (body) => {
    expect(dashscopeVideo.accepted(reply(body), contextOf(NEW, {})).kind).toBe('unreadable')
    expect(dashscopeVideo.step(reply(body), contextOf(NEW, { id: '1' })).kind).toBe('unreadable')
  })

  test.each([
    [429, 'Throttling.RateQuota', 'rate-limited'],
    [400, 'DataInspectionFailed', 'refused-content'],
    [400, 'InvalidParameter', 'request'],
    [400, 'Arrearage', 'quota'],
    [401, 'InvalidApiKey', 'auth'],
    [403, 'Model.AccessDenied', 'auth'],
    [404, 'ModelNotFound', 'not-found'],
    [500, 'InternalError', 'overloaded'],
    [503, 'ModelUnavailable', 'overloaded'],
  ])('a call refused with %i %s is %s', (status, code, kind) => {
    const body = { code, message: 'no', request_id: 'r4' }
    expect(dashscopeVideo.classify({ status, headers: {}, body }).kind).toBe(kind)
  })
})

function size(width: number, height: number): Partial<VideoRequest> {
  return { size: { width, height } }
}
