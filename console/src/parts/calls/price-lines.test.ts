import { expect, test } from 'vitest'
import { priceLines, type Recipe } from './price-lines.ts'

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
