/** Which part of a period is read from where: whole half-hours from the sums, partial ones at its ends from the log. */
import type { Period } from '../../stores/customers.ts'
import { USAGE_HALF_HOUR_MS } from '../migrations/usage-half-hours.ts'
import { halfHourOf } from './usage-row.ts'

export interface UsageParts {
  /** Half-hours that begin in it. */
  readonly sums: Period | undefined
  readonly logged: readonly Period[]
}

export interface UsageBounds {
  /** No call began after it. */
  readonly now: number
  /** The time since which the log has every call. */
  readonly keptSince: number
}

export function usageParts({ from, until }: Period, { now, keptSince }: UsageBounds): UsageParts {
  const isLogged = (at: number) => halfHourOf(at) >= keptSince
  const first = firstFrom(from)
  // The future is empty, so the running half-hour need not be split.
  const last = until > now ? firstFrom(until) : halfHourOf(until)
  if (first > last) {
    // Within one half-hour, which begins before the period.
    return { sums: undefined, logged: isLogged(from) ? [{ from, until }] : [] }
  }
  const logged: Period[] = []
  if (from < first && isLogged(from)) logged.push({ from, until: first })
  if (last < until && isLogged(last)) logged.push({ from: last, until })
  const end = last < until && !isLogged(last) ? firstFrom(until) : last
  return { sums: first < end ? { from: first, until: end } : undefined, logged }
}

/** It splits no half-hour that has calls on both sides. */
export function isWhole({ from, until }: Period, now: number): boolean {
  return halfHourOf(from) === from && (halfHourOf(until) === until || until > now)
}

/** The first half-hour that does not begin before. */
function firstFrom(at: number): number {
  return halfHourOf(at + USAGE_HALF_HOUR_MS - 1)
}

/** Begins of the half-hours. */
export function halfHoursIn({ from, until }: Period): readonly number[] {
  const all: number[] = []
  for (let at = firstFrom(from); at < until; at += USAGE_HALF_HOUR_MS) all.push(at)
  return all
}
