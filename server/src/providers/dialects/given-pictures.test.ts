import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../core/json.ts'
import {
  addressOfPicture,
  addressOrData,
  countPictures,
  givenPictures,
  type GivenPicture,
  unknownPicture,
} from './given-pictures.ts'

const A: GivenPicture = { kind: 'url', url: 'https://p/a' }
const B: GivenPicture = { kind: 'url', url: 'https://p/b' }
const DATA: GivenPicture = { kind: 'base64', mediaType: 'image/webp', data: 'AAAA' }
const JPEG = Uint8Array.from([0xff, 0xd8, 0xff, 0xe0])
const fileOf = (name: string, bytes: Uint8Array) => ({ name, size: bytes.byteLength, bytes: () => bytes })

describe('pictures are found', () => {
  test.each<[string, JsonObject, readonly GivenPicture[]]>([
    [
      'where OpenAI has them',
      { images: [{ image_url: 'https://p/a' }, { image_url: 'https://p/b' }] },
      [A, B],
    ],
    ['where xAI has them', { image: { type: 'image_url', url: 'https://p/a' } }, [A]],
    ['as in chats', { images: [{ type: 'image_url', image_url: { url: 'https://p/a' } }] }, [A]],
    ['as an address', { image: 'https://p/a' }, [A]],
    ['as a list of addresses', { image: ['https://p/a', 'https://p/b'] }, [A, B]],
    ['under the name of others', { image_url: 'https://p/a' }, [A]],
    ['as bytes in an address', { image: 'data:image/webp;base64,AAAA' }, [DATA]],
    ['nowhere', { image: null, images: [] }, []],
    ['nowhere in an empty text', { image: '' }, []],
  ])('%s', (_where, body, pictures) => {
    const found = givenPictures({ ...body, prompt: 'red' })
    expect(found.pictures).toMatchObject(pictures)
    expect([found.pictures.length, found.rest]).toEqual([pictures.length, { prompt: 'red' }])
    expect(countPictures(body, { files: [], soundSeconds: 0 })).toBe(pictures.length)
  })

  test('in the files of a form, whose type is read from their bytes', () => {
    const files = [
      fileOf('image', JPEG),
      fileOf('mask', Uint8Array.from([1])),
      fileOf('image', Uint8Array.from([2])),
    ]
    const { pictures, mask } = givenPictures({ prompt: 'red' }, { files, soundSeconds: 0 })
    expect(pictures).toEqual([
      { kind: 'base64', mediaType: 'image/jpeg', data: '/9j/4A==' },
      { kind: 'base64', mediaType: 'image/png', data: 'Ag==' },
    ])
    expect(mask).toEqual({ kind: 'base64', mediaType: 'image/png', data: 'AQ==' })
    expect(countPictures({}, { files, soundSeconds: 0 })).toBe(2)
  })

  test('and the mask in a document', () => {
    expect(givenPictures({ mask: { image_url: 'https://p/a' } }).mask).toMatchObject(A)
  })
})

test.each<[string, JsonObject, RegExp | undefined]>([
  ['an id of a file', { images: [{ image_url: 'https://p/a' }, { file_id: 'file-1' }] }, /^images: /],
  ['a mask by its id', { mask: { file_id: 'file-1' } }, /^mask: /],
  ['a number', { image: 7 }, /^image: /],
  ['an address', { image: 'https://p/a' }, undefined],
  ['none', {}, undefined],
])('of %s is said whether a picture can be had of it', (_what, body, told) => {
  if (told === undefined) expect(unknownPicture(body)).toBeUndefined()
  else expect(unknownPicture(body)).toMatch(told)
})

test('vendors get addresses, bytes in addresses, or bare bytes', () => {
  expect([A, DATA].map(addressOfPicture)).toEqual(['https://p/a', 'data:image/webp;base64,AAAA'])
  expect([A, DATA].map(addressOrData)).toEqual(['https://p/a', 'AAAA'])
})
