import { describe, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../core/json.ts'
import type { VideoRequest } from '../../core/video/request.ts'
import {
  bodyOf,
  type Order,
  PNG,
  PNG_BASE64,
  play,
  reply,
  submitted,
  submittedBody,
} from '../video-forms/testing/order.ts'
import { googleVideo } from './video.ts'

const BASE = 'https://generativelanguage.googleapis.com/v1beta'
const OMNI: Order = { model: 'gemini-omni-1.2-flash', baseUrl: BASE }
const FILE = `${BASE}/files/xyz:download?alt=media`
const IMAGE = { type: 'image', data: PNG_BASE64, mime_type: 'image/png' }
const TEXT = { type: 'text', text: 'a red kite' }

describe('what Omni is sent', () => {
  test('an order in words', () => {
    const { request, dropped } = submitted(googleVideo, {
      ...OMNI,
      request: { seconds: '6', size: { width: 1080, height: 1920 } },
    })
    expect(request.url).toBe(`${BASE}/interactions`)
    expect(JSON.parse(String(request.body))).toEqual({
      model: 'gemini-omni-1.2-flash',
      input: 'a red kite',
      background: true,
      response_format: {
        type: 'video',
        delivery: 'uri',
        aspect_ratio: '9:16',
        resolution: '1080p',
        duration: '6s',
      },
      generation_config: { video_config: { task: 'text_to_video' } },
    })
    expect(dropped).toEqual([])
  })

  test.each<[string, Partial<VideoRequest>, object]>([
    ['no seconds are eight, said outright', {}, { duration: '8s' }],
    ['seconds out of range go on [4.4-25]', { seconds: '60' }, { duration: '60s' }],
    ['seconds that are no number go on', { seconds: 'long' }, { duration: 'long' }],
    [
      'explicit words win',
      { size: { width: 1280, height: 720 }, ratio: '9:16', resolution: '4K' },
      { duration: '8s', aspect_ratio: '9:16', resolution: '4k' },
    ],
    ['other fields', { extras: { fps: 24, delivery: 'inline', type: 'image' } }, { duration: '8s', fps: 24 }],
  ])('%s', (_, request, expected) => {
    expect(submittedBody(googleVideo, { ...OMNI, request })['response_format']).toEqual({
      type: 'video',
      delivery: 'uri',
      ...expected,
    })
  })

  test.each<[string, Partial<VideoRequest>, JsonValue, string | undefined, readonly string[]]>([
    [
      'a first frame',
      { firstFrame: PNG, referenceImages: [PNG] },
      [IMAGE, TEXT],
      'image_to_video',
      ['reference_images'],
    ],
    [
      'both frames, by their tags',
      { firstFrame: PNG, lastFrame: PNG },
      [IMAGE, IMAGE, { type: 'text', text: '<FIRST_FRAME> <LAST_FRAME> a red kite' }],
      undefined,
      [],
    ],
    ['a last frame alone is dropped', { lastFrame: PNG }, 'a red kite', 'text_to_video', ['image_tail']],
    [
      'references, six of them',
      { referenceImages: Array(7).fill(PNG) },
      [...Array(6).fill(IMAGE), TEXT],
      'reference_to_video',
      ['reference_images'],
    ],
  ])('%s', (_, request, input, task, dropped) => {
    const formed = submitted(googleVideo, { ...OMNI, request })
    const body = bodyOf(formed.request)
    expect(body['input']).toEqual(input)
    expect(body['generation_config']).toEqual(task === undefined ? undefined : { video_config: { task } })
    expect(formed.dropped).toEqual(dropped)
  })
})

describe('a task of Omni', () => {
  const created = reply({ id: 'v1_a', status: 'in_progress', object: 'interaction' })
  const completed = (content: readonly JsonObject[]): JsonObject => ({
    id: 'v1_a',
    status: 'completed',
    steps: [
      { type: 'user_input', content: [TEXT] },
      { type: 'model_output', content: [...content] },
    ],
  })

  test('is polled until its file is there, which wants the key', () => {
    const { sent, last } = play(googleVideo, OMNI, [
      created,
      reply({ id: 'v1_a', status: 'in_progress' }),
      reply(completed([{ type: 'video', mime_type: 'video/mp4', uri: FILE }])),
    ])
    expect(sent.slice(1)).toEqual(Array(2).fill(`GET ${BASE}/interactions/v1_a`))
    expect(last).toMatchObject({
      kind: 'done',
      result: { kind: 'download', request: { method: 'GET', url: FILE } },
      state: { id: 'v1_a' },
    })
  })

  test.each([
    ['a file by its name', { uri: 'files/xyz' }, { kind: 'download', request: { url: FILE } }],
    ['bytes', { data: 'AAAA', mime_type: 'video/mp4' }, { kind: 'base64', data: 'AAAA' }],
  ])('may give %s', (_, content, result) => {
    expect(play(googleVideo, OMNI, [reply(completed([{ type: 'video', ...content }]))]).last).toMatchObject({
      kind: 'done',
      result,
    })
  })

  test('that completed in words has been refused', () => {
    const { last } = play(googleVideo, OMNI, [
      created,
      reply(completed([{ type: 'text', text: 'I cannot.' }])),
    ])
    expect(last).toMatchObject({
      kind: 'failed',
      failure: { class: 'moderation', code: 'no_video', message: 'I cannot.' },
    })
  })

  test('that completed with nothing is asked again', () => {
    expect(play(googleVideo, OMNI, [created, reply(completed([]))]).last.kind).toBe('unreadable')
  })

  test.each<[string, object, string]>([
    ['its filter', { status: 'failed', error: { code: 400, status: 'SAFETY', message: 'no' } }, 'moderation'],
    ['its filter, by the reason', { status: 'failed', finish_reason: 'PROHIBITED_CONTENT' }, 'moderation'],
    ['a bad order', { status: 'failed', error: { code: 'invalid_request', message: 'bad' } }, 'invalid'],
    ['its own fault', { status: 'failed', error: { status: 'INTERNAL', message: 'oh' } }, 'upstream'],
    ['no reason', { status: 'failed' }, 'upstream'],
    ['an early end', { status: 'incomplete' }, 'upstream'],
    ['somebody', { status: 'cancelled' }, 'cancelled'],
  ])('fails for %s', (_, body, kind) => {
    expect(play(googleVideo, OMNI, [created, reply({ id: 'v1_a', ...body })]).last).toMatchObject({
      kind: 'failed',
      failure: { class: kind },
    })
  })

  test.each([undefined, {}, [], { id: 'v1_a' }])('an answer of %j cannot be read', (body) => {
    expect(play(googleVideo, OMNI, [reply(body)]).last.kind).toBe('unreadable')
  })

  test('a prompt its filter refuses at once', () => {
    const body = { error: { code: 400, status: 'PROHIBITED_CONTENT', message: '' } }
    expect(googleVideo.classify({ status: 400, body, headers: {} })).toEqual({ kind: 'refused-content' })
  })
})
