import { expect, test } from 'vitest'
import { growingPercent } from './heap-growth.ts'

const MIB = 2 ** 20

test.each([
  { used: 10 * MIB, percent: 200 },
  { used: 40 * MIB, percent: 200 },
  { used: 80 * MIB, percent: 100 },
  { used: 150 * MIB, percent: 20 },
  { used: 250 * MIB, percent: 10 },
  { used: 4_000 * MIB, percent: 10 },
])('a heap of $used bytes grows by $percent percent at the most', ({ used, percent }) => {
  expect(growingPercent(used)).toBe(percent)
})
