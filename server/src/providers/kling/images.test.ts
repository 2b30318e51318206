import { describe, expect, test } from 'vitest'
import { forwardModelId } from '../../core/ids.ts'
import type { JsonObject } from '../../core/json.ts'
import { klingImages } from './images.ts'

const BASE = 'https://api-singapore.klingai.com'
const { rewrite, tasks } = klingImages
const NEW = 'kling-v2-1'
const OMNI = 'kling-image-o1'
const A = 'https://p/a'
const BYTES = 'data:image/png;base64,AAAA'
const NONE = { files: [], soundSeconds: 0 }

test.each<[string, string, JsonObject, string, JsonObject, readonly string[]]>([
  [
    'a new picture',
    NEW,
    { n: '2', size: '1920x1080', negative_prompt: 'blue', resolution: '2k', user: 'u' },
    'generations',
    { n: 2, aspect_ratio: '16:9', negative_prompt: 'blue', resolution: '2k' },
    ['user'],
  ],
  [
    'a changed picture, in bare base64',
    NEW,
    { image: BYTES, image_reference: 'subject', image_fidelity: 0.5, negative_prompt: 'blue' },
    'generations',
    { image: 'AAAA', image_reference: 'subject', image_fidelity: 0.5 },
    ['negative_prompt'],
  ],
  [
    'several pictures',
    OMNI,
    { images: [{ image_url: A }, { image_url: BYTES }], size: 'auto' },
    'omni-image',
    { image_list: [{ image: A }, { image: 'AAAA' }] },
    [],
  ],
  [
    'a series, whose length nobody would know',
    'kling-v3-omni',
    { result_type: 'series', series_amount: 9, callback_url: 'https://x' },
    'omni-image',
    {},
    ['result_type', 'series_amount', 'callback_url'],
  ],
  ['a size that no ratio comes near', NEW, { size: '100x1000' }, 'generations', {}, ['size']],
  [
    'a picture without its words for a reference',
    NEW,
    { image_reference: 'subject' },
    'generations',
    {},
    ['image_reference'],
  ],
])('%s', (_what, model, asked, path, members, dropped) => {
  expect(rewrite?.request({ model, prompt: 'red', ...asked })).toEqual({
    body: { model_name: model, prompt: 'red', ...members },
    dropped,
    context: { bytes: false },
  })
  const input = {
    baseUrl: BASE,
    forwardModelId: forwardModelId(model),
    operation: 'generate',
    fields: {},
  } as const
  expect(klingImages.form(input)?.url).toBe(`${BASE}/v1/images/${path}`)
})

test.each<[string, string, JsonObject, RegExp | undefined]>([
  ['a mask', NEW, { image: A, mask: { image_url: A } }, /^mask/],
  ['two pictures', NEW, { image: [A, A] }, /^image: .* 1$/],
  ['eleven', OMNI, { image: Array.from({ length: 11 }, () => A) }, /^image: .* 10$/],
  ['the id of a file', OMNI, { images: [{ file_id: 'f' }] }, /^images/],
  ['two pictures of a model that takes them', OMNI, { image: [A, A] }, undefined],
  ['none', NEW, {}, undefined],
])('%s can be asked for, or not', (_what, model, asked, why) => {
  const told = rewrite?.refuses?.({ model, ...asked }, NONE)
  if (why === undefined) expect(told).toBeUndefined()
  else expect(told).toMatch(why)
})

describe('a task', () => {
  const task = (task_status: string, more: object = {}) => ({
    code: 0,
    message: 'SUCCEED',
    data: { task_id: 't1', task_status, ...more },
  })
  const at = (model = NEW) => ({ baseUrl: BASE, forwardModelId: forwardModelId(model) })
  const next = (path = 'generations') => ({ url: `${BASE}/v1/images/${path}/t1`, headers: {} })

  test.each<[string, JsonObject, unknown]>([
    ['submitted', task('submitted'), next()],
    ['of a word that is not known', task('dancing'), next()],
    ['refused', { code: 1301, message: 'no', data: null }, 'unclear'],
    ['without an id', { code: 0, data: {} }, 'unclear'],
  ])('ordered: %s', (_what, body, step) => {
    expect(tasks?.read({ body, order: undefined, asked: undefined }, at())).toEqual(step)
  })

  test.each<[string, JsonObject, unknown]>([
    ['goes on', task('processing'), next()],
    ['is done', task('succeed'), 'over'],
    ['failed', task('failed'), 'over'],
    ['is asked for too often', { code: 1302, message: 'slow down' }, 'unclear'],
    ['is of a word that is not known', task('dancing'), 'unclear'],
  ])('asked for: it %s', (_what, body, step) => {
    expect(tasks?.read({ body, order: task('submitted'), asked: next().url }, at())).toEqual(step)
  })

  test('of a model of several pictures is asked for at its own path', () => {
    expect(tasks?.read({ body: task('submitted'), order: undefined, asked: undefined }, at(OMNI))).toEqual(
      next('omni-image'),
    )
  })
})

const error = (code: string | null, message: string, type = 'invalid_request_error') => ({
  error: { message, type, code },
})

test.each<[string, JsonObject, JsonObject | undefined]>([
  [
    'pictures',
    {
      code: 0,
      data: {
        task_status: 'succeed',
        task_result: {
          images: [
            { index: 0, url: A },
            { index: 1, url: 'https://p/b' },
          ],
        },
      },
    },
    { data: [{ url: A }, { url: 'https://p/b' }] },
  ],
  [
    'a series all the same, each of which was made',
    {
      code: 0,
      data: {
        task_status: 'succeed',
        task_result: { images: [{ url: A }], series_images: [{ url: 'https://p/b' }] },
      },
    },
    { data: [{ url: A }, { url: 'https://p/b' }] },
  ],
  ['none', { code: 0, data: { task_status: 'succeed', task_result: { images: [] } } }, undefined],
  [
    'addresses that are none',
    {
      code: 0,
      data: { task_status: 'succeed', task_result: { images: [{ url: 'javascript:x' }, null, 7] } },
    },
    undefined,
  ],
  [
    'a refusal of content',
    { code: 1301, message: 'sensitive (request id: abc-1)' },
    error('1301', 'sensitive'),
  ],
  ['no money', { code: 1101, message: 'in arrears' }, error('1101', 'in arrears', 'api_error')],
  [
    'a failure by risk control',
    { code: 0, data: { task_status: 'failed', task_status_msg: 'Failure to pass the risk control system' } },
    error('risk_control', 'Failure to pass the risk control system'),
  ],
  [
    'another failure',
    { code: 0, data: { task_status: 'failed', task_status_msg: '' } },
    error(null, 'the task failed', 'api_error'),
  ],
])('an answer with %s', (_what, body, told) => {
  expect(rewrite?.answer(body, {})).toEqual(told)
})
