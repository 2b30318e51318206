import fc from 'fast-check'
import { expect, test } from 'vitest'
import { countCodePoints } from './json-text.ts'

const unit = fc.oneof(
  fc.integer({ min: 0, max: 0xffff }),
  fc.constantFrom(0x41, 0xd7ff, 0xd800, 0xdbff, 0xdc00, 0xdfff, 0xe000),
)

test('code points are counted as a string has them, however they are escaped; half a pair is one', () => {
  const spelled = fc.record({ unit, isUpper: fc.boolean() })
  fc.assert(
    fc.property(fc.array(spelled), (units) => {
      const escapes = units.map(({ unit: code, isUpper }) => {
        const digits = code.toString(16).padStart(4, '0')
        return `\\u${isUpper ? digits.toUpperCase() : digits}`
      })
      const text = String.fromCharCode(...units.map(({ unit: code }) => code))
      expect(countCodePoints(Buffer.from(escapes.join('')))).toBe(Array.from(text).length)
    }),
  )
})

test('code points are counted in bytes as they are', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      const inside = JSON.stringify(text).slice(1, -1)
      expect(countCodePoints(Buffer.from(inside))).toBe(Array.from(text).length)
    }),
  )
})
