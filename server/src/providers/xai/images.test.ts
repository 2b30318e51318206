/** Changed pictures of Grok: a document that names pictures by address, whatever the client sent. */
import { expect, test } from 'vitest'
import { forwardModelId } from '../../core/ids.ts'
import type { JsonObject } from '../../core/json.ts'
import { xaiImages } from './images.ts'

const { rewrite, form } = xaiImages
const place = (url: string) => ({ type: 'image_url', url })

test.each<[string, JsonObject, JsonObject, readonly string[]]>([
  ['one picture', { images: [{ image_url: 'https://p/1' }] }, { image: place('https://p/1') }, []],
  [
    'several',
    { images: [{ image_url: 'https://p/1' }, { image_url: 'https://p/2' }] },
    { images: [place('https://p/1'), place('https://p/2')] },
    [],
  ],
  [
    'its own form',
    { image: place('https://p/1'), resolution: '2k' },
    { image: place('https://p/1'), resolution: '2k' },
    [],
  ],
  [
    'a mask, a number as text and a size',
    { image: 'https://p/1', mask: { image_url: 'https://p/m' }, n: '3', size: '1536x1024' },
    { image: place('https://p/1'), mask: place('https://p/m'), n: 3, aspect_ratio: '3:2' },
    [],
  ],
  [
    'what only others have',
    {
      image: 'https://p/1',
      size: '100x1000',
      input_fidelity: 'high',
      stream: true,
      user: 'u',
      quality: 'low',
    },
    { image: place('https://p/1'), quality: 'low' },
    ['size', 'input_fidelity', 'stream', 'user'],
  ],
  [
    'a size of the model’s choice',
    { image: 'https://p/1', size: 'auto' },
    { image: place('https://p/1') },
    [],
  ],
])('%s', (_what, asked, members, dropped) => {
  expect(rewrite?.request({ model: 'grok', prompt: 'red', ...asked })).toEqual({
    body: { model: 'grok', prompt: 'red', ...members },
    dropped,
    context: {},
  })
})

test.each<[string, JsonObject, JsonObject | undefined]>([
  ['pictures', { data: [{ url: 'https://p/1' }] }, { data: [{ url: 'https://p/1' }] }],
  ['none', { data: null }, undefined],
  ['something else', { id: 'x' }, undefined],
])('an answer with %s', (_what, body, told) => {
  expect(rewrite?.answer(body, {})).toEqual(told)
})

test.each([
  ['/v1/images/generations', 'https://api.x.ai/v1/images/generations'],
  ['/v1/images/edits', 'https://api.x.ai/v1/images/edits'],
])('%s is %s', (calledPath, url) => {
  const baseUrl = 'https://api.x.ai/v1'
  const asked = {
    baseUrl,
    calledPath,
    forwardModelId: forwardModelId('grok'),
    operation: 'generate',
    fields: {},
  } as const
  expect(form(asked)?.url).toBe(url)
})
