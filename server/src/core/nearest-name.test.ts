import { expect, test } from 'vitest'
import { nearestName } from './nearest-name.ts'

test.each([
  ['a swapped pair of letters', 'modle_id', 'model_id'],
  ['a lost letter', 'pririty', 'priority'],
  ['another case', 'Weight', 'weight'],
  ['a prefix that is missing', 'cache_input', undefined],
  ['nothing like it', 'colour', undefined],
])('%s: %s', (_sentence, name, expected) => {
  expect(nearestName(name, ['model_id', 'priority', 'weight', 'rate_multiplier'])).toBe(expected)
})
