import { describe, expect, test } from 'vitest'
import { forwardModelId } from '../../core/ids.ts'
import type { JsonObject } from '../../core/json.ts'
import { falImages } from './images.ts'

const BASE = 'https://queue.fal.run'
const ASKED = { prompt: 'red', n: 2, size: '1024x768', seed: 7 }
const { rewrite, tasks } = falImages

test.each<[string, JsonObject, readonly string[]]>([
  ['fal-ai/flux/dev', { num_images: 2, image_size: { width: 1024, height: 768 }, seed: 7 }, []],
  ['fal-ai/nano-banana', { num_images: 2, aspect_ratio: '4:3', seed: 7 }, []],
  ['fal-ai/flux-pro/kontext', { num_images: 2, aspect_ratio: '4:3', seed: 7 }, []],
  ['fal-ai/gpt-image-1/text-to-image', { num_images: 2, image_size: '1024x768', seed: 7 }, []],
  ['someone/new-model', { num_images: 2, image_size: { width: 1024, height: 768 }, seed: 7 }, []],
])('%s is asked in its own form', (model, members, dropped) => {
  const asked = rewrite?.request({ ...ASKED, model })
  expect(asked).toEqual({ body: { prompt: 'red', ...members }, dropped, context: { bytes: false } })
  const formed = falImages.form({
    baseUrl: BASE,
    forwardModelId: forwardModelId(model),
    operation: 'generate',
    fields: {},
  })
  expect(formed?.url).toBe(`${BASE}/${model}`)
})

test.each<[string, JsonObject, JsonObject, readonly string[]]>([
  ['a count written as a text', { n: '3' }, { num_images: 3 }, []],
  ['a count that is none goes on, and is refused there', { n: -1 }, { num_images: -1 }, []],
  ['no size', { size: 'auto' }, {}, []],
  ['a size that is none', { size: 'large' }, {}, ['size']],
  [
    'a size that no ratio of the endpoint comes near',
    { model: 'fal-ai/nano-banana', size: '100x1000' },
    {},
    ['size'],
  ],
  [
    'members of the endpoint’s own, said outright',
    { size: '512x512', image_size: 'square_hd', image_url: 'https://p/1', loras: [{ path: 'x' }] },
    { image_size: 'square_hd', image_url: 'https://p/1', loras: [{ path: 'x' }] },
    [],
  ],
  [
    'what only the gateway says',
    { num_images: 9, sync_mode: true, webhook_url: 'https://x' },
    {},
    ['num_images', 'sync_mode', 'webhook_url'],
  ],
  [
    'what OpenAI’s models alone have',
    { quality: 'high', user: 'u', stream: true, background: 'transparent', style: 'vivid' },
    {},
    ['quality', 'user', 'stream', 'background', 'style'],
  ],
  [
    'that of one of them',
    { model: 'fal-ai/gpt-image-1/text-to-image', quality: 'high', user: 'u' },
    { quality: 'high' },
    ['user'],
  ],
])('%s', (_what, asked, members, dropped) => {
  const made = rewrite?.request({ model: 'fal-ai/flux/dev', prompt: 'red', ...asked })
  expect([made?.body, made?.dropped]).toEqual([{ prompt: 'red', ...members }, dropped])
})

test('pictures are asked for as bytes', () => {
  expect(rewrite?.request({ prompt: 'x', response_format: 'b64_json' }).context).toEqual({ bytes: true })
})

describe('a request in the queue', () => {
  const STATUS = `${BASE}/fal-ai/flux/requests/r1/status`
  const RESULT = `${BASE}/fal-ai/flux/requests/r1`
  const ORDER = { request_id: 'r1', status: 'IN_QUEUE', status_url: STATUS, response_url: RESULT }
  const at = { baseUrl: BASE, forwardModelId: forwardModelId('fal-ai/flux/dev') }

  test.each<[string, JsonObject, unknown]>([
    ['ordered', ORDER, { url: STATUS, headers: {} }],
    ['ordered without addresses', { request_id: 'r1' }, { url: STATUS, headers: {} }],
    [
      'ordered with addresses of another host, which never get the key',
      {
        request_id: 'r1',
        status_url: 'https://elsewhere.example/s',
        response_url: 'https://elsewhere.example/r',
      },
      { url: STATUS, headers: {} },
    ],
    ['refused', { detail: 'no' }, 'unclear'],
  ])('%s', (_what, body, step) => {
    expect(tasks?.read({ body, order: undefined, asked: undefined }, at)).toEqual(step)
  })

  test.each<[string, JsonObject, unknown]>([
    ['waits', { status: 'IN_QUEUE' }, { url: STATUS, headers: {} }],
    ['is worked on', { status: 'IN_PROGRESS' }, { url: STATUS, headers: {} }],
    ['is over: what it made is asked for', { status: 'COMPLETED' }, { url: RESULT, headers: {} }],
    ['is over, and says that it failed', { status: 'COMPLETED', error: 'broken', error_type: 'x' }, 'over'],
    ['is nothing that is known', { status: 'DONE' }, 'unclear'],
  ])('that %s', (_what, body, step) => {
    expect(tasks?.read({ body, order: ORDER, asked: STATUS }, at)).toEqual(step)
  })

  test('whose result has come is over, whatever it is', () => {
    expect(tasks?.read({ body: { status: 'IN_QUEUE' }, order: ORDER, asked: RESULT }, at)).toBe('over')
  })
})

test.each<[string, JsonObject, JsonObject | undefined]>([
  [
    'a list of files',
    {
      images: [{ url: 'https://p/1', width: 1, content_type: 'image/png' }, { url: 'https://p/2' }],
      seed: 1,
    },
    { data: [{ url: 'https://p/1' }, { url: 'https://p/2' }] },
  ],
  ['one file', { image: { url: 'https://p/1' } }, { data: [{ url: 'https://p/1' }] }],
  [
    'bytes in the answer',
    { images: [{ url: 'data:image/jpeg;base64,/9j/' }] },
    { data: [{ b64_json: '/9j/' }] },
  ],
  ['no picture', { images: [] }, undefined],
  ['something else', { video: { url: 'https://p/1.mp4' } }, undefined],
  ['an address that is none', { images: [{ url: 'javascript:alert(1)' }, { url: 7 }, null] }, undefined],
  [
    'an error',
    { status: 'COMPLETED', error: 'runner died', error_type: 'runner_scheduling_failure' },
    { error: { message: 'runner died', type: 'api_error', code: 'runner_scheduling_failure' } },
  ],
  [
    'a refusal of what was asked for',
    { detail: [{ type: 'content_policy_violation', msg: 'no' }] },
    { error: { message: 'no', type: 'invalid_request_error', code: 'content_policy_violation' } },
  ],
])('an answer with %s', (_what, body, told) => {
  expect(rewrite?.answer(body, {})).toEqual(told)
})
