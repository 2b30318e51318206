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

/** The first instant of the day after the one `at` lies in, epoch ms. */
export function nextDay(at: number, timezone: string): number {
  const { year, month, day } = localTime(at, timezone)
  return midnightOf({ year, month, day: day + 1 }, timezone)
}

/** First instants of a calendar month and of the one after it; `month` is 1 to 12. */
export function monthPeriod(
  month: { readonly year: number; readonly month: number },
  timezone: string,
): { readonly from: number; readonly until: number } {
  return {
    from: midnightOf({ ...month, day: 1 }, timezone),
    until: midnightOf({ year: month.year, month: month.month + 1, day: 1 }, timezone),
  }
}

interface LocalDay {
  readonly year: number
  readonly month: number
  readonly day: number
}

/** The instant at which the zone's clock shows midnight; two steps settle offsets that change on the way. */
function midnightOf({ year, month, day }: LocalDay, timezone: string): number {
  const wall = Date.UTC(year, month - 1, day)
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
