import { DAY_MS, HOUR_MS } from './durations.ts'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createMonthOf, isTimezone, monthPeriod, nextDay } from './calendar.ts'

const iso = (at: number): string => new Date(at).toISOString().replace('.000Z', 'Z')

test('months of UTC are those of the zone that the database knows by another name', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: Date.UTC(2200, 0) }), (at) => {
      expect(createMonthOf()(at, 'UTC')).toMatchObject(monthsBounds(at))
    }),
  )
})

function monthsBounds(at: number): { readonly from: number; readonly until: number } {
  const { from, until } = createMonthOf()(at, 'Etc/UTC')
  return { from, until }
}

describe('the month of a moment', () => {
  test.each([
    ['in UTC', 'UTC', '2027-02-10T12:00:00Z', ['2027-02-01T00:00:00Z', '2027-03-01T00:00:00Z']],
    [
      'over the year',
      'Asia/Shanghai',
      '2026-12-31T16:00:00Z',
      ['2026-12-31T16:00:00Z', '2027-01-31T16:00:00Z'],
    ],
    [
      'with a change of the clock in it',
      'Europe/Berlin',
      '2027-03-15T00:00:00Z',
      ['2027-02-28T23:00:00Z', '2027-03-31T22:00:00Z'],
    ],
    [
      'that begins at one o’clock, since the clock skips midnight',
      'America/Asuncion',
      '2017-10-20T00:00:00Z',
      ['2017-10-01T04:00:00Z', '2017-11-01T03:00:00Z'],
    ],
    [
      'that ends where the next one begins at one o’clock',
      'America/Asuncion',
      '2017-10-01T03:59:59Z',
      ['2017-09-01T04:00:00Z', '2017-10-01T04:00:00Z'],
    ],
    [
      'that had begun when the clock was set back to before it',
      'America/St_Johns',
      '2009-11-01T02:45:00Z',
      ['2009-11-01T02:30:00Z', '2009-12-01T03:30:00Z'],
    ],
  ])('%s', (_sentence, timezone, at, [from, until]) => {
    const month = createMonthOf()(Date.parse(at), timezone)
    expect([iso(month.from), iso(month.until)]).toEqual([from, until])
  })
})

/** As the zone's clock shows it: `2027-02-01`. */
function localDate(at: number, timezone: string): string {
  return new Intl.DateTimeFormat('en-CA', { timeZone: timezone }).format(at)
}

test('in every zone months follow one another without gap or overlap, and begin on the first', () => {
  const zone = fc.constantFrom(...Intl.supportedValuesOf('timeZone'))
  const instant = fc.integer({ min: Date.UTC(1990, 0, 1), max: Date.UTC(2060, 0, 1) })
  const monthOf = createMonthOf()
  fc.assert(
    fc.property(zone, instant, (timezone, at) => {
      const { from, until } = monthOf(at, timezone)
      expect(from).toBeLessThanOrEqual(at)
      expect(until).toBeGreaterThan(at)
      expect((until - from) / DAY_MS).toBeGreaterThan(26.9)
      expect((until - from) / DAY_MS).toBeLessThan(31.2)
      expect(monthOf(until, timezone).from).toBe(until)
      expect(monthOf(from - 1, timezone)).toMatchObject({ until: from })
      const first = localDate(from, timezone)
      expect(first).toMatch(/-01$/)
      expect(localDate(from - 1, timezone) < first).toBe(true)
    }),
    { numRuns: 300 },
  )
})

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
    // The clock was set back over midnight.
    ['America/St_Johns', '2009-11-01T02:00:00Z', '2009-11-01T02:30:00Z'],
    ['America/St_Johns', '2009-11-01T02:45:00Z', '2009-11-01T03:30:00Z'],
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
