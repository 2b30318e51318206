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
import { zhipuVideo } from './video.ts'

const BASE = 'https://open.bigmodel.cn/api/paas/v4'
const COG: Order = { model: 'cogvideox-3', baseUrl: BASE }
const PICTURE = 'https://cdn.example/kite.png'
const DATA = `data:image/png;base64,${PNG_BASE64}`

describe('what CogVideoX is sent', () => {
  test('an order in words, with our own id', () => {
    const { request, state, dropped } = submitted(zhipuVideo, {
      ...COG,
      request: { seconds: '10', size: { width: 1920, height: 1080 }, generateAudio: true, watermark: false },
    })
    expect(request).toMatchObject({ method: 'POST', url: `${BASE}/videos/generations` })
    expect(JSON.parse(String(request.body))).toEqual({
      model: 'cogvideox-3',
      prompt: 'a red kite',
      size: '1920x1080',
      duration: 10,
      with_audio: true,
      watermark_enabled: false,
      request_id: 'video_abc123',
    })
    expect([state, dropped]).toEqual([{}, []])
  })

  test.each<[string, Partial<VideoRequest>, object]>([
    ['no seconds are the default, said outright', {}, { duration: 5 }],
    ['seconds out of range go on as they are [4.4-25]', { seconds: '7' }, { duration: 7 }],
    ['a small size is the smallest of its ratio', size(854, 480), { size: '1280x720' }],
    ['a tall small size', size(480, 854), { size: '720x1280' }],
    ['a square', size(1440, 1440), { size: '1024x1024' }],
    ['4k', size(3840, 2160), { size: '3840x2160' }],
    ['a ratio and a resolution choose a size', { ratio: '9:16', resolution: '1080p' }, { size: '1080x1920' }],
    ['a first frame [4.4-33]', { firstFrame: PNG }, { image_url: DATA }],
    ['both frames [4.4-33]', { firstFrame: at(PICTURE), lastFrame: PNG }, { image_url: [PICTURE, DATA] }],
    [
      'a field nobody knows [4.4-32]',
      { extras: { quality: 'quality', fps: 60 } },
      { quality: 'quality', fps: 60 },
    ],
  ])('%s', (_, request, expected) => {
    expect(submittedBody(zhipuVideo, { ...COG, request })).toMatchObject(expected)
  })

  test('older models are told a length only when one was asked for', () => {
    const older = { ...COG, model: 'cogvideox-flash' }
    expect(submittedBody(zhipuVideo, older)).not.toHaveProperty('duration')
    expect(submittedBody(zhipuVideo, { ...older, request: { seconds: '5' } })).toMatchObject({ duration: 5 })
  })

  test('what it has no place for is dropped and named [4.4-28] [4.4-36]', () => {
    const { request, dropped } = submitted(zhipuVideo, {
      ...COG,
      request: {
        ...size(1104, 832),
        lastFrame: PNG,
        referenceImages: [PNG],
        negativePrompt: 'text',
        seed: 1,
        promptExtend: false,
        extras: { request_id: 'mine', n: 4 },
      },
    })
    expect(JSON.parse(String(request.body))).toEqual({
      model: 'cogvideox-3',
      prompt: 'a red kite',
      duration: 5,
      request_id: 'video_abc123',
    })
    expect(dropped).toEqual([
      'size',
      'image_tail',
      'reference_images',
      'negative_prompt',
      'seed',
      'prompt_extend',
      'request_id',
      'n',
    ])
  })
})

const ORDERED = reply({
  model: 'cogvideox-3',
  id: '8868',
  request_id: 'video_abc123',
  task_status: 'PROCESSING',
})
const WORKING = reply({ model: 'cogvideox-3', request_id: 'video_abc123', task_status: 'PROCESSING' })

describe('what CogVideoX answers', () => {
  test('a task from its order to its link', () => {
    const { steps, sent, last } = play(zhipuVideo, COG, [
      ORDERED,
      WORKING,
      WORKING,
      reply({
        task_status: 'SUCCESS',
        video_result: [
          { url: 'https://aigc.example/kite.mp4', cover_image_url: 'https://aigc.example/kite.png' },
        ],
      }),
    ])
    expect(sent.slice(1)).toEqual(Array.from({ length: 3 }, () => `GET ${BASE}/async-result/8868`))
    expect(steps[0]).toMatchObject({ kind: 'poll', status: 'in_progress', afterMs: 7_000 })
    expect(last).toMatchObject({
      kind: 'done',
      result: { kind: 'link', url: 'https://aigc.example/kite.mp4' },
    })
  })

  test('a task that failed without a reason', () => {
    const { last } = play(zhipuVideo, COG, [ORDERED, reply({ request_id: 'x', task_status: 'FAIL' })])
    expect(last).toMatchObject({ kind: 'failed', failure: { class: 'upstream', code: 'FAIL' } })
    expect(JSON.stringify(last)).not.toContain('request_id')
  })

  test('a task the content filter stopped', () => {
    const { last } = play(zhipuVideo, COG, [
      ORDERED,
      reply({ task_status: 'FAIL', content_filter: [{ role: 'assistant', level: 0 }] }),
    ])
    expect(last).toMatchObject({ kind: 'failed', failure: { class: 'moderation' } })
  })

  test.each([
    ['1301', 'moderation'],
    ['1214', 'invalid'],
    ['1113', 'quota'],
    ['1002', 'auth'],
    ['9999', 'upstream'],
  ])('an error %s inside a 200', (code, kind) => {
    const { last } = play(zhipuVideo, COG, [ORDERED, reply({ error: { code, message: 'no' } })])
    expect(last).toMatchObject({ kind: 'failed', failure: { class: kind, code, message: 'no' } })
  })

  test('a question that came too fast is asked again', () => {
    const busy = reply({ error: { code: '1302', message: 'no' } })
    expect(play(zhipuVideo, COG, [busy]).last).toMatchObject({ failure: { class: 'rate' } })
    expect(play(zhipuVideo, COG, [ORDERED, busy]).last).toMatchObject({ kind: 'poll' })
  })

  test('success without a link makes no sense', () => {
    const { last } = play(zhipuVideo, COG, [ORDERED, reply({ task_status: 'SUCCESS', video_result: [] })])
    expect(last.kind).toBe('unreadable')
  })

  test.each([null, 'oops', {}, [], undefined])('%j as an answer makes no sense', (body) => {
    expect(zhipuVideo.accepted(reply(body), contextOf(COG, {})).kind).toBe('unreadable')
    expect(zhipuVideo.step(reply(body), contextOf(COG, { id: '1' })).kind).toBe('unreadable')
  })

  test.each([
    [429, '1302', 'rate-limited'],
    [429, '1113', 'quota'],
    [400, '1301', 'refused-content'],
    [400, '1231', 'request'],
    [401, '1002', 'auth'],
    [500, '1234', 'overloaded'],
    [400, '1211', 'not-found'],
  ])('a call refused with %i %s is %s', (status, code, kind) => {
    const body = { error: { code, message: 'no' } }
    expect(zhipuVideo.classify({ status, headers: {}, body }).kind).toBe(kind)
  })
})

function size(width: number, height: number): Partial<VideoRequest> {
  return { size: { width, height } }
}
