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
import { replicateVideo } from './video.ts'

const BASE = 'https://api.replicate.com/v1'
const VEO: Order = { model: 'google/veo-3-fast', baseUrl: BASE }
const PICTURE = 'https://cdn.example/kite.png'
const DATA = `data:image/png;base64,${PNG_BASE64}`
const VERSION = 'db21e45d3f7023abc2a46ee38a23973f6dce16bb082a930b0c49861f96d1e5bf'

describe('what Replicate is sent', () => {
  test('an order in words', () => {
    const { request, state, dropped } = submitted(replicateVideo, {
      ...VEO,
      request: {
        seconds: '6',
        size: { width: 1280, height: 720 },
        negativePrompt: 'text',
        generateAudio: false,
        seed: 7,
      },
    })
    expect(request).toMatchObject({ method: 'POST', url: `${BASE}/models/google/veo-3-fast/predictions` })
    expect(JSON.parse(String(request.body))).toEqual({
      input: {
        prompt: 'a red kite',
        aspect_ratio: '16:9',
        resolution: '720p',
        duration: 6,
        negative_prompt: 'text',
        generate_audio: false,
        seed: 7,
      },
    })
    expect([state, dropped]).toEqual([{}, []])
  })

  test.each([
    ['a version of a model', `someone/model:${VERSION}`, '/predictions', VERSION],
    ['a bare version', VERSION, '/predictions', VERSION],
    ['a deployment', 'deployments/someone/fast', '/deployments/someone/fast/predictions', undefined],
  ])('%s has an address of its own', (_, model, path, version) => {
    const { request } = submitted(replicateVideo, { model, baseUrl: BASE })
    expect(request.url).toBe(`${BASE}${path}`)
    const body: { version?: string } = JSON.parse(String(request.body))
    expect(body.version).toBe(version)
  })

  test.each<[string, string, Partial<VideoRequest>, object]>([
    ['no seconds are the model’s default', VEO.model, {}, { duration: 8 }],
    [
      'Sora counts seconds, and has directions',
      'openai/sora-2',
      size(720, 1280),
      { seconds: 4, aspect_ratio: 'portrait' },
    ],
    ['seconds out of range go on as they are [4.4-25]', VEO.model, { seconds: '77' }, { duration: 77 }],
    [
      'explicit ones win',
      VEO.model,
      { ...size(1280, 720), ratio: '1:1', resolution: '4K' },
      { aspect_ratio: '1:1', resolution: '4k' },
    ],
    [
      'Hailuo: its own steps and names',
      'minimax/hailuo-02',
      { ...size(1280, 720), firstFrame: PNG, promptExtend: false },
      { duration: 6, resolution: '768p', first_frame_image: DATA, prompt_optimizer: false },
    ],
    ['Pixverse: quality', 'pixverse/pixverse-v5', size(1280, 720), { quality: '720p' }],
    [
      'both frames [4.4-33]',
      VEO.model,
      { firstFrame: at(PICTURE), lastFrame: PNG },
      { image: PICTURE, last_frame: DATA },
    ],
    [
      'Kling: both frames [4.4-33]',
      'kwaivgi/kling-v2.1',
      { firstFrame: PNG, lastFrame: PNG },
      { start_image: DATA, end_image: DATA },
    ],
    [
      'references [4.4-33]',
      'bytedance/seedance-2.0',
      { referenceImages: [PNG, PNG] },
      { reference_images: [DATA, DATA] },
    ],
    ['a subject', 'minimax/video-01', { referenceImages: [PNG, PNG] }, { subject_reference: DATA }],
    [
      'a model nobody knew',
      'someone/new-model',
      { ...size(1280, 720), firstFrame: PNG },
      { duration: 5, image: DATA, resolution: '720p' },
    ],
    [
      'a field nobody knows [4.4-32]',
      VEO.model,
      { extras: { camera: { pan: [1] } } },
      { camera: { pan: [1] } },
    ],
  ])('%s', (_, model, request, expected) => {
    expect(submittedBody(replicateVideo, { model, baseUrl: BASE, request })['input']).toMatchObject(expected)
  })

  test.each<[string, string, Partial<VideoRequest>, readonly string[]]>([
    ['a tail without a first frame', VEO.model, { lastFrame: PNG }, ['image_tail']],
    ['a tail where there is one frame', 'openai/sora-2', { firstFrame: PNG, lastFrame: PNG }, ['image_tail']],
    ['references where there are none', 'openai/sora-2', { referenceImages: [PNG] }, ['reference_images']],
    [
      'videos, sounds and marks',
      VEO.model,
      { referenceVideos: [PICTURE], referenceAudios: [PICTURE], watermark: true },
      ['reference_videos', 'reference_audios', 'watermark'],
    ],
    [
      'a length or a webhook beside the order',
      VEO.model,
      { extras: { duration: 10, num_frames: 900, webhook: 'https://x.example' } },
      ['duration', 'num_frames', 'webhook'],
    ],
  ])('dropped and named: %s [4.4-36]', (_, model, request, dropped) => {
    expect(submitted(replicateVideo, { model, baseUrl: BASE, request }).dropped).toEqual(dropped)
  })
})

const GET = `${BASE}/predictions/p1`
const STARTING = reply(
  {
    id: 'p1',
    model: VEO.model,
    status: 'starting',
    input: { prompt: 'a red kite' },
    output: null,
    error: null,
    logs: '',
    urls: { get: GET, cancel: `${GET}/cancel` },
  },
  201,
)

describe('what Replicate answers', () => {
  test('a prediction from its order to its link', () => {
    const { steps, sent, last } = play(replicateVideo, VEO, [
      STARTING,
      reply({ id: 'p1', status: 'starting', output: null, error: null }),
      reply({ id: 'p1', status: 'processing', output: null, error: null }),
      reply({
        id: 'p1',
        status: 'succeeded',
        output: 'https://replicate.delivery/kite.mp4',
        error: null,
        metrics: { predict_time: 61.2, video_output_duration_seconds: 6 },
      }),
    ])
    expect(sent.slice(1)).toEqual(Array.from({ length: 3 }, () => `GET ${GET}`))
    expect(steps.slice(0, 3)).toMatchObject([
      { kind: 'poll', status: 'queued', afterMs: 3_000 },
      { kind: 'poll', status: 'queued' },
      { kind: 'poll', status: 'in_progress' },
    ])
    expect(last).toMatchObject({
      kind: 'done',
      result: { kind: 'link', url: 'https://replicate.delivery/kite.mp4', lastsMs: 3_600_000 },
      secondsProduced: 6,
    })
  })

  test('an address of another host never gets the key; it is made from the id', () => {
    const { sent } = play(replicateVideo, VEO, [
      reply({ id: 'p1', status: 'starting', urls: { get: 'https://elsewhere.example/p1' } }, 201),
    ])
    expect(sent[1]).toBe(`GET ${GET}`)
  })

  test.each<[string, JsonValue]>([
    ['a list', ['https://replicate.delivery/kite.mp4', 'https://replicate.delivery/other.mp4']],
    ['an object', { video: 'https://replicate.delivery/kite.mp4' }],
  ])('output as %s', (_, output) => {
    const { last } = play(replicateVideo, VEO, [STARTING, reply({ id: 'p1', status: 'succeeded', output })])
    expect(last).toMatchObject({ kind: 'done', result: { url: 'https://replicate.delivery/kite.mp4' } })
  })

  test.each([
    ['The input or output was flagged as sensitive. (E005)', 'moderation', 'E005'],
    ['E006: invalid input', 'invalid', 'E006'],
    ['CUDA out of memory (E1001)', 'upstream', 'E1001'],
    ['Something broke', 'upstream', 'failed'],
  ])('a prediction that failed: %s', (error, kind, code) => {
    const { last } = play(replicateVideo, VEO, [
      STARTING,
      reply({
        id: 'p1',
        status: 'failed',
        input: { prompt: 'a red kite' },
        logs: 'secret logs',
        error,
        output: null,
      }),
    ])
    expect(last).toMatchObject({ kind: 'failed', failure: { class: kind, code, message: error } })
    expect(JSON.stringify(last)).not.toMatch(/a red kite|secret logs/)
  })

  test.each(['canceled', 'aborted'])('a prediction that was %s', (status) => {
    const { last } = play(replicateVideo, VEO, [STARTING, reply({ id: 'p1', status, error: null })])
    expect(last).toMatchObject({ kind: 'failed', failure: { class: 'cancelled' } })
  })

  test('success without an output makes no sense', () => {
    expect(
      play(replicateVideo, VEO, [STARTING, reply({ id: 'p1', status: 'succeeded', output: null })]).last.kind,
    ).toBe('unreadable')
  })

  test.each([null, 'oops', {}, [], undefined])('%j as an answer makes no sense', (body) => {
    expect(replicateVideo.accepted(reply(body), contextOf(VEO, {})).kind).toBe('unreadable')
    expect(replicateVideo.step(reply(body), contextOf(VEO, { id: 'p1' })).kind).toBe('unreadable')
  })

  test.each([
    [429, 'Request was throttled. Your rate limit resets in ~30s.', 'rate-limited'],
    [402, 'You have insufficient credit to run this model.', 'quota'],
    [422, '- input.duration must be one of 4, 6, 8', 'request'],
    [401, 'Unauthenticated', 'auth'],
    [404, 'Not found', 'not-found'],
    [500, 'Internal error', 'overloaded'],
  ])('a call refused with %i is told apart', (status, detail, kind) => {
    expect(replicateVideo.classify({ status, headers: {}, body: { detail, status } }).kind).toBe(kind)
  })
})

function size(width: number, height: number): Partial<VideoRequest> {
  return { size: { width, height } }
}
