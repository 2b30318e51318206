import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CODE_VALUE_BITS, codeHint, readCode, writeCode } from './code-text.ts'

const values = fc.bigInt({ min: 0n, max: 2n ** BigInt(CODE_VALUE_BITS) - 1n })
const codes = values.map((value) => writeCode(value)).filter((code) => code !== undefined)

const EXAMPLE = writeCode(1_234_567_890_123_456_789n) ?? 'the example’s check is a sign'

describe('a redemption code', () => {
  test('has four groups of five symbols that are no look-alikes of each other', () => {
    fc.assert(fc.property(codes, (code) => /^[0-9A-HJKMNP-TV-Z]{5}(-[0-9A-HJKMNP-TV-Z]{5}){3}$/.test(code)))
  })

  test('reads back as it was written, and different values are different codes', () => {
    fc.assert(fc.property(codes, (code) => readCode(code) === code))
    expect(writeCode(1n)).not.toBe(writeCode(2n))
  })

  test.each([
    ['in small letters', EXAMPLE.toLowerCase()],
    ['without dashes', EXAMPLE.replaceAll('-', '')],
    ['with blanks around and between', ` ${EXAMPLE.replaceAll('-', ' ')}\n`],
    ['with the dashes of a word processor', EXAMPLE.replaceAll('-', '–')],
    [
      'in wide letters',
      EXAMPLE.replace(/[A-Z0-9]/g, (sign) => String.fromCodePoint(sign.charCodeAt(0) + 0xfee0)),
    ],
    ['with an O for every zero', EXAMPLE.replaceAll('0', 'O')],
    ['with an l for every one', EXAMPLE.replaceAll('1', 'l')],
    ['with an i for every one', EXAMPLE.replaceAll('1', 'i')],
    ['with a u for every v', EXAMPLE.replaceAll('V', 'u')],
  ])('is the same %s', (_, typed) => {
    expect(readCode(typed)).toBe(EXAMPLE)
  })

  test('with one symbol wrong is none', () => {
    const symbol = fc.constantFrom(...'0123456789ABCDEFGHJKMNPQRSTVWXYZ'.split(''))
    fc.assert(
      fc.property(codes, fc.nat({ max: 19 }), symbol, (code, place, other) => {
        const symbols = code.replaceAll('-', '')
        fc.pre(symbols[place] !== other)
        return readCode(symbols.slice(0, place) + other + symbols.slice(place + 1)) === undefined
      }),
    )
  })

  test('with two neighbours swapped is none', () => {
    fc.assert(
      fc.property(codes, fc.nat({ max: 17 }), (code, place) => {
        const symbols = code.replaceAll('-', '')
        const [one = '', other = ''] = [symbols[place], symbols[place + 1]]
        fc.pre(one !== other)
        return readCode(symbols.slice(0, place) + other + one + symbols.slice(place + 2)) === undefined
      }),
    )
  })

  test.each([[''], ['ABCDE'], [`${EXAMPLE}0`], [EXAMPLE.replace(/^./, '*')], ['💳'.repeat(20)]])(
    '%j is none',
    (text) => {
      expect(readCode(text)).toBeUndefined()
    },
  )

  test('is known in lists by its first group', () => {
    expect(EXAMPLE.startsWith(`${codeHint(EXAMPLE)}-`)).toBe(true)
    expect(codeHint(EXAMPLE)).toHaveLength(5)
  })
})
