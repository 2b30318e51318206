/** Pictures by OpenRouter: new and changed ones in one document, with pictures to start from by address. */
import { expect, test } from 'vitest'
import type { JsonObject } from '../../core/json.ts'
import { openrouterImages } from './images.ts'

const { rewrite } = openrouterImages
const reference = (url: string) => ({ type: 'image_url', image_url: { url } })

test.each<[string, JsonObject, JsonObject, readonly string[]]>([
  ['a prompt', { n: '2', size: '1024x1536' }, { n: 2, size: '1024x1536' }, []],
  [
    'pictures in the order of the client',
    { images: [{ image_url: 'https://p/1' }, { image_url: 'data:image/png;base64,AAAA' }] },
    { input_references: [reference('https://p/1'), reference('data:image/png;base64,AAAA')] },
    [],
  ],
  [
    'its own form',
    { input_references: [reference('https://p/1')], resolution: '2K', provider: { order: ['x'] }, seed: 7 },
    { input_references: [reference('https://p/1')], resolution: '2K', provider: { order: ['x'] }, seed: 7 },
    [],
  ],
  [
    'what it has no place for',
    { size: 'auto', quality: 'high', stream: true, user: 'u', style: 'vivid', response_format: 'url' },
    { quality: 'high' },
    ['response_format', 'stream', 'user', 'style'],
  ],
  ['the bytes that it answers with anyway', { response_format: 'b64_json', mask: null }, {}, []],
])('%s', (_what, asked, members, dropped) => {
  expect(rewrite?.request({ model: 'a/b', prompt: 'red', ...asked })).toEqual({
    body: { model: 'a/b', prompt: 'red', ...members },
    dropped,
    context: {},
  })
})

test.each<[string, JsonObject, string]>([
  ['a mask', { image: 'https://p/1', mask: 'https://p/m' }, 'mask: '],
  ['a picture by the id of a file', { images: [{ file_id: 'f' }] }, 'images: '],
])('%s is refused', (_what, asked, said) => {
  expect(rewrite?.refuses?.(asked, { files: [], soundSeconds: 0 })).toContain(said)
})

test.each<[string, JsonObject, boolean]>([
  ['pictures', { created: 1, data: [{ b64_json: 'AAAA', media_type: 'image/png' }] }, true],
  ['an error under a good status', { error: { code: 502, message: '' } }, false],
  ['no list', { data: {} }, false],
])('an answer with %s', (_what, body, isRead) => {
  expect(rewrite?.answer(body, {})).toEqual(isRead ? body : undefined)
})
