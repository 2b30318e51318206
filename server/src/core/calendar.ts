/** Days and months of a time zone, through every change of its clock. Instants are epoch ms. */
import { Temporal } from 'temporal-polyfill'

/** The calendar month of a moment in a time zone (docs/reference/contract.md#D-money-21). */
export type MonthOf = (at: number, timezone: string) => Month

export interface Month {
  /** Its first instant. */
  readonly from: number
  /** The first instant of the next one. */
  readonly until: number
}

/** Caches the last month computed: almost every call is in the same one. */
export function createMonthOf(): MonthOf {
  let known = { timezone: '', from: 0, until: 0 }
  return (at, timezone) => {
    if (known.timezone !== timezone || at < known.from || at >= known.until) {
      known = { timezone, ...monthOf(at, timezone) }
    }
    return known
  }
}

/** `month` is 1 to 12. */
export function monthPeriod(
  month: { readonly year: number; readonly month: number },
  timezone: string,
): Month {
  return periodOf(Temporal.PlainYearMonth.from(month), timezone)
}

/** The first instant that the zone's calendar counts to a later day than `at`; always later than `at`. */
export function nextDay(at: number, timezone: string): number {
  const here = localTime(at, timezone)
  const first = here.add({ days: 1 }).startOfDay().epochMilliseconds
  if (first > at) return first
  // The clock was set back over midnight, so midnight comes twice.
  const midnight = here.toPlainDate().add({ days: 1 }).toPlainDateTime()
  return midnight.toZonedDateTime(timezone, { disambiguation: 'later' }).epochMilliseconds
}

/** A name of the time zone database; an offset is not one, because it has no clock changes. */
export function isTimezone(name: string): boolean {
  if (/^[+-]/.test(name)) return false
  try {
    localTime(0, name)
    return true
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

/** The first question to the time zone database takes 25 ms, which a start and a command would wait for. */
function monthOf(at: number, timezone: string): Month {
  return timezone === 'UTC' ? monthOfUtc(at) : monthThere(at, timezone)
}

function monthOfUtc(at: number): Month {
  const date = new Date(at)
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()]
  return { from: Date.UTC(year, month), until: Date.UTC(year, month + 1) }
}

/** A month begins once: if a clock set back shows the end of the previous month again, the new one has begun already. */
function monthThere(at: number, timezone: string): Month {
  const month = localTime(at, timezone).toPlainDate().toPlainYearMonth()
  const shown = periodOf(month, timezone)
  return at < shown.until ? shown : periodOf(month.add({ months: 1 }), timezone)
}

function periodOf(month: Temporal.PlainYearMonth, timezone: string): Month {
  return { from: startOf(month, timezone), until: startOf(month.add({ months: 1 }), timezone) }
}

/** Where the clock skips midnight, the instant at which it does. */
function startOf(month: Temporal.PlainYearMonth, timezone: string): number {
  return month.toPlainDate({ day: 1 }).toZonedDateTime(timezone).epochMilliseconds
}

function localTime(at: number, timezone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timezone)
}
