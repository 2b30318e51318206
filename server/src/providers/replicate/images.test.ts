import { describe, expect, test } from 'vitest'
import { forwardModelId } from '../../core/ids.ts'
import type { JsonObject, JsonValue } from '../../core/json.ts'
import { replicateImages } from './images.ts'

const BASE = 'https://api.replicate.com/v1'
const ASKED = { prompt: 'red', n: 2, size: '1536x1024', output_format: 'jpeg' }
const VERSION = '5a'.repeat(32)
const { rewrite, tasks } = replicateImages

test.each<[string, string, JsonObject, readonly string[]]>([
  [
    'black-forest-labs/flux-schnell',
    '/models/black-forest-labs/flux-schnell/predictions',
    { input: { prompt: 'red', num_outputs: 2, aspect_ratio: '3:2', output_format: 'jpg' } },
    [],
  ],
  [
    'black-forest-labs/flux-1.1-pro',
    '/models/black-forest-labs/flux-1.1-pro/predictions',
    { input: { prompt: 'red', aspect_ratio: '3:2', output_format: 'jpg' } },
    ['n'],
  ],
  [
    'openai/gpt-image-1',
    '/models/openai/gpt-image-1/predictions',
    { input: { prompt: 'red', number_of_images: 2, aspect_ratio: '3:2', output_format: 'jpeg' } },
    [],
  ],
  [
    'recraft-ai/recraft-v3',
    '/models/recraft-ai/recraft-v3/predictions',
    { input: { prompt: 'red', size: '1536x1024', output_format: 'jpg' } },
    ['n'],
  ],
  [
    `stability-ai/sdxl:${VERSION}`,
    '/predictions',
    {
      version: VERSION,
      input: { prompt: 'red', num_outputs: 2, width: 1536, height: 1024, output_format: 'jpg' },
    },
    [],
  ],
  [
    'deployments/acme/pictures',
    '/deployments/acme/pictures/predictions',
    { input: { prompt: 'red', num_outputs: 2, aspect_ratio: '3:2', output_format: 'jpg' } },
    [],
  ],
])('%s is asked in its own form', (model, path, body, dropped) => {
  expect(rewrite?.request({ ...ASKED, model })).toEqual({ body, dropped, context: { bytes: false } })
  const formed = replicateImages.form({
    baseUrl: BASE,
    forwardModelId: forwardModelId(model),
    operation: 'generate',
    fields: {},
  })
  expect([formed?.url, formed?.headers]).toEqual([`${BASE}${path}`, {}])
})

test.each<[string, JsonObject, JsonObject, readonly string[]]>([
  ['one picture of a model that makes one', { model: 'google/imagen-4', n: 1 }, {}, []],
  ['a size that no ratio comes near', { size: '100x1000' }, {}, ['size']],
  [
    'members of the model’s own, said outright',
    { size: '1024x1024', aspect_ratio: '21:9', go_fast: true, seed: 7, input_image: 'https://p/1' },
    { aspect_ratio: '21:9', go_fast: true, seed: 7, input_image: 'https://p/1' },
    [],
  ],
  [
    'what only the gateway says',
    { num_outputs: 4, webhook: 'https://x', user: 'u', quality: 'high' },
    {},
    ['num_outputs', 'webhook', 'user', 'quality'],
  ],
])('%s', (_what, asked, members, dropped) => {
  const made = rewrite?.request({ model: 'someone/new-model', prompt: 'red', ...asked })
  expect([made?.body, made?.dropped]).toEqual([{ input: { prompt: 'red', ...members } }, dropped])
})

describe('a prediction', () => {
  const GET = `${BASE}/predictions/p1`
  const ORDER = { id: 'p1', status: 'starting', urls: { get: GET } }
  const at = { baseUrl: BASE, forwardModelId: forwardModelId('black-forest-labs/flux-schnell') }
  const ask = { url: GET, headers: {} }

  test.each<[string, JsonObject, first: unknown, later: unknown]>([
    ['starts', ORDER, ask, ask],
    ['is made', { id: 'p1', status: 'processing' }, ask, ask],
    [
      'has another host for questions, which never gets the key',
      { id: 'p1', urls: { get: 'https://x/p1' } },
      ask,
      'unclear',
    ],
    ['has succeeded', { id: 'p1', status: 'succeeded' }, 'over', 'over'],
    ['has failed', { id: 'p1', status: 'failed' }, 'over', 'over'],
    ['was cancelled', { id: 'p1', status: 'canceled' }, 'over', 'over'],
    ['was given up before it began', { id: 'p1', status: 'aborted' }, 'over', 'over'],
    ['is in a state that nobody knows', { id: 'p1', status: 'dreaming' }, ask, 'unclear'],
    ['is none', { detail: 'no' }, 'unclear', 'unclear'],
  ])('that %s', (_what, body, first, later) => {
    expect(tasks?.read({ body, order: undefined, asked: undefined }, at)).toEqual(first)
    expect(tasks?.read({ body, order: ORDER, asked: GET }, at)).toEqual(later)
  })
})

test.each<[string, JsonValue, readonly JsonObject[]]>([
  ['a list', ['https://p/1', 'https://p/2'], [{ url: 'https://p/1' }, { url: 'https://p/2' }]],
  ['an address', 'https://p/1', [{ url: 'https://p/1' }]],
  ['bytes', ['data:image/webp;base64,UklG'], [{ b64_json: 'UklG' }]],
  ['an object', { images: ['https://p/1'] }, [{ url: 'https://p/1' }]],
])('output as %s', (_what, output, data) => {
  expect(rewrite?.answer({ status: 'succeeded', output }, {})).toEqual({ data })
})

test.each<[string, JsonObject, JsonObject | undefined]>([
  ['success without an output', { status: 'succeeded', output: null }, undefined],
  ['words for pictures', { status: 'succeeded', output: ['a', 'cat'] }, undefined],
  ['no end', { status: 'processing', output: ['https://p/1'] }, undefined],
  [
    'a refusal, without what the client said',
    { status: 'failed', error: 'flagged as sensitive (E005)', input: { prompt: 'secret' }, logs: 'secret' },
    { error: { message: 'flagged as sensitive (E005)', type: 'invalid_request_error', code: 'E005' } },
  ],
  [
    'trouble of its own',
    { status: 'failed', error: 'CUDA out of memory' },
    { error: { message: 'CUDA out of memory', type: 'api_error', code: null } },
  ],
  [
    'an end by somebody else',
    { status: 'aborted', error: null },
    { error: { message: 'the prediction was aborted', type: 'api_error', code: null } },
  ],
])('an answer with %s', (_what, body, told) => {
  expect(rewrite?.answer(body, {})).toEqual(told)
})
