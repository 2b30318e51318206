/** Pictures by SiliconFlow: other names for a number and a size, and several of one model alone. */
import { expect, test } from 'vitest'
import { forwardModelId } from '../../core/ids.ts'
import type { JsonObject } from '../../core/json.ts'
import { siliconflowImages } from './images.ts'

const { rewrite, makesOne } = siliconflowImages

test.each<[string, JsonObject, JsonObject, readonly string[]]>([
  [
    'Kwai-Kolors/Kolors',
    { n: '2', size: '1024x1024', seed: 7 },
    { seed: 7, image_size: '1024x1024', batch_size: 2 },
    [],
  ],
  ['Qwen/Qwen-Image', { n: 2, size: 'auto', quality: 'high' }, {}, ['n', 'quality']],
  ['Qwen/Qwen-Image', { n: 1, batch_size: 4 }, {}, ['batch_size']],
  ['Kwai-Kolors/Kolors', { response_format: 'b64_json' }, {}, []],
])('%s is asked for %o', (model, asked, body, dropped) => {
  expect(rewrite?.request({ model, prompt: 'red', ...asked })).toEqual({
    body: { model, prompt: 'red', ...body },
    dropped,
    context: { bytes: asked['response_format'] === 'b64_json' },
  })
})

test.each([
  ['Kwai-Kolors/Kolors', false],
  ['Qwen/Qwen-Image', true],
])('%s makes one a call: %s', (model, one) => {
  expect(makesOne?.(forwardModelId(model))).toBe(one)
})

test.each<[string, JsonObject, JsonObject | undefined]>([
  [
    'pictures',
    { images: [{ url: 'https://p/1' }, { url: 'https://p/2' }], seed: 7 },
    { data: [{ url: 'https://p/1' }, { url: 'https://p/2' }] },
  ],
  ['none', { images: [] }, undefined],
  ['a failure', { code: 20012, message: 'no such model', data: null }, undefined],
])('an answer with %s', (_what, body, told) => {
  expect(rewrite?.answer(body, {})).toEqual(told)
})
