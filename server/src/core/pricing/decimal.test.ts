import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  add,
  compare,
  type Decimal,
  DECIMAL_EXPONENT_MAX,
  DECIMAL_LENGTH_MAX,
  divideHalfEven,
  multiply,
  parseDecimal,
  printDecimal,
  roundHalfEven,
} from './decimal.ts'

function decimal(text: string | number): Decimal {
  const result = parseDecimal(text)
  if (result.kind === 'refused') throw new Error(`${text} is refused: ${result.reason}`)
  return result.value
}

describe('reading', () => {
  test.each([
    ['0', '0'],
    ['-0', '0'],
    ['0.9', '0.9'],
    ['.5', '0.5'],
    ['5.', '5'],
    ['+12.500', '12.5'],
    ['-0.000001', '-0.000001'],
    ['007', '7'],
    ['1e-7', '0.0000001'],
    ['1.5E3', '1500'],
    [0.1, '0.1'],
    [1e21, '1000000000000000000000'],
    [5e-7, '0.0000005'],
    [
      '123456789012345678901234567890.000000000000000000001',
      '123456789012345678901234567890.000000000000000000001',
    ],
  ])('%s is %s', (input, printed) => {
    expect(printDecimal(decimal(input))).toBe(printed)
  })

  test.each([
    [''],
    ['.'],
    ['-'],
    ['1.2.3'],
    ['1,5'],
    [' 1'],
    ['0x10'],
    ['1e'],
    ['Infinity'],
    ['１'],
    [Number.NaN],
    [Number.POSITIVE_INFINITY],
    [`1e${DECIMAL_EXPONENT_MAX + 1}`],
    [`1e-${DECIMAL_EXPONENT_MAX + 1}`],
    ['9'.repeat(DECIMAL_LENGTH_MAX + 1)],
  ])('%s is refused, not guessed', (input) => {
    expect(parseDecimal(input).kind).toBe('refused')
  })

  test('every number reads as the number it prints as', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e40, max: 1e40 }), (number) => {
        fc.pre(number === 0 || Math.abs(number) > 1e-50)
        expect(Number(printDecimal(decimal(number)))).toBe(number === 0 ? 0 : number)
      }),
    )
  })
})

const decimals = fc
  .tuple(fc.bigInt(-(10n ** 18n), 10n ** 18n), fc.nat({ max: 12 }))
  .map(([units, scale]): Decimal => ({ units, scale }))

describe('arithmetic', () => {
  test('printing and reading is the identity', () => {
    fc.assert(fc.property(decimals, (value) => compare(decimal(printDecimal(value)), value) === 0))
  })

  test('products and sums are exact: distributive without a remainder', () => {
    fc.assert(
      fc.property(decimals, decimals, decimals, (a, b, c) => {
        expect(compare(multiply(a, add(b, c)), add(multiply(a, b), multiply(a, c)))).toBe(0)
      }),
    )
  })

  test.each([
    ['0.5', 0n],
    ['1.5', 2n],
    ['2.5', 2n],
    ['2.500001', 3n],
    ['-0.5', 0n],
    ['-1.5', -2n],
    ['-2.5', -2n],
    ['0.49999999999999999999', 0n],
    ['7', 7n],
  ])('%s rounds half to even to %s', (text, rounded) => {
    expect(roundHalfEven(decimal(text))).toBe(rounded)
  })

  test('rounding is never more than half a unit off and keeps order', () => {
    fc.assert(
      fc.property(fc.bigInt(), fc.bigInt(), fc.bigInt({ min: 1n }), (left, right, denominator) => {
        const rounded = divideHalfEven(left, denominator)
        const off = rounded * denominator - left
        expect(2n * (off < 0n ? -off : off) <= denominator).toBe(true)
        if (left <= right) expect(rounded <= divideHalfEven(right, denominator)).toBe(true)
      }),
    )
  })
})
