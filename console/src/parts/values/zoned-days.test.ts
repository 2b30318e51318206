import { expect, test } from 'vitest'
import { dayOf, dayStart, momentOf } from './zoned-days.ts'

test('a day begins at the midnight of its zone', () => {
  expect(new Date(dayStart('2026-11-22', 'Europe/Berlin')).toISOString()).toBe('2026-11-21T23:00:00.000Z')
  expect(new Date(dayStart('2026-11-22', 'Asia/Shanghai')).toISOString()).toBe('2026-11-21T16:00:00.000Z')
  expect(new Date(dayStart('2026-11-22', 'America/New_York')).toISOString()).toBe('2026-11-22T05:00:00.000Z')
})

test('also on the day the clocks change, and the day after it', () => {
  expect(new Date(dayStart('2026-03-29', 'Europe/Berlin')).toISOString()).toBe('2026-03-28T23:00:00.000Z')
  expect(new Date(dayStart('2026-03-29', 'Europe/Berlin', 1)).toISOString()).toBe('2026-03-29T22:00:00.000Z')
})

test('a moment lies in the day of its zone', () => {
  expect(dayOf('2026-11-21T23:30:00Z', 'Europe/Berlin')).toBe('2026-11-22')
  expect(dayOf(dayStart('2026-03-30', 'Europe/Berlin'), 'Europe/Berlin')).toBe('2026-03-30')
})

test('a moment as it is written is the one of the person’s clocks', () => {
  const isoOf = (written: string) => new Date(momentOf(written, 'Europe/Berlin')).toISOString()
  expect(isoOf('2026-11-22T14:30')).toBe('2026-11-22T13:30:00.000Z')
  expect(isoOf('2026-10-25T12:00')).toBe('2026-10-25T11:00:00.000Z')
  expect(isoOf('2026-07-01T00:15')).toBe('2026-06-30T22:15:00.000Z')
})
