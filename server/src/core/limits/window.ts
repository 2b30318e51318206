/**
 * One anchored window: it begins at the first use of its dimension, runs forward for its length and then is over; the
 * clock on the wall plays no part (contract §8 rule 2). Every change makes a new value.
 *
 * - What is used counts only while the window runs. What is held belongs to running calls and is charged when they
 *   settle, so it counts in whatever window runs then: it outlives the window in which it was taken.
 * - A window that holds and counts nothing does not exist; the next use anchors a new one.
 * - Counts are given back only into the window they were taken from, known by its anchor: a window that has rolled over
 *   took its counts with it, and a new one must not be credited with them.
 * - Clocks of several instances differ a little and may be set back. A time before the anchor by less than the length
 *   lies in the window. A call that begins further before shows that the clock was set back, and the window is over: at
 *   worst it lasts twice its length, never for ever.
 * - Ends of calls are told late at times, as of when they were. They count in the window that has begun since: were the old
 *   one put back in its place, what others have used would be forgotten.
 */
import type { WindowState } from '../calls/hot-rows.ts'

export function isRunning(window: WindowState, lengthMs: number, at: number): boolean {
  const elapsedMs = at - window.anchor
  return elapsedMs < lengthMs && elapsedMs > -lengthMs
}

/** What counts at `at`. */
export function usedAt(window: WindowState | undefined, lengthMs: number, at: number): bigint {
  return window !== undefined && isRunning(window, lengthMs, at) ? window.used : 0n
}

/** Time until the window's end; its whole length when none runs, since the next one begins with the next use. */
export function endsInMs(window: WindowState | undefined, lengthMs: number, at: number): number {
  return window !== undefined && isRunning(window, lengthMs, at) ? window.anchor + lengthMs - at : lengthMs
}

export interface Use {
  readonly tier: string
  readonly lengthMs: number
  readonly at: number
  /** Counted at once. */
  readonly used: bigint
  /** Held on top. */
  readonly held: bigint
}

/** Counts and holds, in the running window or in a new one anchored now. */
export function useWindow(window: WindowState | undefined, use: Use): WindowState {
  const { tier, at, used, held } = use
  if (window === undefined) return { tier, anchor: at, used, held }
  if (!isRunning(window, use.lengthMs, at)) return { tier, anchor: at, used, held: window.held + held }
  return { tier, anchor: window.anchor, used: window.used + used, held: window.held + held }
}

/** Counts what a call used when it ended: in the running window, in one that began after that, or in a new one. */
export function chargeWindow(
  window: WindowState | undefined,
  { tier, lengthMs, at, used }: Omit<Use, 'held'>,
): WindowState {
  const since = window !== undefined && window.anchor > at ? window.anchor : at
  return useWindow(window, { tier, lengthMs, at: since, used, held: 0n })
}

/** As a call finds it that begins: over where the clock was set back, except for what is held. */
export function beginCall(
  window: WindowState | undefined,
  { lengthMs, at }: Pick<Use, 'lengthMs' | 'at'>,
): WindowState | undefined {
  if (window === undefined || window.anchor - at < lengthMs) return window
  return window.held === 0n ? undefined : { ...window, anchor: at, used: 0n }
}

/** Gives up a hold, whatever window runs now. */
export function releaseHeld(window: WindowState, held: bigint): WindowState {
  const { tier, anchor, used } = window
  return { tier, anchor, used, held: window.held > held ? window.held - held : 0n }
}

/** Gives counts back into the window they were taken from; when that is gone, they are gone with it. */
export function giveBackUsed(window: WindowState, taken: { anchor: number; used: bigint }): WindowState {
  if (window.anchor !== taken.anchor) return window
  const { tier, anchor, held } = window
  return { tier, anchor, used: window.used > taken.used ? window.used - taken.used : 0n, held }
}

export function isEmpty(window: WindowState): boolean {
  return window.used === 0n && window.held === 0n
}
