import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeBase64Bytes, encodeBase64Bytes } from './base64.ts'

describe('base64', () => {
  test('of any bytes is what Node makes of them, and is read back', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        const text = encodeBase64Bytes(bytes)
        expect(text).toBe(Buffer.from(bytes).toString('base64'))
        expect(decodeBase64Bytes(text)).toEqual(bytes)
      }),
    )
  })

  test('of a picture of megabytes is one text, whole', () => {
    const bytes = new Uint8Array(3_000_001).fill(0xa5)
    expect(encodeBase64Bytes(bytes) === Buffer.from(bytes).toString('base64')).toBe(true)
  })
})
