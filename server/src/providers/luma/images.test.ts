import { describe, expect, test } from 'vitest'
import { forwardModelId } from '../../core/ids.ts'
import type { JsonObject } from '../../core/json.ts'
import type { PassedDialect } from '../provider.ts'
import { lumaDreamMachineImages, lumaImages } from './images.ts'

const A = 'https://p/a'
const B = 'https://p/b'
const BYTES = 'data:image/webp;base64,AAAA'
const NONE = { files: [], soundSeconds: 0 }

test.each<[string, PassedDialect, JsonObject, JsonObject, readonly string[]]>([
  [
    'a new picture',
    lumaImages,
    { n: 2, size: '1920x1080', style: 'manga', output_format: 'png', user: 'u' },
    { type: 'image', aspect_ratio: '16:9', style: 'manga', output_format: 'png' },
    ['n', 'user'],
  ],
  ['a changed one', lumaImages, { image: A }, { type: 'image_edit', source: { url: A } }, []],
  [
    'a changed one beside others that are shown',
    lumaImages,
    { images: [{ image_url: BYTES }, { image_url: B }], size: '100x1000' },
    {
      type: 'image_edit',
      source: { data: 'AAAA', media_type: 'image/webp' },
      image_ref: [{ url: B }],
    },
    ['size'],
  ],
  [
    'a new picture of the older API',
    lumaDreamMachineImages,
    { size: '1024x1024', format: 'png', quality: 'high' },
    { aspect_ratio: '1:1', format: 'png' },
    ['quality'],
  ],
  [
    'a changed one of the older API',
    lumaDreamMachineImages,
    { image: [A, B] },
    { modify_image_ref: { url: A }, image_ref: [{ url: B }] },
    [],
  ],
  [
    'its own way to say it',
    lumaDreamMachineImages,
    { modify_image_ref: { url: A, weight: 0.5 } },
    { modify_image_ref: { url: A, weight: 0.5 } },
    [],
  ],
])('%s', (_what, { rewrite }, asked, members, dropped) => {
  expect(rewrite?.request({ model: 'uni-1', prompt: 'red', ...asked })).toEqual({
    body: { model: 'uni-1', prompt: 'red', ...members },
    dropped,
    context: { bytes: false },
  })
})

test.each<[string, PassedDialect, JsonObject, RegExp | undefined]>([
  ['a mask', lumaImages, { image: A, mask: A }, /^mask/],
  ['ten pictures', lumaImages, { image: Array.from({ length: 10 }, () => A) }, / 9$/],
  ['bytes for the older API', lumaDreamMachineImages, { image: BYTES }, /by public address/],
  ['bytes', lumaImages, { image: BYTES }, undefined],
  ['an address for the older API', lumaDreamMachineImages, { image: A }, undefined],
])('%s can be asked for, or not', (_what, { rewrite }, asked, why) => {
  const told = rewrite?.refuses?.({ model: 'uni-1', ...asked }, NONE)
  if (why === undefined) expect(told).toBeUndefined()
  else expect(told).toMatch(why)
})

test('files are no addresses', () => {
  const files = [{ name: 'image', size: 4 }]
  expect(lumaDreamMachineImages.rewrite?.refuses?.({}, { files, soundSeconds: 0 })).toMatch(
    /by public address/,
  )
  expect(lumaImages.rewrite?.refuses?.({}, { files, soundSeconds: 0 })).toBeUndefined()
})

describe('a generation', () => {
  const { tasks } = lumaImages
  const at = { baseUrl: 'https://agents.lumalabs.ai/v1', forwardModelId: forwardModelId('uni-1') }
  const next = { url: 'https://agents.lumalabs.ai/v1/generations/g%2F1', headers: {} }
  const ORDER = { id: 'g/1', state: 'queued' }

  test.each<[string, JsonObject, unknown]>([
    ['queued', ORDER, next],
    ['refused', { detail: 'no' }, 'unclear'],
  ])('ordered: %s', (_what, body, step) => {
    expect(tasks?.read({ body, order: undefined, asked: undefined }, at)).toEqual(step)
  })

  test.each<[string, JsonObject, unknown]>([
    ['goes on', { id: 'g/1', state: 'processing' }, next],
    ['goes on, in the word of the older API', { id: 'g/1', state: 'dreaming' }, next],
    ['is done', { id: 'g/1', state: 'completed' }, 'over'],
    ['failed', { id: 'g/1', state: 'failed' }, 'over'],
    ['is nothing that is known', { detail: 'x' }, 'unclear'],
  ])('asked for: it %s', (_what, body, step) => {
    expect(tasks?.read({ body, order: ORDER, asked: next.url }, at)).toEqual(step)
  })
})

const error = (code: string | null, message: string, type = 'invalid_request_error') => ({
  error: { message, type, code },
})

test.each<[string, PassedDialect, JsonObject, JsonObject | undefined]>([
  [
    'a picture',
    lumaImages,
    { state: 'completed', output: [{ type: 'image', url: A }] },
    { data: [{ url: A }] },
  ],
  ['a video', lumaImages, { state: 'completed', output: [{ type: 'video', url: A }] }, undefined],
  ['nothing', lumaImages, { state: 'completed', output: null }, undefined],
  [
    'a picture of the older API',
    lumaDreamMachineImages,
    { state: 'completed', assets: { image: A, video: null } },
    { data: [{ url: A }] },
  ],
  ['nothing of the older API', lumaDreamMachineImages, { state: 'completed', assets: null }, undefined],
  [
    'what was withheld',
    lumaImages,
    { state: 'failed', failure_code: 'content_moderated', failure_reason: 'no' },
    error('content_moderated', 'no'),
  ],
  [
    'a failure',
    lumaDreamMachineImages,
    { state: 'failed', failure_reason: null },
    error(null, 'the generation failed', 'api_error'),
  ],
])('an answer with %s', (_what, { rewrite }, body, told) => {
  expect(rewrite?.answer(body, {})).toEqual(told)
})
