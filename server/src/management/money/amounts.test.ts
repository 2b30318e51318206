import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { microCredits } from '../../core/money.ts'
import { creditsOfText, creditsOfYuan, creditsText, exactYuanText, yuanText } from './amounts.ts'

describe('amounts', () => {
  test.each([
    ['a whole number of Credits', creditsOfText('100000'), 100_000_000_000n],
    ['a µCr is the sixth decimal', creditsOfText('0.000001'), 1n],
    ['what is finer goes to the nearest µCr, half to the even one', creditsOfText('0.0000015'), 2n],
    ['yuan at the default rate', creditsOfYuan('10', '1000'), 10_000_000_000n],
    ['yuan at a fractional rate', creditsOfYuan('0.5', '0.5'), 250_000n],
  ])('%s', (_sentence, found, expected) => {
    expect(found).toBe(expected)
  })

  test.each([
    ['Credits', creditsText(microCredits(-1_500_000n)), '-1.5'],
    ['yuan', yuanText(microCredits(10_000_000_000n), '1000'), '10'],
    ['yuan with at most six decimals', yuanText(microCredits(1_234_567_890_123n), '1000'), '1234.56789'],
  ])('are shown as decimal text: %s', (_what, found, expected) => {
    expect(found).toBe(expected)
  })

  test('Credits survive being written and read', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n }), (amount) => {
        expect(creditsOfText(creditsText(microCredits(amount)))).toBe(amount)
      }),
    )
  })

  test('amounts written as yuan give the same µCr again, whatever the rate', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 10n ** 15n }),
        fc.integer({ min: 1, max: 10_000_000 }),
        fc.integer({ min: 0, max: 3 }),
        (amount, units, places) => {
          const rate = (units / 10 ** places).toFixed(places)
          expect(creditsOfYuan(exactYuanText(microCredits(amount), rate), rate)).toBe(amount)
        },
      ),
    )
  })
})
