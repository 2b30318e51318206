import { expect, test } from 'vitest'
import { recomputeAmount } from '../../../../server/src/core/pricing/price.ts'
import { sumDecimals } from '../values/decimal.ts'
import { priceLines, type Recipe, roundingOf } from './price-lines.ts'

const RECIPE: Recipe = {
  credits_per_unit: '1000',
  rate_multiplier: '1',
  user_rate: '90',
  lines: [
    { class: 'input', quantity: 6_214, price: '9', per: 1_000_000 },
    { class: 'output', quantity: 1_907, price: '72', per: 1_000_000 },
  ],
}

const credits = (recipe: Recipe): readonly string[] => priceLines(recipe).map((line) => line.credits)

test('amount × price × chain × rate is exact, to six decimals', () => {
  expect(credits(RECIPE)).toEqual(['50.333400', '123.573600'])
  const line = { class: 'video_second', quantity: 5.1, price: '0.1234567', per: 1 } as const
  expect(credits({ ...RECIPE, rate_multiplier: '1.1', user_rate: '100', lines: [line] })).toEqual([
    '692.592087',
  ])
})

test('what makes a call more expensive as a whole is a line with what it adds, and a fee is one with its own price', () => {
  const surcharges = [
    { name: 'web_search_call', per_call: '0.07', count: 2 },
    { name: 'service_tier.priority', multiplier: '1.75' },
  ]
  expect(credits({ ...RECIPE, surcharges })).toEqual(['50.333400', '123.573600', '130.430250', '126.000000'])
})

/** 12.345678 of the µCr that the gateway counts in. */
const textOf = (micro: bigint): string =>
  `${micro / 1_000_000n}.${String(micro % 1_000_000n).padStart(6, '0')}`

/** Numbers below one that look drawn, the same at every run. */
function drawn(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

test.each(Array.from({ length: 300 }, (_, seed) => seed))(
  'the lines and what the gateway rounds at the end are the amount, to the last digit: recipe %i',
  (seed) => {
    const next = drawn(seed)
    const whole = (most: number) => 1 + Math.floor(next() * most)
    const decimal = (most: number, decimals: number) => (whole(most) / 10 ** decimals).toFixed(decimals)
    const lines = Array.from({ length: whole(5) }, () => ({
      class: 'input' as const,
      quantity: whole(10_000_000),
      price: decimal(1_000_000, 7),
      per: next() < 0.5 ? (1 as const) : (1_000_000 as const),
    }))
    const multiplier = decimal(30_000, 4)
    const fee = decimal(1_000, 5)
    const count = whole(9)
    const recipe = {
      credits_per_unit: decimal(9_999, 2),
      rate_multiplier: decimal(3_000, 3),
      user_rate: decimal(10_000, 2),
      lines,
      surcharges: [
        { name: 'priority', multiplier },
        { name: 'search', per_call: fee, count },
      ],
    }
    const amount = textOf(
      recomputeAmount({
        creditsPerUnit: recipe.credits_per_unit,
        rateMultiplier: recipe.rate_multiplier,
        userRate: recipe.user_rate,
        lines,
        surcharges: [
          { name: 'priority', multiplier },
          { name: 'search', perCall: fee, count },
        ],
      }),
    )
    const shown = priceLines(recipe)
    const rounding = roundingOf(amount, shown)
    expect(sumDecimals([...shown.map((line) => line.credits), rounding ?? '0'])).toBe(amount)
    // Half of the last digit a line, times what multiplies the whole.
    expect(Math.abs(Number(rounding ?? 0))).toBeLessThan(0.000_02)
  },
)

test('nothing is said of rounding where there was none', () => {
  expect(roundingOf('173.907', priceLines(RECIPE))).toBeUndefined()
  const third = { class: 'input', quantity: 1, price: '0.0000004', per: 1 } as const
  const recipe = { ...RECIPE, credits_per_unit: '1', user_rate: '100', lines: [third, third] }
  expect(credits(recipe)).toEqual(['0.000000', '0.000000'])
  expect(roundingOf('0.000001', priceLines(recipe))).toBe('0.000001')
})
