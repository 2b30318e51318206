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
      known = { timezone, ...monthOf(at, timezone) }
    }
    return known
  }
}

/** A month begins once: where a clock set back shows the end of the former one again, the new one has begun. */
function monthOf(at: number, timezone: string): Month {
  const { year, month } = localMonth(at, timezone)
  const until = startOf(year, month + 1, timezone)
  if (at >= until) return { from: until, until: startOf(year, month + 2, timezone) }
  return { from: startOf(year, month, timezone), until }
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

const DAY_MS = 86_400_000

/**
 * The first instant of a month: the first at which the clock shows midnight, or, where the clock is set forward over
 * midnight, the one at which that happens. Months above 12 are those of the next year.
 */
function startOf(year: number, month: number, timezone: string): number {
  const wall = Date.UTC(year, month - 1, 1)
  const before = offsetMs(wall - 2 * DAY_MS, timezone)
  const after = offsetMs(wall + 2 * DAY_MS, timezone)
  if (before === after || offsetMs(wall - before, timezone) === before) return wall - before
  if (offsetMs(wall - after, timezone) === after) return wall - after
  let [old, changed] = [wall - after, wall - before]
  while (changed - old > 1) {
    const middle = Math.floor((old + changed) / 2)
    if (offsetMs(middle, timezone) === before) old = middle
    else changed = middle
  }
  return changed
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
