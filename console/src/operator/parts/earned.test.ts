import { expect, test } from 'vitest'
import { earnedOf } from './earned.ts'

const chain = { chain_id: 1, model: 'm', vendor_code: 'v', calls: 2, free_calls: 1, byok_calls: 0 }

test('a margin is known when the costs of every chain that was called are', () => {
  const known = { ...chain, revenue: '10.5', cost: '4.2', margin: '6.3' }
  const unknown = { ...chain, revenue: '1', cost: null, margin: null }
  expect(earnedOf([known, known])).toEqual({
    calls: 4,
    free: 2,
    revenue: '21.000000',
    cost: '8.400000',
    margin: '12.600000',
    share: 0.6,
  })
  expect(earnedOf([known, unknown])).toMatchObject({ cost: undefined, margin: undefined, share: undefined })
  expect(earnedOf([known, { ...unknown, byok_calls: 2 }])).toMatchObject({ calls: 4, revenue: '10.500000' })
  expect(earnedOf([])).toMatchObject({ calls: 0, share: undefined })
})
