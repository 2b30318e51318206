import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createMonthOf } from './calendar-month.ts'

const DAY_MS = 86_400_000
const iso = (at: number): string => new Date(at).toISOString().replace('.000Z', 'Z')

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
