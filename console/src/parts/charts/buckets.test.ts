import { expect, test } from 'vitest'
import { bucketKeys, lastBuckets } from './buckets.ts'

test('the last days are the person’s days, the running one included', () => {
  const now = Date.parse('2026-11-22T23:30:00Z')
  const shanghai = lastBuckets(3, 'day', { now, timeZone: 'Asia/Shanghai' })
  expect(shanghai.map(({ key }) => key)).toEqual(['2026-11-21', '2026-11-22', '2026-11-23'])
  const berlin = lastBuckets(3, 'day', { now, timeZone: 'Europe/Berlin' })
  expect(berlin.map(({ key }) => key)).toEqual(['2026-11-21', '2026-11-22', '2026-11-23'])
})

test.each([
  ['of 25 hours', '2026-10-25T22:30:00Z'],
  ['of 23 hours', '2026-03-29T22:30:00Z'],
])('no day is missing or twice around one %s', (_what, at) => {
  const buckets = lastBuckets(5, 'day', { now: Date.parse(at), timeZone: 'Europe/Berlin' })
  const days = buckets.map(({ key }) => Date.parse(key))
  expect(buckets).toHaveLength(5)
  for (const [index, day] of days.slice(1).entries()) expect(day - (days[index] ?? 0)).toBe(86_400_000)
})

test('hours are named with their day', () => {
  const keyOf = bucketKeys('hour', 'Asia/Kolkata')
  expect(keyOf('2026-11-22T18:45:00Z')).toMatch(/^2026-11-23, ?00$/)
})
