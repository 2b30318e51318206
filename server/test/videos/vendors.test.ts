/** Vendors' own forms over real connections: the documented calls, in order, with the documented key, and what comes of them. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Answer, postJson } from '../gateway/client.ts'
import { type TestGateway, openGateway, putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { answerJson, openScriptedUpstream, type ScriptedUpstream } from '../gateway/scripted-upstream.ts'
import { sampleVideo, VIDEO_PRICES } from '../gateway/videos.ts'
import { Secret } from '../../src/core/secret.ts'

const VIDEO = sampleVideo(1)

interface Said {
  readonly status?: number
  readonly body: unknown
}

interface Vendor {
  readonly kind: string
  readonly model: string
  readonly key: RegExp
  /** Method and path of every call to the vendor, the video's apart. */
  readonly calls: readonly string[]
  /** What a task says from its order to its video. */
  readonly made: (url: string) => readonly Said[]
  /** Its last words when the content was refused. */
  readonly refused: Said
}

const BEARER = /^Bearer secret-of-\w[\w-]*-main$/

const VENDORS: readonly Vendor[] = [
  {
    kind: 'dashscope',
    model: 'wan2.7-t2v',
    key: BEARER,
    calls: [
      'POST /api/v1/services/aigc/video-generation/video-synthesis',
      'GET /api/v1/tasks/t1',
      'GET /api/v1/tasks/t1',
    ],
    made: (url) => [
      { body: { output: { task_id: 't1', task_status: 'PENDING' }, request_id: 'r1' } },
      { body: { output: { task_id: 't1', task_status: 'RUNNING' } } },
      { body: { output: { task_id: 't1', task_status: 'SUCCEEDED', video_url: `${url}/video.mp4` } } },
    ],
    refused: {
      body: {
        output: { task_id: 't1', task_status: 'FAILED', code: 'DataInspectionFailed', message: 'not this' },
      },
    },
  },
  {
    kind: 'zhipu',
    model: 'cogvideox-3',
    key: BEARER,
    calls: ['POST /videos/generations', 'GET /async-result/t1', 'GET /async-result/t1'],
    made: (url) => [
      { body: { id: 't1', task_status: 'PROCESSING' } },
      { body: { task_status: 'PROCESSING' } },
      { body: { task_status: 'SUCCESS', video_result: [{ url: `${url}/video.mp4` }] } },
    ],
    refused: { body: { error: { code: '1301', message: 'not this' } } },
  },
  {
    kind: 'xai',
    model: 'grok-imagine-video',
    key: BEARER,
    calls: ['POST /videos/generations', 'GET /videos/t1', 'GET /videos/t1'],
    made: (url) => [
      { body: { request_id: 't1' } },
      { status: 202, body: '' },
      { body: { status: 'done', video: { url: `${url}/video.mp4`, duration: 1, respect_moderation: true } } },
    ],
    refused: { body: { status: 'done', video: { respect_moderation: false } } },
  },
  {
    kind: 'runway',
    model: 'gen4.5',
    key: BEARER,
    calls: ['POST /v1/text_to_video', 'GET /v1/tasks/t1', 'GET /v1/tasks/t1'],
    made: (url) => [
      { body: { id: 't1' } },
      { body: { id: 't1', status: 'THROTTLED' } },
      { body: { id: 't1', status: 'SUCCEEDED', output: [`${url}/video.mp4`] } },
    ],
    refused: { body: { id: 't1', status: 'FAILED', failure: 'not this', failureCode: 'SAFETY.INPUT.TEXT' } },
  },
  {
    kind: 'luma',
    model: 'ray-3.2',
    key: BEARER,
    calls: ['POST /generations', 'GET /generations/t1', 'GET /generations/t1'],
    made: (url) => [
      { status: 201, body: { id: 't1', state: 'queued' } },
      { body: { id: 't1', state: 'processing' } },
      { body: { id: 't1', state: 'completed', output: [{ type: 'video', url: `${url}/video.mp4` }] } },
    ],
    refused: {
      body: { id: 't1', state: 'failed', failure_code: 'content_moderated', failure_reason: 'not this' },
    },
  },
  {
    kind: 'jimeng',
    model: 'jimeng_t2v_v30',
    key: /^HMAC-SHA256 Credential=access\/\d{8}\/cn-north-1\/cv\/request, SignedHeaders=content-type;host;x-content-sha256;x-date, Signature=[0-9a-f]{64}$/,
    calls: ['POST /', 'POST /', 'POST /'],
    made: (url) => [
      { body: { code: 10_000, data: { task_id: 't1' }, message: 'Success' } },
      { body: { code: 10_000, data: { status: 'generating' } } },
      { body: { code: 10_000, data: { status: 'done', video_url: `${url}/video.mp4` } } },
    ],
    refused: { status: 400, body: { code: 50_511, data: null, message: 'not this' } },
  },
  {
    kind: 'fal',
    model: 'fal-ai/veo3.1',
    key: /^Key secret-of-fal-main$/,
    calls: [
      'POST /fal-ai/veo3.1',
      'GET /fal-ai/veo3.1/requests/t1/status',
      'GET /fal-ai/veo3.1/requests/t1/status',
      'GET /fal-ai/veo3.1/requests/t1',
    ],
    made: (url) => [
      {
        body: {
          status: 'IN_QUEUE',
          request_id: 't1',
          status_url: `${url}/fal-ai/veo3.1/requests/t1/status`,
          response_url: `${url}/fal-ai/veo3.1/requests/t1`,
        },
      },
      { status: 202, body: { status: 'IN_PROGRESS' } },
      { body: { status: 'COMPLETED' } },
      { body: { video: { url: `${url}/video.mp4` } } },
    ],
    refused: {
      status: 422,
      body: { detail: [{ loc: ['body', 'prompt'], msg: 'not this', type: 'content_policy_violation' }] },
    },
  },
  {
    kind: 'replicate',
    model: 'google/veo-3-fast',
    key: BEARER,
    calls: ['POST /models/google/veo-3-fast/predictions', 'GET /predictions/t1', 'GET /predictions/t1'],
    made: (url) => [
      { status: 201, body: { id: 't1', status: 'starting', urls: { get: `${url}/predictions/t1` } } },
      { body: { id: 't1', status: 'processing' } },
      { body: { id: 't1', status: 'succeeded', output: `${url}/video.mp4` } },
    ],
    refused: { body: { id: 't1', status: 'failed', error: 'not this (E005)' } },
  },
]

/** Names of the members of every answer so far: the same ones, whoever made the video. */
const shapes = new Set<string>()

let gateway: TestGateway
const upstreams = new Map<string, ScriptedUpstream>()

beforeAll(async () => {
  gateway = await openGateway()
  for (const { kind, model } of VENDORS) {
    const upstream = await openScriptedUpstream()
    upstreams.set(kind, upstream)
    await gateway.catalogue(
      ...putVendor(kind, upstream.url, { kind }),
      putModel(`video-of-${kind}`, { supportFeatures: ['video'], pricing: VIDEO_PRICES }),
      putChain({ model: `video-of-${kind}`, vendor: kind, protocol: 'video', forward: model }),
    )
  }
  const [, credential] = putVendor('jimeng', '', { kind: 'jimeng' })
  if (credential?.kind !== 'put-credential') throw new Error('a vendor comes with a credential')
  await gateway.catalogue({
    ...credential,
    secret: {
      secret: undefined,
      fields: { access_key: new Secret('access'), secret_key: new Secret('hidden') },
    },
  })
})
afterAll(async () => {
  await gateway.close()
  for (const upstream of upstreams.values()) await upstream.close()
})
beforeEach(() => gateway.resetHealth())

function upstreamOf(kind: string): ScriptedUpstream {
  const upstream = upstreams.get(kind)
  if (upstream === undefined) throw new Error(`nobody plays ${kind}`)
  return upstream
}

/** Says these in turn; whoever asks for the video gets it at any time. */
function play(kind: string, said: readonly Said[]): ScriptedUpstream {
  const upstream = upstreamOf(kind)
  upstream.requests.length = 0
  const left = [...said]
  upstream.answer((request, response) => {
    if (request.path === '/video.mp4') {
      response.writeHead(200, { 'content-type': 'video/mp4' })
      response.end(VIDEO)
      return undefined
    }
    const { body, status } = left.shift() ?? { body: { error: 'nothing left to say' }, status: 500 }
    return answerJson(body, status)(request, response)
  })
  return upstream
}

function post(kind: string): Promise<Answer> {
  const order = { model: `video-of-${kind}`, prompt: 'a cat on the moon', seconds: '5', size: '1280x720' }
  return postJson(`${gateway.baseUrl}/v1/videos`, order, { authorization: `Bearer ${gateway.key}` })
}

describe.each(VENDORS)('$kind', ({ kind, key, calls, made, refused }) => {
  test('is ordered, asked and fetched as its documentation says [1-03] [4.4-34] [4.4-39] [4.4-43] [4.4-44]', async () => {
    const upstream = play(kind, made(upstreamOf(kind).url))
    const { status, body } = await post(kind)
    expect([status, body]).toMatchObject([200, { object: 'video', status: 'completed', seconds: '5' }])
    shapes.add(Object.keys(body).toSorted().join(' '))
    expect([...shapes]).toHaveLength(1)
    const asked = upstream.requests.filter(({ path }) => path !== '/video.mp4')
    expect(asked.map(({ method, path }) => `${method} ${path}`)).toEqual(calls)
    for (const { headers } of asked) expect(headers.authorization).toMatch(key)
    // A finished video's link is public: whoever holds it does not get the key.
    const video = await fetch(`${gateway.baseUrl}/v1/videos/${String(body['id'])}/content`, {
      headers: { authorization: `Bearer ${gateway.key}` },
    })
    expect(Buffer.from(await video.arrayBuffer())).toEqual(VIDEO)
    const fetched = upstream.requests.filter(({ path }) => path === '/video.mp4')
    expect(fetched.length).toBeGreaterThan(0)
    for (const { headers } of fetched) expect(headers.authorization).toBeUndefined()
  })

  test('tells that the content was refused, and charges nothing', async () => {
    const said = made(upstreamOf(kind).url)
    play(kind, [...said.slice(0, -1), refused])
    const { status, body } = await post(kind)
    expect([status, body]).toMatchObject([400, { error: { type: 'upstream_error' } }])
    if (kind !== 'xai') expect(String(body.error?.message)).toContain('not this')
    expect((await gateway.lastLog()).deducted).toBe(0n)
    expect((await gateway.account()).held).toBe(0n)
  })
})
