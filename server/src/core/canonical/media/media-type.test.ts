import { describe, expect, test } from 'vitest'
import { isTextual, mayHold, typeOfMedia } from './media-type.ts'

const bytes = (text: string): Uint8Array => Uint8Array.from(text, (letter) => letter.charCodeAt(0))
const PNG = bytes('\u0089PNG\r\n\u001a\n')

describe('what fetched bytes are', () => {
  test.each([
    ['the first bytes go before the header', PNG, 'image/jpeg', 'image', 'image/png'],
    ['a header that says nothing leaves it to them', PNG, 'application/octet-stream', 'image', 'image/png'],
    ['JPEG', bytes('\u00ff\u00d8\u00ff\u00e0'), 'image/jpg', 'image', 'image/jpeg'],
    ['GIF', bytes('GIF89a'), '', 'image', 'image/gif'],
    ['WebP', bytes('RIFF\u0001\u0002\u0003\u0004WEBPVP8 '), '', 'image', 'image/webp'],
    ['a PDF is a file', bytes('%PDF-1.7'), 'binary/octet-stream', 'file', 'application/pdf'],
    ['and no image, whatever it calls itself', bytes('%PDF-1.7'), 'image/png', 'image', undefined],
    ['a type nobody can tell is none', bytes('????'), 'application/octet-stream', 'image', undefined],
    ['other spellings become the one upstreams know', bytes('????'), 'image/jpg', 'image', 'image/jpeg'],
    ['a sound', bytes('ID3'), 'audio/mpeg', 'audio', 'audio/mpeg'],
    ['a text', bytes('hi'), 'text/plain', 'file', 'text/plain'],
  ] as const)('%s', (_rule, head, declared, media, type) => {
    expect(typeOfMedia(head, declared, media)).toBe(type)
  })

  test.each([
    ['image/png', 'image', true],
    ['image/svg+xml', 'image', false],
    ['text/html', 'image', false],
    ['application/octet-stream', 'image', true],
    ['video/mp4', 'file', true],
    ['application/zip', 'file', false],
    ['text/plain', 'audio', false],
  ] as const)('%s as %s: %s', (mediaType, media, worth) => {
    expect(mayHold(mediaType, media)).toBe(worth)
  })

  test('documents that are words', () => {
    expect(['text/csv', 'application/json', 'application/pdf'].map(isTextual)).toEqual([true, true, false])
  })
})
