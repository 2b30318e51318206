import { expect, test } from 'vitest'
import { seriesOf } from './series.ts'

const now = Date.parse('2026-11-22T12:00:00Z')
const row = (at: string, group: string, value: string) => ({ at, group, value })

test('the groups that took most have a place of their own, the others share one, and nothing is lost', () => {
  const rows = [
    ...['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((group, index) =>
      row('2026-11-21T08:00:00Z', group, `${10 - index}.5`),
    ),
    row('2026-11-22T08:00:00Z', 'g', '0.25'),
    row('2026-11-01T08:00:00Z', 'a', '99'),
  ]
  const { series, bars, inside } = seriesOf(rows, {
    interval: 'day',
    count: 2,
    now,
    timeZone: 'UTC',
    groupOf: ({ group }) => group,
    valueOf: ({ value }) => value,
  })
  expect(series.map(({ group }) => group)).toEqual(['a', 'b', 'c', 'd', 'e', undefined])
  expect(series.at(-1)?.total).toBe('10.250000')
  expect(inside).toHaveLength(8)
  expect(bars.map(({ key, values }) => [key, values])).toEqual([
    ['2026-11-21', [10.5, 9.5, 8.5, 7.5, 6.5, 10]],
    ['2026-11-22', [0, 0, 0, 0, 0, 0.25]],
  ])
})
