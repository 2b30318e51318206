import { expect, test } from 'vitest'
import { lastMonths } from './months.ts'

test('months are counted back over the turn of the year, from the person’s own month', () => {
  const now = Date.parse('2027-01-31T23:30:00Z')
  expect(lastMonths(3, { now, timeZone: 'UTC' })).toEqual(['2027-01', '2026-12', '2026-11'])
  expect(lastMonths(2, { now, timeZone: 'Asia/Shanghai' })).toEqual(['2027-02', '2027-01'])
})
