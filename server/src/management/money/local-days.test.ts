import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isTimezone, monthPeriod, nextDay } from './local-days.ts'

const HOUR_MS = 3_600_000

describe('the next day begins', () => {
  test.each([
    ['UTC', '2026-03-01T00:00:00Z', '2026-03-02T00:00:00Z'],
    ['UTC', '2026-12-31T23:59:59.999Z', '2027-01-01T00:00:00Z'],
    ['Asia/Shanghai', '2026-03-01T15:59:59Z', '2026-03-01T16:00:00Z'],
    ['Asia/Shanghai', '2026-03-01T16:00:00Z', '2026-03-02T16:00:00Z'],
    ['Asia/Kathmandu', '2026-03-01T00:00:00Z', '2026-03-01T18:15:00Z'],
    // A day of 23 hours, and one of 25.
    ['America/New_York', '2026-03-08T05:00:00Z', '2026-03-09T04:00:00Z'],
    ['America/New_York', '2026-11-01T04:00:00Z', '2026-11-02T05:00:00Z'],
    // The clock skipped midnight, and once a whole day.
    ['America/Sao_Paulo', '2018-11-03T12:00:00Z', '2018-11-04T03:00:00Z'],
    ['Pacific/Apia', '2011-12-29T20:00:00Z', '2011-12-30T10:00:00Z'],
  ])('%s after %s at %s', (timezone, at, next) => {
    expect(new Date(nextDay(Date.parse(at), timezone)).toISOString()).toBe(new Date(next).toISOString())
  })

  test('later, and within two days, in every zone at any time', () => {
    const zones = Intl.supportedValuesOf('timeZone')
    const instant = fc.integer({ min: Date.parse('1990-01-01'), max: Date.parse('2060-01-01') })
    fc.assert(
      fc.property(fc.constantFrom(...zones), instant, (timezone, at) => {
        const next = nextDay(at, timezone)
        expect(next).toBeGreaterThan(at)
        expect(next - at).toBeLessThanOrEqual(49 * HOUR_MS)
      }),
      { numRuns: 1_000 },
    )
  })
})

test('a month lasts from its first midnight to the next one’s, in the zone', () => {
  const iso = (year: number, month: number, timezone: string) => {
    const { from, until } = monthPeriod({ year, month }, timezone)
    return [new Date(from).toISOString(), new Date(until).toISOString()]
  }
  expect(iso(2026, 12, 'Asia/Shanghai')).toEqual(['2026-11-30T16:00:00.000Z', '2026-12-31T16:00:00.000Z'])
  expect(iso(2026, 3, 'America/New_York')).toEqual(['2026-03-01T05:00:00.000Z', '2026-04-01T04:00:00.000Z'])
})

test.each([
  ['Asia/Shanghai', true],
  ['UTC', true],
  ['Mars/Olympus', false],
  ['+08:00', false],
  ['', false],
])('a time zone: %s', (name, expected) => {
  expect(isTimezone(name)).toBe(expected)
})
