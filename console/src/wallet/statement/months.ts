import { dayOf } from '../../parts/values/zoned-days.ts'

/** The last months as the gateway names them (2026-11), the current one first. */
export function lastMonths(
  count: number,
  { now, timeZone }: { readonly now: number; readonly timeZone: string | undefined },
): readonly string[] {
  const [year = 0, month = 1] = dayOf(now, timeZone).split('-').map(Number)
  return Array.from({ length: count }, (_, back) =>
    new Date(Date.UTC(year, month - 1 - back, 1)).toISOString().slice(0, 7),
  )
}
