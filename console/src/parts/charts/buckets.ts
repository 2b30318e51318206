/** Hours and days in the person's time zone, as usage is summed. */

export type Interval = 'hour' | 'day'

const STEP_MS = { hour: 3_600_000, day: 86_400_000 } as const

export interface Bucket {
  /** 2026-11-22, or 2026-11-22 14 */
  readonly key: string
  /** A moment within it, epoch ms. */
  readonly at: number
}

/** The name of the hour or day that contains a moment. */
export function bucketKeys(
  interval: Interval,
  timeZone: string | undefined,
): (moment: string | number) => string {
  const format = new Intl.DateTimeFormat('en-CA', {
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    ...(interval === 'hour' ? { hour: '2-digit', hourCycle: 'h23' } : {}),
    ...(timeZone === undefined ? {} : { timeZone }),
  })
  return (moment) => format.format(new Date(moment))
}

/** The last `count` hours or days, oldest first, including the current one. */
export function lastBuckets(
  count: number,
  interval: Interval,
  { now, timeZone }: { readonly now: number; readonly timeZone: string | undefined },
): readonly Bucket[] {
  const keyOf = bucketKeys(interval, timeZone)
  const found = new Map<string, Bucket>()
  // Days can have 23 or 25 hours: half steps miss none, and duplicates are removed.
  for (let step = 2 * count; step >= 0; step -= 1) {
    const at = now - (step * STEP_MS[interval]) / 2
    const key = keyOf(at)
    if (!found.has(key)) found.set(key, { key, at })
  }
  return [...found.values()].slice(-count)
}
