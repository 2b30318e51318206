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
import { runwayVideo } from './video.ts'

const BASE = 'https://api.dev.runwayml.com'
const GEN: Order = { model: 'gen4.5', baseUrl: BASE }
const VEO: Order = { model: 'veo3.1', baseUrl: BASE }
const SEEDANCE: Order = { model: 'seedance2', baseUrl: BASE }
const PICTURE = 'https://cdn.example/kite.png'
const DATA = `data:image/png;base64,${PNG_BASE64}`

describe('what Runway is sent', () => {
  test('an order in words', () => {
    const { request, state, dropped } = submitted(runwayVideo, {
      ...GEN,
      request: { seconds: '8', size: { width: 720, height: 1280 }, seed: 7 },
    })
    expect(request).toMatchObject({ method: 'POST', url: `${BASE}/v1/text_to_video` })
    expect(request.headers['x-runway-version']).toBe('2024-11-06')
    expect(JSON.parse(String(request.body))).toEqual({
      model: 'gen4.5',
      promptText: 'a red kite',
      ratio: '720:1280',
      duration: 8,
      seed: 7,
    })
    expect([state, dropped]).toEqual([{}, []])
  })

  test('a version at the end of the base address changes nothing', () => {
    expect(submitted(runwayVideo, { ...GEN, baseUrl: `${BASE}/v1/` }).request.url).toBe(
      `${BASE}/v1/text_to_video`,
    )
  })

  test('an order with a picture has another address', () => {
    const { request } = submitted(runwayVideo, { ...GEN, request: { firstFrame: PNG } })
    expect(request.url).toBe(`${BASE}/v1/image_to_video`)
    expect(JSON.parse(String(request.body))).toMatchObject({
      promptImage: [{ uri: DATA, position: 'first' }],
    })
  })

  test.each<[string, Order, Partial<VideoRequest>, object]>([
    ['no seconds are the model’s default', GEN, {}, { duration: 5 }],
    ['Veo’s default', VEO, {}, { duration: 8 }],
    ['seconds out of range go on as they are [4.4-25]', GEN, { seconds: '77' }, { duration: 77 }],
    ['a ratio must be said', GEN, {}, { ratio: '1280:720' }],
    ['and is upright for an upright size it lacks', GEN, size(834, 1112), { ratio: '720:1280' }],
    ['a full size is one step lower', GEN, size(1920, 1080), { ratio: '1280:720' }],
    ['Veo has full sizes', VEO, size(1920, 1080), { ratio: '1920:1080' }],
    ['more ratios with a picture', GEN, { ...size(1024, 1024), firstFrame: PNG }, { ratio: '960:960' }],
    ['very wide', GEN, { ...size(1680, 720), firstFrame: PNG }, { ratio: '1584:672' }],
    ['a ratio chooses pixels', VEO, { ratio: '9:16', resolution: '1080p' }, { ratio: '1080:1920' }],
    [
      'both frames [4.4-33]',
      VEO,
      { firstFrame: at(PICTURE), lastFrame: PNG },
      {
        promptImage: [
          { uri: PICTURE, position: 'first' },
          { uri: DATA, position: 'last' },
        ],
      },
    ],
    [
      'sound and what not to show [4.4-33]',
      VEO,
      { generateAudio: false, negativePrompt: 'text' },
      { audio: false, negativePrompt: 'text' },
    ],
    [
      'references [4.4-33]',
      SEEDANCE,
      {
        referenceImages: [PNG],
        referenceVideos: ['https://cdn.example/a.mp4'],
        referenceAudios: ['https://cdn.example/a.mp3'],
      },
      {
        references: [{ uri: DATA }],
        referenceVideos: [{ type: 'video', uri: 'https://cdn.example/a.mp4' }],
        referenceAudio: [{ type: 'audio', uri: 'https://cdn.example/a.mp3' }],
      },
    ],
    ['Seedance has 4k', SEEDANCE, size(3840, 2160), { ratio: '3840:2160' }],
    [
      'Happyhorse with a picture has resolutions',
      { ...GEN, model: 'happyhorse_1_0' },
      { ...size(1920, 1080), firstFrame: PNG },
      { resolution: '1080P' },
    ],
    [
      'a model nobody knew gets what was asked for',
      { ...GEN, model: 'gen9' },
      { generateAudio: true, seed: 3 },
      { audio: true, seed: 3 },
    ],
    [
      'a field nobody knows [4.4-32]',
      GEN,
      { extras: { contentModeration: { publicFigureThreshold: 'low' } } },
      { contentModeration: { publicFigureThreshold: 'low' } },
    ],
  ])('%s', (_, given, request, expected) => {
    expect(submittedBody(runwayVideo, { ...given, request })).toMatchObject(expected)
  })

  test('Seedance needs no ratio, so none is made up', () => {
    expect(submittedBody(runwayVideo, SEEDANCE)).toEqual({
      model: 'seedance2',
      promptText: 'a red kite',
      duration: 5,
    })
  })

  test.each<[string, string, Partial<VideoRequest>, readonly string[]]>([
    ['a size without its ratio', 'gen4.5', size(1104, 832), ['size']],
    ['a tail on a model of one frame', 'gen4.5', { firstFrame: PNG, lastFrame: PNG }, ['image_tail']],
    ['a tail without a first frame', 'veo3.1', { lastFrame: PNG }, ['image_tail']],
    ['references on a model without', 'gen4.5', { referenceImages: [PNG] }, ['reference_images']],
    [
      'references beside a frame',
      'seedance2',
      { firstFrame: PNG, referenceImages: [PNG] },
      ['reference_images'],
    ],
    ['sound on a silent model', 'gen4.5', { generateAudio: true }, ['generate_audio']],
    ['a seed Veo lacks', 'veo3.1', { seed: 1 }, ['seed']],
    ['marks', 'gen4.5', { watermark: true, promptExtend: true }, ['watermark', 'prompt_extend']],
    ['a length beside the order', 'gen4.5', { extras: { duration: 10 } }, ['duration']],
  ])('dropped and named: %s [4.4-36]', (_, model, request, dropped) => {
    expect(submitted(runwayVideo, { model, baseUrl: BASE, request }).dropped).toEqual(dropped)
  })
})

const ORDERED = reply({ id: '17f20503' })
const TASK = { id: '17f20503', createdAt: '2026-07-10T00:00:00Z' }

describe('what Runway answers', () => {
  test('a task from its order to its link', () => {
    const { steps, sent, last } = play(runwayVideo, GEN, [
      ORDERED,
      reply({ ...TASK, status: 'PENDING' }),
      reply({ ...TASK, status: 'THROTTLED' }),
      reply({ ...TASK, status: 'RUNNING', progress: 0.4 }),
      reply({ ...TASK, status: 'SUCCEEDED', output: ['https://cdn.runway.example/kite.mp4?_jwt=1'] }),
    ])
    expect(sent.slice(1)).toEqual(Array.from({ length: 4 }, () => `GET ${BASE}/v1/tasks/17f20503`))
    expect(steps.map((step) => (step.kind === 'poll' ? [step.status, step.progress] : step.kind))).toEqual([
      ['queued', undefined],
      ['queued', undefined],
      ['queued', undefined],
      ['in_progress', 40],
      'done',
    ])
    expect(last).toMatchObject({
      result: { kind: 'link', url: 'https://cdn.runway.example/kite.mp4?_jwt=1', lastsMs: 86_400_000 },
    })
  })

  test('every question names the version', () => {
    const step = runwayVideo.accepted(ORDERED, contextOf(GEN, {}))
    expect(step.kind === 'poll' && step.request.headers['x-runway-version']).toBe('2024-11-06')
  })

  test('a dead link is renewed by asking again', () => {
    expect(runwayVideo.renew?.(contextOf(GEN, { id: '17f20503' }))?.url).toBe(`${BASE}/v1/tasks/17f20503`)
    expect(runwayVideo.renew?.(contextOf(GEN, {}))).toBeUndefined()
  })

  test.each([
    ['SAFETY.INPUT.TEXT', 'moderation'],
    ['SAFETY.OUTPUT.VIDEO', 'moderation'],
    ['INPUT_PREPROCESSING.SAFETY.TEXT', 'moderation'],
    ['ASSET.INVALID', 'invalid'],
    ['INPUT_PREPROCESSING.INTERNAL', 'upstream'],
    ['INTERNAL.BAD_OUTPUT.CODE01', 'upstream'],
    ['THIRD_PARTY.UNAVAILABLE', 'upstream'],
  ])('a task that failed with %s', (failureCode, kind) => {
    const { last } = play(runwayVideo, GEN, [
      ORDERED,
      reply({ ...TASK, status: 'FAILED', failure: 'no', failureCode }),
    ])
    expect(last).toMatchObject({ kind: 'failed', failure: { class: kind, code: failureCode, message: 'no' } })
  })

  test('a cancelled task', () => {
    const { last } = play(runwayVideo, GEN, [ORDERED, reply({ ...TASK, status: 'CANCELLED' })])
    expect(last).toMatchObject({ kind: 'failed', failure: { class: 'cancelled' } })
  })

  test('success without a link makes no sense', () => {
    const { last } = play(runwayVideo, GEN, [ORDERED, reply({ ...TASK, status: 'SUCCEEDED', output: [] })])
    expect(last.kind).toBe('unreadable')
  })

  test.each([null, 'oops', {}, [], undefined])('%j as an answer makes no sense', (body) => {
    expect(runwayVideo.accepted(reply(body), contextOf(GEN, {})).kind).toBe('unreadable')
    expect(runwayVideo.step(reply(body), contextOf(GEN, { id: '1' })).kind).toBe('unreadable')
  })

  test.each([
    [429, 'You have reached your daily limit.', 'quota'],
    [400, 'You do not have enough credits to run this task.', 'quota'],
    [400, 'Validation of body failed', 'request'],
    [401, 'Unauthorized', 'auth'],
    [404, 'Not found', 'not-found'],
    [503, 'Service unavailable', 'overloaded'],
  ])('a call refused with %i "%s" is %s', (status, error, kind) => {
    expect(runwayVideo.classify({ status, headers: {}, body: { error } }).kind).toBe(kind)
  })
})

function size(width: number, height: number): Partial<VideoRequest> {
  return { size: { width, height } }
}
