/** What every vendor's video side has to keep, whoever wrote it. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { forwardModelId } from '../core/ids.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../core/json.ts'
import type { VideoMedia, VideoRequest } from '../core/video/request.ts'
import { providerKinds, providerOf } from './index.ts'
import type { HttpRequest } from '../core/http-request.ts'
import type { VideoContext, VideoDialect, VideoReply, VideoStep, VideoSubmission } from './video.ts'
import { at, order, PNG, PNG_BASE64, reply } from './video-forms/testing/order.ts'

interface Vendor {
  readonly model: string
  /** An answer to the create call that is accepted. */
  readonly created: JsonValue
  /** An answer to a poll with this status word; undefined: this vendor has no words. */
  readonly polled?: (word: string) => JsonValue
  readonly baseUrl?: string
}

const task = (word: string): JsonValue => ({ id: 't1', status: word })

const VENDORS: Readonly<Record<string, Vendor>> = {
  openai: { model: 'sora-2', created: task('queued'), polled: task },
  'openai-compatible': {
    model: 'some-model',
    baseUrl: 'https://operator.example/v1',
    created: task('queued'),
    polled: task,
  },
  google: {
    model: 'veo-3.1-generate-preview',
    created: { name: 'models/veo-3.1-generate-preview/operations/t1' },
  },
  vertex: {
    model: 'veo-3.1-generate-001',
    created: {
      name: 'projects/my-project/locations/us-east-1/publishers/google/models/veo-3.1-generate-001/operations/t1',
    },
  },
  ark: { model: 'doubao-seedance-2-0-260128', created: { id: 't1' }, polled: task },
  kling: {
    model: 'kling-v2-6',
    created: { code: 0, message: 'SUCCEED', data: { task_id: 't1', task_status: 'submitted' } },
    polled: (word) => ({ code: 0, message: 'SUCCEED', data: { task_id: 't1', task_status: word } }),
  },
  minimax: {
    model: 'MiniMax-Hailuo-2.3',
    created: { task_id: 't1', base_resp: { status_code: 0, status_msg: 'success' } },
    polled: (word) => ({ task_id: 't1', status: word, base_resp: { status_code: 0 } }),
  },
  vidu: {
    model: 'viduq3-turbo',
    created: { task_id: 't1', state: 'created' },
    polled: (word) => ({ id: 't1', state: word, creations: [] }),
  },
  dashscope: {
    model: 'wan2.7-t2v',
    created: { output: { task_id: 't1', task_status: 'PENDING' } },
    polled: (word) => ({ output: { task_id: 't1', task_status: word } }),
  },
  zhipu: {
    model: 'cogvideox-3',
    created: { id: 't1', task_status: 'PROCESSING' },
    polled: (word) => ({ task_status: word }),
  },
  xai: { model: 'grok-imagine-video', created: { request_id: 't1' }, polled: (word) => ({ status: word }) },
  runway: { model: 'gen4.5', created: { id: 't1' }, polled: task },
  luma: {
    model: 'ray-3.2',
    created: { id: 't1', state: 'queued' },
    polled: (word) => ({ id: 't1', state: word }),
  },
  'luma-dream-machine': {
    model: 'ray-2',
    created: { id: 't1', state: 'queued' },
    polled: (word) => ({ id: 't1', state: word }),
  },
  jimeng: {
    model: 'jimeng_t2v_v30',
    created: { code: 10_000, data: { task_id: 't1' } },
    polled: (word) => ({ code: 10_000, data: { status: word } }),
  },
  fal: {
    model: 'fal-ai/veo3.1',
    created: { status: 'IN_QUEUE', request_id: 't1' },
    polled: (word) => ({ status: word }),
  },
  replicate: { model: 'google/veo-3-fast', created: { id: 't1', status: 'starting' }, polled: task },
  sandbox: { model: 'sandbox-video', created: task('queued'), polled: task },
}

const KINDS = providerKinds.filter((kind) => providerOf(kind)?.video !== undefined)

function dialectOf(kind: string): VideoDialect {
  const dialect = providerOf(kind)?.video
  if (dialect === undefined) throw new Error(`${kind} makes no videos`)
  return dialect
}

function vendorOf(kind: string): Vendor {
  const vendor = VENDORS[kind]
  if (vendor === undefined) throw new Error(`${kind} has no row`)
  return vendor
}

function contextOf(kind: string, state: JsonObject): VideoContext {
  const { model, baseUrl } = vendorOf(kind)
  const base = baseUrl ?? providerOf(kind)?.defaultBaseUrl ?? ''
  return {
    baseUrl: base,
    fields: { region: 'us-east-1', project: 'my-project' },
    forwardModelId: forwardModelId(model),
    taskId: 'video_abc123',
    state,
  }
}

function submit(kind: string, changes: Partial<VideoRequest> = {}): VideoSubmission {
  const { state: _, ...context } = contextOf(kind, {})
  const request = order(changes)
  const dialect = dialectOf(kind)
  const seconds = dialect.defaultSeconds(context.forwardModelId, request)
  return dialect.submit({ ...context, request, seconds: Number(request.seconds ?? seconds) })
}

/** A task that was accepted: what is kept, and the first question. */
function running(kind: string): Extract<VideoStep, { kind: 'poll' }> {
  const step = dialectOf(kind).accepted(reply(vendorOf(kind).created), contextOf(kind, submit(kind).state))
  if (step.kind !== 'poll') throw new Error(`${kind} did not accept: ${JSON.stringify(step)}`)
  return step
}

function textOf({ body }: HttpRequest): string {
  return typeof body === 'string' ? body : new TextDecoder().decode(body)
}

const LARGE: VideoMedia = { kind: 'bytes', mediaType: 'image/png', bytes: new Uint8Array(300_000).fill(7) }
const ADDRESS = 'https://cdn.example/kite.png'

/** Everything at once. */
const FULL: Partial<VideoRequest> = {
  seconds: '5',
  size: { width: 1280, height: 720 },
  ratio: '16:9',
  resolution: '720p',
  firstFrame: LARGE,
  lastFrame: PNG,
  referenceImages: [PNG],
  referenceVideos: ['https://cdn.example/a.mp4'],
  referenceAudios: ['https://cdn.example/a.mp3'],
  negativePrompt: 'text',
  generateAudio: true,
  seed: 7,
  watermark: false,
  promptExtend: true,
  extras: { nobody_knows: { deep: [1, 'two'] } },
}

const NAMES: ReadonlySet<string> = new Set([
  'seconds',
  'size',
  'ratio',
  'resolution',
  'input_reference',
  'image_tail',
  'reference_images',
  'reference_videos',
  'reference_audios',
  'negative_prompt',
  'generate_audio',
  'seed',
  'watermark',
  'prompt_extend',
])

const UNREADABLE: readonly VideoReply[] = [
  reply({}),
  reply(null),
  reply('no'),
  reply(''),
  reply(0),
  reply([]),
  reply([null]),
  { status: 200, headers: { 'content-type': 'text/html' }, body: undefined },
  reply({ data: null, output: null, error: null, task: null, response: null, base_resp: null }),
  reply({ data: [], output: [], error: [], task: [], response: [], base_resp: [] }),
  reply({ data: 'x', output: 'x', task: 'x', response: 'x', base_resp: 'x' }),
]

test('every vendor that makes videos has a row', () => {
  expect(Object.keys(VENDORS).toSorted()).toEqual(KINDS.toSorted())
})

describe.each(KINDS)('%s', (kind) => {
  const dialect = dialectOf(kind)

  test('forms the same request of the same order', () => {
    expect(submit(kind, FULL)).toEqual(submit(kind, FULL))
  })

  test('asks only below its base address, over https, and never names a credential', () => {
    const { origin } = new URL(contextOf(kind, {}).baseUrl.replace(/[{}]/g, ''))
    const { state, request: question } = running(kind)
    const further = [dialect.find, dialect.renew].map((ask) => ask?.(contextOf(kind, state)))
    const requests = [submit(kind).request, submit(kind, FULL).request, question, ...further]
    for (const request of requests) {
      if (request === undefined) continue
      const url = new URL(request.url)
      expect(url.protocol).toBe('https:')
      if (!origin.includes('region')) expect(url.origin).toBe(origin)
      expect(request.url).not.toMatch(/[{}]|undefined|[?&](key|token|api_key)=/)
      const names = Object.keys(request.headers)
      expect(names.filter((name) => name !== name.toLowerCase())).toEqual([])
      expect(names.filter((name) => /auth|key|token|cookie|secret/.test(name))).toEqual([])
    }
  })

  test('keeps little, and only JSON', () => {
    for (const { state } of [submit(kind, FULL), running(kind)]) {
      expect(JSON.parse(JSON.stringify(state))).toEqual(state)
      expect(JSON.stringify(state).length).toBeLessThan(1_000)
    }
  })

  test('passes on a field it has never heard of [4.4-32]', () => {
    const sent = textOf(submit(kind, { extras: { nobody_knows: 'anything at all' } }).request)
    expect(sent).toContain('nobody_knows')
    expect(sent).toContain('anything at all')
  })

  test('sends no length but the one that is billed, and tells nobody else', () => {
    const extras = {
      duration: 9_999,
      callback_url: 'https://client.example',
      webhook: 'https://client.example',
    }
    const { request, dropped } = submit(kind, { extras })
    expect(textOf(request)).not.toMatch(/9999|client\.example/)
    expect([...dropped].toSorted()).toEqual(['callback_url', 'duration', 'webhook'])
  })

  test('names what it drops as the client named it, and nothing else [4.4-36]', () => {
    expect(submit(kind).dropped).toEqual([])
    const { dropped } = submit(kind, FULL)
    expect(dropped.filter((name) => !NAMES.has(name))).toEqual([])
    expect(new Set(dropped).size).toBe(dropped.length)
  })

  test.each<[string, VideoMedia, string]>([
    ['url', at(ADDRESS), ADDRESS],
    ['bytes', PNG, PNG_BASE64],
  ])('loses no first frame that comes as %s', (form, firstFrame, arrives) => {
    if (!dialect.imageForms.some((taken) => taken === form)) return
    const { request, dropped } = submit(kind, { firstFrame })
    const sent = textOf(request)
    const arrived = sent.includes(arrives) || sent.includes('filename="reference.png"')
    // The sandbox describes pictures instead of carrying them.
    expect(arrived || sent.includes('"media_type":"image/png"') || dropped.includes('input_reference')).toBe(
      true,
    )
  })

  test('bills a length above zero when none is asked for', () => {
    expect(dialect.defaultSeconds(forwardModelId(vendorOf(kind).model), order())).toBeGreaterThan(0)
  })

  test.each(UNREADABLE)('what cannot be read is told as such, and breaks nothing: %j', (answer) => {
    const expected = ['unreadable', 'failed', 'poll']
    expect(expected).toContain(dialect.accepted(answer, contextOf(kind, submit(kind).state)).kind)
    expect(expected).toContain(dialect.step(answer, contextOf(kind, running(kind).state)).kind)
    expect(expected).toContain(dialect.step(answer, contextOf(kind, {})).kind)
  })

  test('breaks on no JSON whatever, in its answers or in what it kept', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (body, kept) => {
        const value: unknown = JSON.parse(JSON.stringify(kept))
        const state = isJsonObject(value) ? value : {}
        const answer = reply(JSON.parse(JSON.stringify(body)))
        dialect.accepted(answer, contextOf(kind, {}))
        dialect.step(answer, contextOf(kind, running(kind).state))
        dialect.step(answer, contextOf(kind, state))
        const refused = { ...answer, status: 400 }
        dialect.classify(refused)
        dialect.verdict?.(refused, contextOf(kind, state))
      }),
      { numRuns: 50 },
    )
  })

  test('goes on asking while a word is new to it, in the same task', () => {
    const { polled } = vendorOf(kind)
    if (polled === undefined) return
    const first = running(kind)
    for (const word of ['pondering', 'Pondering', 'QUEUED', 'running', 'Processing']) {
      const step = dialect.step(reply(polled(word)), contextOf(kind, first.state))
      expect([word, step.kind]).toEqual([word, 'poll'])
      if (step.kind === 'poll' && kind !== 'sandbox') expect(step.request).toEqual(first.request)
    }
  })

  test.each([400, 401, 404, 429, 500, 502, 503, 504])(
    'takes a bare %i for no verdict on a task',
    (status) => {
      for (const body of [undefined, {}, 'no', null]) {
        expect(dialect.verdict?.(reply(body, status), contextOf(kind, running(kind).state))).toBeUndefined()
      }
    },
  )

  test('asks neither at once nor too seldom', () => {
    const { afterMs } = running(kind)
    expect(afterMs).toBeGreaterThanOrEqual(500)
    expect(afterMs).toBeLessThanOrEqual(30_000)
  })

  test('takes success without a video for no success', () => {
    const { polled } = vendorOf(kind)
    if (polled === undefined) return
    const { state } = running(kind)
    for (const word of ['succeeded', 'SUCCESS', 'completed', 'done']) {
      const step = dialect.step(reply(polled(word)), contextOf(kind, state))
      if (step.kind === 'done') expect(step.result.kind).toBe('download')
      else expect(['unreadable', 'poll']).toContain(step.kind)
    }
  })

  test.each([
    [401, ['auth']],
    [402, ['quota']],
    [404, ['not-found']],
    [422, ['request']],
    [429, ['rate-limited', 'quota']],
    [500, ['overloaded']],
    [503, ['overloaded']],
  ])('knows a bare %i', (status, kinds) => {
    expect(kinds).toContain(dialect.classify({ status, headers: {}, body: undefined }).kind)
  })
})
