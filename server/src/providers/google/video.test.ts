import { describe, expect, test } from 'vitest'
import type { VideoRequest } from '../../core/video/request.ts'
import {
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
const VEO: Order = { model: 'veo-3.1-generate-preview', baseUrl: BASE }
const NAME = 'models/veo-3.1-generate-preview/operations/abc123'
const FILE = `${BASE}/files/xyz:download?alt=media`
const IMAGE = { bytesBase64Encoded: PNG_BASE64, mimeType: 'image/png' }

function parameters(request: Partial<VideoRequest>, model = VEO.model): unknown {
  return submittedBody(googleVideo, { ...VEO, model, request })['parameters']
}

describe('what Veo is sent', () => {
  test('an order as its documentation writes it', () => {
    const { request, state, dropped } = submitted(googleVideo, {
      ...VEO,
      request: { size: { width: 1280, height: 720 }, seconds: '8', negativePrompt: 'text', firstFrame: PNG },
    })
    expect(request.url).toBe(`${BASE}/models/veo-3.1-generate-preview:predictLongRunning`)
    expect(JSON.parse(String(request.body))).toEqual({
      instances: [{ prompt: 'a red kite', image: IMAGE }],
      parameters: { aspectRatio: '16:9', resolution: '720p', durationSeconds: 8, negativePrompt: 'text' },
    })
    expect([state, dropped]).toEqual([{}, []])
  })

  test.each<[string, Partial<VideoRequest>, object]>([
    ['no seconds are eight, said outright', {}, { durationSeconds: 8 }],
    ['"4" is a number [4.4-22]', { seconds: '4' }, { durationSeconds: 4 }],
    ['seconds out of range go on [4.4-25]', { seconds: '30' }, { durationSeconds: 30 }],
    ['seconds that are no number go on', { seconds: 'long' }, { durationSeconds: 'long' }],
    ['as long as you like cannot be billed', { seconds: '-1' }, { durationSeconds: 8 }],
    [
      'full pixels need eight seconds',
      { size: { width: 1920, height: 1080 }, seconds: '8' },
      { aspectRatio: '16:9', resolution: '1080p', durationSeconds: 8 },
    ],
    [
      'the length is billed: a derived resolution gives way to it',
      { size: { width: 1080, height: 1920 }, seconds: '4' },
      { aspectRatio: '9:16', durationSeconds: 4 },
    ],
    [
      'an explicit one does not',
      { size: { width: 1280, height: 720 }, resolution: '1080P', ratio: '9:16', seconds: '4' },
      { aspectRatio: '9:16', resolution: '1080p', durationSeconds: 4 },
    ],
    [
      '4k',
      { size: { width: 3840, height: 2160 } },
      { aspectRatio: '16:9', resolution: '4k', durationSeconds: 8 },
    ],
    [
      'a square keeps its step only',
      { size: { width: 1024, height: 1024 } },
      { resolution: '720p', durationSeconds: 8 },
    ],
    [
      'other fields',
      { extras: { personGeneration: 'allow_adult' } },
      { personGeneration: 'allow_adult', durationSeconds: 8 },
    ],
  ])('%s', (_, request, expected) => {
    expect(parameters(request)).toEqual(expected)
  })

  test('Lite has no 4k and no references', () => {
    const request = { size: { width: 3840, height: 2160 }, referenceImages: [PNG] }
    const lite = { ...VEO, model: 'veo-3.1-lite-generate-preview', request }
    expect(submittedBody(googleVideo, lite)).toEqual({
      instances: [{ prompt: 'a red kite' }],
      parameters: { aspectRatio: '16:9', resolution: '1080p', durationSeconds: 8 },
    })
    expect(submitted(googleVideo, lite).dropped).toEqual(['reference_images'])
  })

  test.each<[string, Partial<VideoRequest>, object, readonly string[]]>([
    ['both frames', { firstFrame: PNG, lastFrame: PNG }, { image: IMAGE, lastFrame: IMAGE }, []],
    ['a last frame alone is dropped', { lastFrame: PNG }, {}, ['image_tail']],
    [
      'references, three of them',
      { referenceImages: [PNG, PNG, PNG, PNG] },
      { referenceImages: Array(3).fill({ image: IMAGE, referenceType: 'asset' }) },
      ['reference_images'],
    ],
    [
      'frames shut references out',
      { firstFrame: PNG, referenceImages: [PNG] },
      { image: IMAGE },
      ['reference_images'],
    ],
  ])('%s', (_, request, instance, dropped) => {
    const formed = submitted(googleVideo, { ...VEO, request })
    expect(JSON.parse(String(formed.request.body))).toMatchObject({
      instances: [{ prompt: 'a red kite', ...instance }],
    })
    expect(formed.dropped).toEqual(dropped)
  })

  test('what cannot be switched or is not a client’s to say is dropped and named', () => {
    const request = {
      generateAudio: false,
      seed: 1,
      watermark: true,
      promptExtend: true,
      extras: { sampleCount: 4, durationSeconds: 60, pubsubTopic: 'p' },
    }
    expect(parameters(request)).toEqual({ durationSeconds: 8 })
    expect(submitted(googleVideo, { ...VEO, request }).dropped).toEqual([
      'generate_audio',
      'seed',
      'watermark',
      'prompt_extend',
      'sampleCount',
      'durationSeconds',
      'pubsubTopic',
    ])
  })
})

describe('a task of Veo', () => {
  const finished = (response: object): object => ({ name: NAME, done: true, response })

  test('is polled by its operation until a file is there, which wants the key', () => {
    const samples = { generateVideoResponse: { generatedSamples: [{}, { video: { uri: FILE } }] } }
    const { steps, sent, last } = play(googleVideo, VEO, [
      reply({ name: NAME }),
      reply({ name: NAME, done: false }),
      reply({ name: NAME, ...finished(samples) }),
    ])
    expect(sent.slice(1)).toEqual(Array(2).fill(`GET ${BASE}/${NAME}`))
    expect(steps[1]).toMatchObject({ kind: 'poll', afterMs: 10_000, status: 'in_progress' })
    expect(last).toEqual({
      kind: 'done',
      result: { kind: 'download', request: { method: 'GET', url: FILE, headers: {} } },
      state: { name: NAME },
    })
  })

  test('behind an operator’s proxy the file comes through it, and the key goes nowhere else', () => {
    const proxy = { ...VEO, baseUrl: 'http://10.0.0.7:8080/gemini' }
    const file = (uri: string): unknown =>
      play(googleVideo, proxy, [
        reply({ ...finished({ generateVideoResponse: { generatedSamples: [{ video: { uri } }] } }) }),
      ]).last
    expect(file(FILE)).toMatchObject({
      result: {
        kind: 'download',
        request: { url: 'http://10.0.0.7:8080/gemini/files/xyz:download?alt=media' },
      },
    })
    expect(file('https://elsewhere.example/v.mp4')).toMatchObject({
      result: { kind: 'link', url: 'https://elsewhere.example/v.mp4', lastsMs: 172_800_000 },
    })
  })

  test.each<[string, object, string, string]>([
    [
      'filtered, and says why',
      finished({
        generateVideoResponse: {
          raiMediaFilteredCount: 1,
          raiMediaFilteredReasons: ['We could not generate it. Support codes: 15236754'],
        },
      }),
      'moderation',
      'We could not generate it.',
    ],
    [
      'filtered, without a word',
      finished({ generateVideoResponse: { raiMediaFilteredCount: 1 } }),
      'moderation',
      'the upstream finished without a video',
    ],
    ['empty', finished({}), 'upstream', 'the upstream finished without a video'],
    [
      'refused',
      { name: NAME, done: true, error: { code: 3, message: 'bad', status: 'INVALID_ARGUMENT' } },
      'invalid',
      'bad',
    ],
    ['too many', { name: NAME, done: true, error: { code: 8, message: 'full' } }, 'rate', 'full'],
    ['ill', { name: NAME, done: true, error: { code: 13, message: 'oh' } }, 'upstream', 'oh'],
  ])('that is %s has failed', (_, body, kind, message) => {
    const { last } = play(googleVideo, VEO, [reply({ name: NAME }), reply({ ...body })])
    expect(last).toMatchObject({ kind: 'failed', failure: { class: kind, message } })
  })

  test.each([undefined, [], 'ok', {}])('an answer of %j cannot be read', (body) => {
    expect(play(googleVideo, VEO, [reply(body)]).last.kind).toBe('unreadable')
    expect(play(googleVideo, VEO, [reply({ name: NAME }), reply(undefined)]).last.kind).toBe('unreadable')
  })

  test.each([
    [400, 'INVALID_ARGUMENT', 'request'],
    [403, 'PERMISSION_DENIED', 'auth'],
    [404, 'NOT_FOUND', 'not-found'],
    [429, 'RESOURCE_EXHAUSTED', 'rate-limited'],
    [503, 'UNAVAILABLE', 'overloaded'],
  ])('a call refused with %i %s', (status, word, kind) => {
    const body = { error: { code: status, message: '', status: word } }
    expect(googleVideo.classify({ status, body, headers: {} }).kind).toBe(kind)
  })
})
