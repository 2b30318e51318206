/** Days in the person's time zone, in the format of date fields: 2026-11-22. */
import { bucketKeys } from '../charts/buckets.ts'

/** The day that contains a moment. */
export function dayOf(moment: string | number, timeZone: string | undefined): string {
  return bucketKeys('day', timeZone)(moment)
}

/** The first moment of a day, epoch ms; `days` later when given. */
export function dayStart(day: string, timeZone: string | undefined, days = 0): number {
  return zoned(Date.parse(`${day}T00:00:00Z`) + days * 86_400_000, timeZone)
}

/** A moment in the format of date and time fields, 2026-11-22T14:30. */
export function momentOf(written: string, timeZone: string | undefined): number {
  return zoned(Date.parse(`${written}Z`), timeZone)
}

/** The moment of a local time, which is given as if it were UTC. */
function zoned(wall: number, timeZone: string | undefined): number {
  // Near a clock change the first guess may use the wrong offset; the second corrects it.
  const guess = wall - offsetMs(wall, timeZone)
  return wall - offsetMs(guess, timeZone)
}

/** The offset from UTC at a moment, in ms. */
function offsetMs(at: number, timeZone: string | undefined): number {
  const parts = new Intl.DateTimeFormat('en-CA', {
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
    ...(timeZone === undefined ? {} : { timeZone }),
  }).formatToParts(at)
  const of = (type: Intl.DateTimeFormatPartTypes): number =>
    Number(parts.find((part) => part.type === type)?.value ?? 0)
  const wall = Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second'))
  return wall - Math.floor(at / 1_000) * 1_000
}
