/** Vendors whose keys, steps and files differ from the plain case, over real connections. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Answer, postJson } from '../gateway/client.ts'
import { putChain, putModel, putVendor } from '../gateway/gateway.ts'
import {
  answerJson,
  openScriptedUpstream,
  type ReceivedRequest,
  type ScriptedUpstream,
} from '../gateway/scripted-upstream.ts'
import { sampleVideo, VIDEO_PRICES } from '../gateway/videos.ts'
import { withGateway } from '../gateway/with-gateway.ts'

const VIDEO = sampleVideo(1)
const KEY = /^secret-of-\w[\w-]*-main$/
const BEARER = /^Bearer secret-of-\w[\w-]*-main$/
const TOKEN = /^Token secret-of-\w[\w-]*-main$/

interface Vendor {
  readonly name: string
  readonly kind: string
  readonly model: string
  readonly header: 'authorization' | 'x-goog-api-key'
  readonly key: RegExp
  /** Method and path of every call, the video's apart. */
  readonly calls: readonly string[]
  readonly made: (url: string) => readonly unknown[]
  /** Where the video lies, and whether it is only given to who has the key. */
  readonly video: string
  readonly videoNeedsKey: boolean
  readonly refused: unknown
}

const VENDORS: readonly Vendor[] = [
  {
    name: 'openai',
    kind: 'openai',
    model: 'sora-2',
    header: 'authorization',
    key: BEARER,
    calls: ['POST /videos', 'GET /videos/v1', 'GET /videos/v1'],
    made: () => [
      { id: 'v1', object: 'video', status: 'queued' },
      { id: 'v1', status: 'in_progress', progress: 40 },
      { id: 'v1', status: 'completed', progress: 100 },
    ],
    video: '/videos/v1/content',
    videoNeedsKey: true,
    refused: { id: 'v1', status: 'failed', error: { code: 'moderation_blocked', message: 'not this' } },
  },
  {
    name: 'google-veo',
    kind: 'google',
    model: 'veo-3.1-generate-preview',
    header: 'x-goog-api-key',
    key: KEY,
    calls: [
      'POST /models/veo-3.1-generate-preview:predictLongRunning',
      'GET /models/veo/operations/o1',
      'GET /models/veo/operations/o1',
    ],
    made: () => [
      { name: 'models/veo/operations/o1' },
      { name: 'models/veo/operations/o1' },
      {
        name: 'models/veo/operations/o1',
        done: true,
        response: {
          generateVideoResponse: {
            generatedSamples: [
              {
                video: {
                  uri: 'https://generativelanguage.googleapis.com/v1beta/files/f1:download?alt=media',
                },
              },
            ],
          },
        },
      },
    ],
    video: '/files/f1:download?alt=media',
    videoNeedsKey: true,
    refused: {
      name: 'models/veo/operations/o1',
      done: true,
      response: { generateVideoResponse: { raiMediaFilteredReasons: ['not this'] } },
    },
  },
  {
    name: 'google-omni',
    kind: 'google',
    model: 'gemini-omni-1.2-flash',
    header: 'x-goog-api-key',
    key: KEY,
    calls: ['POST /interactions', 'GET /interactions/i1'],
    made: () => [
      { id: 'i1', status: 'in_progress' },
      {
        id: 'i1',
        status: 'completed',
        steps: [{ type: 'model_output', content: [{ type: 'video', uri: 'files/f1' }] }],
      },
    ],
    video: '/files/f1:download?alt=media',
    videoNeedsKey: true,
    refused: {
      id: 'i1',
      status: 'completed',
      steps: [{ type: 'model_output', content: [{ type: 'text', text: 'not this' }] }],
    },
  },
  {
    name: 'google-bytes',
    kind: 'google',
    model: 'gemini-omni-1.1-flash',
    header: 'x-goog-api-key',
    key: KEY,
    calls: ['POST /interactions', 'GET /interactions/i1'],
    made: () => [
      { id: 'i1', status: 'in_progress' },
      {
        id: 'i1',
        status: 'completed',
        steps: [{ type: 'model_output', content: [{ type: 'video', data: VIDEO.toString('base64') }] }],
      },
    ],
    video: 'none: it comes inside the answer',
    videoNeedsKey: true,
    refused: { id: 'i1', status: 'failed', error: { status: 'SAFETY', message: 'not this' } },
  },
  {
    name: 'kling-body',
    kind: 'kling',
    model: 'kling-v2-6',
    header: 'authorization',
    key: BEARER,
    calls: ['POST /v1/videos/text2video', 'GET /v1/videos/text2video/840', 'GET /v1/videos/text2video/840'],
    made: (url) => [
      { code: 0, data: { task_id: '840', task_status: 'submitted' } },
      { code: 1302, message: 'too fast' },
      {
        code: 0,
        data: {
          task_id: '840',
          task_status: 'succeed',
          task_result: { videos: [{ url: `${url}/video.mp4`, duration: '1.0' }] },
        },
      },
    ],
    video: '/video.mp4',
    videoNeedsKey: false,
    refused: { code: 1301, message: 'not this' },
  },
  {
    name: 'kling-path',
    kind: 'kling',
    model: 'kling-3.0',
    header: 'authorization',
    key: BEARER,
    calls: ['POST /text-to-video/kling-3.0', 'GET /tasks?task_ids=t1'],
    made: (url) => [
      { code: 0, data: { id: 't1', status: 'submitted' } },
      {
        code: 0,
        data: [{ id: 't1', status: 'succeeded', outputs: [{ type: 'video', url: `${url}/video.mp4` }] }],
      },
    ],
    video: '/video.mp4',
    videoNeedsKey: false,
    refused: {
      code: 0,
      data: [{ id: 't1', status: 'failed', message: 'Failure to pass the risk control system' }],
    },
  },
  {
    name: 'minimax-files',
    kind: 'minimax',
    model: 'MiniMax-Hailuo-2.3',
    header: 'authorization',
    key: BEARER,
    calls: [
      'POST /v1/video_generation',
      'GET /v1/query/video_generation?task_id=t1',
      'GET /v1/query/video_generation?task_id=t1',
      'GET /v1/files/retrieve?file_id=f1',
    ],
    made: (url) => [
      { task_id: 't1', base_resp: { status_code: 0 } },
      { task_id: 't1', status: 'Processing', base_resp: { status_code: 0 } },
      { task_id: 't1', status: 'Success', file_id: 'f1', base_resp: { status_code: 0 } },
      { file: { file_id: 'f1', download_url: `${url}/video.mp4` }, base_resp: { status_code: 0 } },
    ],
    video: '/video.mp4',
    videoNeedsKey: false,
    refused: { task_id: 't1', status: 'Fail', base_resp: { status_code: 1027, status_msg: 'not this' } },
  },
  {
    name: 'vidu',
    kind: 'vidu',
    model: 'viduq3-turbo',
    header: 'authorization',
    key: TOKEN,
    calls: ['POST /text2video', 'GET /tasks/t1/creations'],
    made: (url) => [
      { task_id: 't1', state: 'created' },
      { id: 't1', state: 'success', err_code: '', creations: [{ url: `${url}/video.mp4` }] },
    ],
    video: '/video.mp4',
    videoNeedsKey: false,
    refused: { id: 't1', state: 'failed', err_code: 'CreationPolicyViolation', creations: [] },
  },
]

const upstreams = new Map<string, ScriptedUpstream>()

const { gateway } = await withGateway()

beforeAll(async () => {
  for (const { name, kind, model } of VENDORS) {
    const upstream = await openScriptedUpstream()
    upstreams.set(name, upstream)
    await gateway.catalogue(
      ...putVendor(name, upstream.url, { kind }),
      putModel(`video-of-${name}`, { supportFeatures: ['video'], pricing: VIDEO_PRICES }),
      putChain({ model: `video-of-${name}`, vendor: name, protocol: 'video', forward: model }),
    )
  }
})
afterAll(async () => {
  for (const upstream of upstreams.values()) await upstream.close()
})
beforeEach(() => gateway.resetHealth())

function upstreamOf(name: string): ScriptedUpstream {
  const upstream = upstreams.get(name)
  if (upstream === undefined) throw new Error(`nobody plays ${name}`)
  return upstream
}

function addressOf({ path, query }: ReceivedRequest): string {
  return query === '' ? path : `${path}?${query}`
}

/** Says these in turn; the video may be fetched at any time. */
function play({ name, video }: Vendor, said: readonly unknown[]): ScriptedUpstream {
  const upstream = upstreamOf(name)
  upstream.requests.length = 0
  const left = [...said]
  upstream.answer((request, response) => {
    if (addressOf(request) === video) {
      response.writeHead(200, { 'content-type': 'video/mp4' })
      response.end(VIDEO)
      return undefined
    }
    const body = left.shift()
    return answerJson(body ?? { error: 'nothing left to say' }, body === undefined ? 500 : 200)(
      request,
      response,
    )
  })
  return upstream
}

function post(name: string): Promise<Answer> {
  const order = { model: `video-of-${name}`, prompt: 'a cat on the moon', seconds: '5', size: '1280x720' }
  return postJson(`${gateway.baseUrl}/v1/videos`, order, { authorization: `Bearer ${gateway.key}` })
}

describe.each(VENDORS)('$name', (vendor) => {
  const { name, header, key, calls, made, video, videoNeedsKey, refused } = vendor

  test('is ordered, asked and fetched as its documentation says', async () => {
    const upstream = play(vendor, made(upstreamOf(name).url))
    const { status, body } = await post(name)
    expect([status, body]).toMatchObject([200, { object: 'video', status: 'completed', seconds: '5' }])
    const asked = upstream.requests.filter((request) => addressOf(request) !== video)
    expect(asked.map((request) => `${request.method} ${addressOf(request)}`)).toEqual(calls)
    for (const { headers } of asked) expect(headers[header]).toMatch(key)
    const content = await fetch(`${gateway.baseUrl}/v1/videos/${String(body['id'])}/content`, {
      headers: { authorization: `Bearer ${gateway.key}` },
    })
    expect(Buffer.from(await content.arrayBuffer()).equals(VIDEO)).toBe(true)
    for (const { headers } of upstream.requests.filter((request) => addressOf(request) === video)) {
      if (videoNeedsKey) expect(headers[header]).toMatch(key)
      else expect(headers[header]).toBeUndefined()
    }
  })

  test('tells that the content was refused, and charges nothing', async () => {
    const said = made(upstreamOf(name).url)
    // A refusal of the order itself comes first; one of the result, last.
    play(vendor, name === 'kling-body' ? [refused] : [...said.slice(0, 1), refused])
    const { status, body } = await post(name)
    expect([status, body]).toMatchObject([400, { error: { type: 'upstream_error' } }])
    expect((await gateway.lastLog()).deducted).toBe(0n)
    expect((await gateway.account()).held).toBe(0n)
  })
})
