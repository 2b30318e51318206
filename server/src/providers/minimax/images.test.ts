/** Pictures by MiniMax: links or base64, and refusals inside a 200. */
import { expect, test } from 'vitest'
import type { JsonObject } from '../../core/json.ts'
import { minimaxImages } from './images.ts'

const { rewrite, classify } = minimaxImages

test.each<[string, JsonObject, JsonObject, readonly string[]]>([
  ['a number and a size', { n: '2', size: '1536x1024' }, { aspect_ratio: '3:2', n: 2 }, []],
  ['base64', { response_format: 'b64_json' }, { response_format: 'base64' }, []],
  ['a size that it has not', { size: '100x1000' }, {}, ['size']],
  [
    'its own members',
    { seed: 7, prompt_optimizer: true, quality: 'high' },
    { seed: 7, prompt_optimizer: true },
    ['quality'],
  ],
])('is asked for %s', (_what, asked, body, dropped) => {
  expect(rewrite?.request({ model: 'image-01', prompt: 'red', ...asked })).toEqual({
    body: { model: 'image-01', prompt: 'red', response_format: 'url', ...body },
    dropped,
    context: {},
  })
})

const WELL = { base_resp: { status_code: 0, status_msg: 'success' } }
const REFUSED = { status_code: 1026, status_msg: 'sensitive' }

test.each<[string, JsonObject, JsonObject | undefined]>([
  [
    'links',
    { data: { image_urls: ['https://p/1', 'https://p/2'] }, ...WELL },
    { data: [{ url: 'https://p/1' }, { url: 'https://p/2' }] },
  ],
  ['base64', { data: { image_base64: ['AAAA'] }, ...WELL }, { data: [{ b64_json: 'AAAA' }] }],
  ['nothing', { data: { image_urls: [] }, ...WELL }, undefined],
  ['no document of its', { pictures: [] }, undefined],
  [
    'a refusal',
    { data: {}, base_resp: REFUSED },
    { error: { message: 'sensitive', type: 'invalid_request_error', base_resp: REFUSED } },
  ],
])('an answer with %s', (_what, body, told) => {
  expect(rewrite?.answer(body, {})).toEqual(told)
})

test('a refusal inside a 200 is known by its code', () => {
  const body = rewrite?.answer({ base_resp: REFUSED }, {}) ?? null
  expect(classify({ status: 200, headers: {}, body }).kind).toBe('refused-content')
})
