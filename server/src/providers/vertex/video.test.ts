import { describe, expect, test } from 'vitest'
import {
  type Order,
  PNG,
  PNG_BASE64,
  play,
  reply,
  submitted,
  submittedBody,
} from '../video-forms/testing/order.ts'
import { vertexVideo } from './video.ts'

const VEO: Order = {
  model: 'veo-3.1-generate-001',
  baseUrl: 'https://{region}-aiplatform.googleapis.com/v1',
  fields: { project: 'my-project', region: 'us-central1' },
}
const MODEL =
  'https://us-central1-aiplatform.googleapis.com/v1/projects/my-project/locations/us-central1/publishers/google/models/veo-3.1-generate-001'
const NAME =
  'projects/my-project/locations/us-central1/publishers/google/models/veo-3.1-generate-001/operations/7'

describe('what Veo on Vertex is sent', () => {
  test('the same as on the Gemini API, and what only this host takes', () => {
    const { request, dropped } = submitted(vertexVideo, {
      ...VEO,
      request: {
        seconds: '8',
        size: { width: 1080, height: 1920 },
        firstFrame: PNG,
        generateAudio: false,
        seed: 7,
        promptExtend: true,
        watermark: true,
        extras: { fps: 24, sampleCount: 4, storageUri: 'gs://client' },
      },
    })
    expect(request.url).toBe(`${MODEL}:predictLongRunning`)
    expect(JSON.parse(String(request.body))).toEqual({
      instances: [{ prompt: 'a red kite', image: { bytesBase64Encoded: PNG_BASE64, mimeType: 'image/png' } }],
      parameters: {
        aspectRatio: '9:16',
        resolution: '1080p',
        durationSeconds: 8,
        generateAudio: false,
        seed: 7,
        enhancePrompt: true,
        fps: 24,
        sampleCount: 1,
      },
    })
    expect(dropped).toEqual(['watermark', 'sampleCount', 'storageUri'])
  })

  test('the operator’s bucket, where the credential names one', () => {
    const fields = { ...VEO.fields, storage_uri: 'gs://videos/out' }
    expect(submittedBody(vertexVideo, { ...VEO, fields })['parameters']).toEqual({
      durationSeconds: 8,
      sampleCount: 1,
      storageUri: 'gs://videos/out',
    })
  })

  test('nothing, when the credential says no place', () => {
    expect(() => submitted(vertexVideo, { ...VEO, fields: {} })).toThrow('no project or no region')
  })
})

describe('a task of Veo on Vertex', () => {
  const created = reply({ name: NAME })
  const done = (response: object): object => ({ name: NAME, done: true, response })

  test('is asked for by its name, and ends in bytes', () => {
    const { sent, steps, last } = play(vertexVideo, VEO, [
      created,
      reply({ name: NAME }),
      reply({ ...done({ videos: [{ bytesBase64Encoded: 'AAAA', mimeType: 'video/mp4' }] }) }),
    ])
    expect(sent.slice(1)).toEqual(
      Array(2).fill(`POST ${MODEL}:fetchPredictOperation {"operationName":"${NAME}"}`),
    )
    expect(steps[1]).toMatchObject({ kind: 'poll', afterMs: 15_000 })
    expect(last).toEqual({
      kind: 'done',
      result: { kind: 'base64', data: 'AAAA', mediaType: 'video/mp4' },
      state: { name: NAME },
    })
  })

  test('or in the bucket, which wants the credential', () => {
    const body = done({ videos: [{}, { gcsUri: 'gs://videos/out/sample 0.mp4' }] })
    expect(play(vertexVideo, VEO, [reply({ ...body })]).last).toMatchObject({
      kind: 'done',
      result: {
        kind: 'download',
        request: {
          method: 'GET',
          url: 'https://storage.googleapis.com/storage/v1/b/videos/o/out%2Fsample%200.mp4?alt=media',
        },
      },
    })
  })

  test.each<[string, object, string]>([
    ['filtered', done({ raiMediaFilteredCount: 1, raiMediaFilteredReasons: ['no'] }), 'moderation'],
    ['empty', done({ videos: [] }), 'upstream'],
    ['refused', { name: NAME, done: true, error: { code: 3, message: 'bad' } }, 'invalid'],
    ['without right', { name: NAME, done: true, error: { code: 7, message: 'no' } }, 'auth'],
  ])('that is %s has failed', (_, body, kind) => {
    expect(play(vertexVideo, VEO, [created, reply({ ...body })]).last).toMatchObject({
      kind: 'failed',
      failure: { class: kind },
    })
  })

  test.each([undefined, {}, []])('an answer of %j cannot be read', (body) => {
    expect(play(vertexVideo, VEO, [reply(body)]).last.kind).toBe('unreadable')
  })

  test.each([
    [401, 'UNAUTHENTICATED', 'auth'],
    [429, 'RESOURCE_EXHAUSTED', 'rate-limited'],
    [400, 'INVALID_ARGUMENT', 'request'],
  ])('a call refused with %i %s', (status, word, kind) => {
    const body = { error: { code: status, message: '', status: word } }
    expect(vertexVideo.classify({ status, body, headers: {} }).kind).toBe(kind)
  })
})
