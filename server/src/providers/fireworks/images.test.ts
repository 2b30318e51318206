/** Pictures by Fireworks: the model in the address, one picture a call. */
import { expect, test } from 'vitest'
import { forwardModelId } from '../../core/ids.ts'
import type { JsonObject } from '../../core/json.ts'
import { fireworksImages } from './images.ts'

const { rewrite, form, makesOne } = fireworksImages
const MODEL = forwardModelId('accounts/fireworks/models/flux-1-schnell-fp8')

test('each model has its address, whatever its name', () => {
  const urlOf = (model: string) =>
    form({
      baseUrl: 'https://api.fireworks.ai/inference/v1',
      calledPath: '/v1/images/generations',
      forwardModelId: forwardModelId(model),
      operation: 'generate',
      fields: {},
    })?.url
  const base = 'https://api.fireworks.ai/inference/v1/workflows'
  expect(urlOf(MODEL)).toBe(`${base}/accounts/fireworks/models/flux-1-schnell-fp8/text_to_image`)
  expect(urlOf('a?b/c#d')).toBe(`${base}/a%3Fb/c%23d/text_to_image`)
  expect(makesOne?.(MODEL)).toBe(true)
})

test.each<[string, JsonObject, JsonObject, readonly string[]]>([
  ['words alone', {}, {}, []],
  ['a size', { size: '1536x1024' }, { aspect_ratio: '3:2' }, []],
  ['a size of the model’s choice', { size: 'auto', n: 1 }, {}, []],
  ['its own members', { seed: 7, guidance_scale: 3 }, { seed: 7, guidance_scale: 3 }, []],
  [
    'what it has no place for',
    { n: '2', size: '100x1000', response_format: 'url', quality: 'high', num_images: 9 },
    {},
    ['n', 'size', 'response_format', 'quality', 'num_images'],
  ],
])('%s', (_what, asked, members, dropped) => {
  expect(rewrite?.request({ model: MODEL, prompt: 'red', ...asked })).toEqual({
    body: { prompt: 'red', ...members },
    dropped,
    context: {},
  })
})

test.each<[string, JsonObject, JsonObject | undefined]>([
  [
    'a picture as an address',
    { base64: ['data:image/png;base64,AAAA'], finishReason: 'SUCCESS' },
    { data: [{ b64_json: 'AAAA' }] },
  ],
  ['a picture alone', { base64: 'AAAA' }, { data: [{ b64_json: 'AAAA' }] }],
  [
    'a picture that was withheld',
    { base64: [], finishReason: 'CONTENT_FILTERED' },
    { error: { message: 'CONTENT_FILTERED', type: 'invalid_request_error', code: 'content_filter' } },
  ],
  ['nothing', { base64: [], finishReason: 'SUCCESS' }, undefined],
  ['something else', { id: 'x' }, undefined],
])('an answer with %s', (_what, body, told) => {
  expect(rewrite?.answer(body, {})).toEqual(told)
})
