/** Calendar days of a time zone, through every change of its clock. */

/** Formatters cost milliseconds to make; a platform and its people live in few zones. */
const formatters = new Map<string, Intl.DateTimeFormat>()
const FORMATTERS_MAX = 100

function formatterOf(timezone: string): Intl.DateTimeFormat {
  const known = formatters.get(timezone)
  if (known !== undefined) return known
  if (formatters.size >= FORMATTERS_MAX) formatters.clear()
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  formatters.set(timezone, made)
  return made
}

export function isTimezone(name: string): boolean {
  try {
    formatterOf(name)
    return !/^[+-]/.test(name)
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

/** No day of any zone was longer: one that crossed the date line once had no 30th of December. */
const DAY_MS_MAX = 49 * 3_600_000

/** The first instant that the zone's calendar counts to a later day than `at`, epoch ms; always later than `at`. */
export function nextDay(at: number, timezone: string): number {
  const { year, month, day } = localTime(at, timezone)
  const today = dayNumber({ year, month, day })
  const isLater = (instant: number) => dayNumber(localTime(instant, timezone)) > today
  const midnight = instantOf(Date.UTC(year, month - 1, day + 1), timezone)
  if (midnight > at && isLater(midnight) && !isLater(midnight - 1)) return midnight
  // The clock skips that midnight: what it shows first is searched for.
  let before = at
  let after = at + DAY_MS_MAX
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2)
    if (isLater(middle)) after = middle
    else before = middle
  }
  return after
}

/** First instants of a calendar month and of the one after it; `month` is 1 to 12. */
export function monthPeriod(
  { year, month }: { readonly year: number; readonly month: number },
  timezone: string,
): { readonly from: number; readonly until: number } {
  const lastNoonBefore = (next: number) => instantOf(Date.UTC(year, next - 1, 0, 12), timezone)
  return {
    from: nextDay(lastNoonBefore(month), timezone),
    until: nextDay(lastNoonBefore(month + 1), timezone),
  }
}

interface LocalDay {
  readonly year: number
  readonly month: number
  readonly day: number
}

const dayNumber = ({ year, month, day }: LocalDay): number => Date.UTC(year, month - 1, day)

/** The instant at which the zone's clock shows this time; two steps settle offsets that change on the way. */
function instantOf(wall: number, timezone: string): number {
  const first = wall - offsetMs(wall, timezone)
  return wall - offsetMs(first, timezone)
}

function offsetMs(at: number, timezone: string): number {
  return localTime(at, timezone).wall - Math.floor(at / 1000) * 1000
}

function localTime(at: number, timezone: string): LocalDay & { readonly wall: number } {
  const parts = formatterOf(timezone).formatToParts(at)
  const read = (type: Intl.DateTimeFormatPartTypes): number =>
    Number(parts.find((part) => part.type === type)?.value)
  const [year, month, day] = [read('year'), read('month'), read('day')]
  const wall = Date.UTC(year, month - 1, day, read('hour'), read('minute'), read('second'))
  return { year, month, day, wall }
}
