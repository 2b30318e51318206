/** The calendar month of a moment in a time zone, epoch ms (decisions, Money: monthly cap). */
export type MonthOf = (at: number, timezone: string) => Month

export interface Month {
  /** Its first instant. */
  readonly from: number
  /** The first instant of the next one. */
  readonly until: number
}

/** Remembers the month it computed last: almost every call lies in the same one. */
export function createMonthOf(): MonthOf {
  let known = { timezone: '', from: 0, until: 0 }
  return (at, timezone) => {
    if (known.timezone !== timezone || at < known.from || at >= known.until) {
      const { year, month } = localMonth(at, timezone)
      const from = instantOf(year, month, timezone)
      const until = month === 12 ? instantOf(year + 1, 1, timezone) : instantOf(year, month + 1, timezone)
      known = { timezone, from, until }
    }
    return known
  }
}

function localMonth(at: number, timezone: string): { readonly year: number; readonly month: number } {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone,
    year: 'numeric',
    month: 'numeric',
  }).formatToParts(at)
  const read = (type: string): number => Number(parts.find((part) => part.type === type)?.value)
  return { year: read('year'), month: read('month') }
}

/** The instant at which the local clock shows midnight of the first; two steps settle offsets that change on the way. */
function instantOf(year: number, month: number, timezone: string): number {
  const wall = Date.UTC(year, month - 1, 1)
  const first = wall - offsetMs(wall, timezone)
  return wall - offsetMs(first, timezone)
}

/** How far the zone's clock is ahead of UTC at an instant. */
function offsetMs(at: number, timezone: string): number {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  }).formatToParts(at)
  const read = (type: string): number => Number(parts.find((part) => part.type === type)?.value)
  const local = Date.UTC(
    read('year'),
    read('month') - 1,
    read('day'),
    read('hour'),
    read('minute'),
    read('second'),
  )
  return local - Math.floor(at / 1000) * 1000
}
