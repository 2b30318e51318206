import { describe, expect, test } from 'vitest'
import { forwardModelId } from '../../core/ids.ts'
import type { JsonObject } from '../../core/json.ts'
import { jimengImages } from './images.ts'

const BASE = 'https://visual.volcengineapi.com'
const { rewrite, tasks } = jimengImages
const OF_WORDS = 'jimeng_t2i_v31'
const OF_ONE = 'jimeng_i2i_v30'
const MANY = 'jimeng_t2i_v40'
const A = 'https://p/a'
const BYTES = 'data:image/png;base64,AAAA'
const NONE = { files: [], soundSeconds: 0 }

test.each<[string, string, JsonObject, JsonObject, readonly string[]]>([
  [
    'a new picture of a model that makes one',
    OF_WORDS,
    { n: 1, size: '1664x936', seed: 7, use_pre_llm: false, user: 'u' },
    { width: 1664, height: 936, seed: 7, use_pre_llm: false },
    ['user'],
  ],
  [
    'one of a model that would make several',
    MANY,
    { n: 3, force_single: false },
    { force_single: true },
    ['n', 'force_single'],
  ],
  [
    'changed by address',
    MANY,
    { image: [A, 'https://p/b'], scale: 0.7 },
    { image_urls: [A, 'https://p/b'], scale: 0.7, force_single: true },
    [],
  ],
  ['changed in bytes', OF_ONE, { images: [{ image_url: BYTES }] }, { binary_data_base64: ['AAAA'] }, []],
  [
    'of a later model, which may make several',
    'jimeng_seedream46_cvtob',
    { size: 'large' },
    { force_single: true },
    ['size'],
  ],
])('%s', (_what, model, asked, members, dropped) => {
  expect(rewrite?.request({ model, prompt: 'red', ...asked })).toEqual({
    body: { req_key: model, prompt: 'red', ...members },
    dropped,
    context: { bytes: false },
  })
})

test.each<[string, string, JsonObject, RegExp | undefined]>([
  ['a picture of a model of words', OF_WORDS, { image: A }, /new pictures only/],
  ['two of a model of one', OF_ONE, { image: [A, A] }, / 1$/],
  ['addresses and bytes at once', MANY, { image: [A, BYTES] }, /not both/],
  ['a mask', MANY, { image: A, mask: A }, /^mask/],
  ['ten', MANY, { image: Array.from({ length: 10 }, () => A) }, undefined],
  ['one', OF_ONE, { image: A }, undefined],
])('%s can be asked for, or not', (_what, model, asked, why) => {
  const told = rewrite?.refuses?.({ model, ...asked }, NONE)
  if (why === undefined) expect(told).toBeUndefined()
  else expect(told).toMatch(why)
})

test('files beside an address are bytes and address at once', () => {
  const files = [{ name: 'image', size: 4 }]
  expect(rewrite?.refuses?.({ model: MANY, image: A }, { files, soundSeconds: 0 })).toMatch(/not both/)
  expect(rewrite?.refuses?.({ model: MANY }, { files, soundSeconds: 0 })).toBeUndefined()
})

describe('a task', () => {
  const at = { baseUrl: BASE, forwardModelId: forwardModelId(MANY) }
  const url = `${BASE}/?Action=CVSync2AsyncGetResult&Version=2022-08-31`
  const next = { url, headers: {}, body: { req_key: MANY, task_id: 't1', req_json: '{"return_url":true}' } }
  const ORDER = { code: 10_000, data: { task_id: 't1' }, message: 'Success' }
  const task = (status: string) => ({ code: 10_000, data: { status }, message: 'Success' })

  test.each<[string, JsonObject, unknown]>([
    ['accepted', ORDER, next],
    ['refused', { code: 50411, message: 'Pre Img Risk Not Pass', data: null }, 'unclear'],
    [
      'refused before it',
      { ResponseMetadata: { Error: { Code: 'SignatureDoesNotMatch', Message: 'x' } } },
      'unclear',
    ],
  ])('ordered: %s', (_what, body, step) => {
    expect(tasks?.read({ body, order: undefined, asked: undefined }, at)).toEqual(step)
  })

  test.each<[string, JsonObject, unknown]>([
    ['waits', task('in_queue'), next],
    ['is made', task('generating'), next],
    ['is done', task('done'), 'over'],
    ['is not found for a moment', task('not_found'), 'unclear'],
    ['is asked for too often', { code: 50429, message: 'x' }, 'unclear'],
    ['meets an internal error', { code: 50500, message: 'x' }, 'unclear'],
    ['is asked for by whom may not', { code: 50400, message: 'Access Denied' }, 'unclear'],
    ['was withheld', { code: 50511, message: 'Post Img Risk Not Pass' }, 'over'],
    ['failed for a reason that is not known', { code: 50215, message: 'x' }, 'over'],
    ['is nothing', {}, 'unclear'],
  ])('asked for: it %s', (_what, body, step) => {
    expect(tasks?.read({ body, order: ORDER, asked: url }, at)).toEqual(step)
  })
})

const error = (code: string, message: string, type = 'invalid_request_error') => ({
  error: { message, type, code },
})

test.each<[string, JsonObject, JsonObject | undefined]>([
  [
    'a picture',
    { code: 10_000, data: { status: 'done', image_urls: [A], binary_data_base64: null } },
    { data: [{ url: A }] },
  ],
  [
    'more than was asked for, each of which was made',
    { code: 10_000, data: { status: 'done', image_urls: [A, 'https://p/b'] } },
    { data: [{ url: A }, { url: 'https://p/b' }] },
  ],
  ['none', { code: 10_000, data: { status: 'done', image_urls: null } }, undefined],
  ['nothing', {}, undefined],
  ['what was withheld', { code: 50412, message: 'Text Risk Not Pass' }, error('50412', 'Text Risk Not Pass')],
  [
    'a failure',
    { code: 50501, message: 'Internal RPC Error' },
    error('50501', 'Internal RPC Error', 'api_error'),
  ],
  [
    'a failure of the gateway before it',
    { ResponseMetadata: { RequestId: 'r', Error: { Code: 'AccessDenied', Message: 'no' } } },
    error('AccessDenied', 'no', 'api_error'),
  ],
])('an answer with %s', (_what, body, told) => {
  expect(rewrite?.answer(body, {})).toEqual(told)
})
