import { describe, expect, test } from 'vitest'
import { microCredits } from '../money.ts'
import { atOtherRate, isSameRate } from './own-rate.ts'

describe('an amount that represents yuan', () => {
  test.each([
    ['twice the Credits a yuan, twice the Credits', 100_000n, '1000', '2000', 200_000n],
    ['a rate with decimals', 1_000n, '0.5', '1.25', 2_500n],
    ['rounded to the nearest µCr', 1n, '3', '1', 0n],
    ['exactly between two, to the even one', 5n, '2', '1', 2n],
    ['nothing stays nothing', 0n, '1000', '7', 0n],
    ['a debt is one still', -100n, '1000', '500', -50n],
  ])('%s', (_, amount, from, to, expected) => {
    expect(atOtherRate(microCredits(amount), { from, to })).toBe(expected)
  })

  test.each([
    ['1000', '1000.0', true],
    ['1000', '1e3', true],
    ['1000', '1000.000001', false],
  ])('%s and %s: one rate? %s', (left, right, same) => {
    expect(isSameRate(left, right)).toBe(same)
  })

  test.each(['0', '-1', 'many'])('%s is no rate', (rate) => {
    expect(() => isSameRate('1', rate)).toThrow('is not a rate')
  })
})
