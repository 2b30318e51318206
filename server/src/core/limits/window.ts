/**
 * An anchored window: it begins at the first use of its dimension and ends after its length, whatever the time of day
 * (docs/reference/contract.md#8-20, #8-22). Every change makes a new value.
 *
 * - What is used counts only while the window runs. What is held belongs to running calls and is charged when they
 *   settle, so it counts in whatever window runs then: a hold outlives the window in which it was taken.
 * - A window that holds and counts nothing does not exist; the next use anchors a new one.
 * - Counts are given back only into the window they were taken from, identified by its anchor: a window that has rolled
 *   over took its counts with it, and a new one must not be credited with them.
 * - Clocks of several instances differ a little and may be set back. A time before the anchor by less than the length
 *   lies in the window. A call that begins earlier than that shows that the clock was set back, and the window is over:
 *   at worst it lasts twice its length, never for ever.
 * - Use of a quota beyond its grant is not free: the next window begins where that one ends, with the excess carried
 *   over, at most its whole grant. Every read or change of a window applies to the one that runs at that time
 *   (`rollOver`).
 * - Ends of calls are sometimes reported late, with the time at which they happened. They count in the window that has
 *   begun since: restoring the old window would discard what others have used.
 */
import type { WindowState } from '../ledger/hot-rows.ts'

/** The window that runs at `at` after one that exceeded its grant; any other is returned unchanged. */
export function rollOver(window: WindowState, lengthMs: number, at: number): WindowState {
  const { anchor, used, carry } = window
  // A window with nothing but a carried amount never exceeds its grant, so none follows it.
  if (carry === undefined || Math.floor((at - anchor) / lengthMs) !== 1) return window
  const carried = carriedBeyond(used, carry.grant)
  if (carried <= 0n) return window
  return { ...window, anchor: anchor + lengthMs, used: carried, carry: { ...carry, carried } }
}

/**
 * What is carried into the next window: never more than that one grants, so that one call cannot lock an account out
 * for months.
 */
export function carriedBeyond(used: bigint, grant: bigint): bigint {
  return used - grant < grant ? used - grant : grant
}

/** The window that runs at `at`, if one does. */
export function runningAt(
  window: WindowState | undefined,
  lengthMs: number,
  at: number,
): WindowState | undefined {
  if (window === undefined) return undefined
  const rolled = rollOver(window, lengthMs, at)
  const elapsedMs = at - rolled.anchor
  return elapsedMs < lengthMs && elapsedMs > -lengthMs ? rolled : undefined
}

/** What counts as used at `at`. */
export function usedAt(window: WindowState | undefined, lengthMs: number, at: number): bigint {
  return runningAt(window, lengthMs, at)?.used ?? 0n
}

/** Time until the window's end; its whole length when none runs, since the next one begins with the next use. */
export function endsInMs(window: WindowState | undefined, lengthMs: number, at: number): number {
  return (runningAt(window, lengthMs, at)?.anchor ?? at) + lengthMs - at
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
  const running = runningAt(window, use.lengthMs, at)
  if (running === undefined) return { tier, anchor: at, used, held: (window?.held ?? 0n) + held }
  return counting(running, running.used + used, running.held + held)
}

/**
 * Counts what a call used when it ended: in the running window, in one that began after the call's end, or in a new
 * one.
 */
export function chargeWindow(
  window: WindowState | undefined,
  { tier, lengthMs, at, used }: Omit<Use, 'held'>,
): WindowState {
  const since = window !== undefined && window.anchor > at ? window.anchor : at
  return useWindow(window, { tier, lengthMs, at: since, used, held: 0n })
}

/** The window for a call that begins: if the clock was set back it is over, except for what is held. */
export function beginCall(
  window: WindowState | undefined,
  { lengthMs, at }: Pick<Use, 'lengthMs' | 'at'>,
): WindowState | undefined {
  if (window === undefined || window.anchor - at < lengthMs) return window
  return window.held === 0n ? undefined : { ...window, anchor: at, used: 0n }
}

/** Gives up a hold, whatever window runs now. */
export function releaseHeld(window: WindowState, held: bigint): WindowState {
  return counting(window, window.used, window.held > held ? window.held - held : 0n)
}

/** Gives counts back into the window they were taken from; if that window is gone, so are its counts. */
export function giveBackUsed(window: WindowState, taken: { anchor: number; used: bigint }): WindowState {
  if (window.anchor !== taken.anchor) return window
  return counting(window, window.used > taken.used ? window.used - taken.used : 0n, window.held)
}

/** Gives back counts that were carried over from an earlier window: at most what is still carried. */
export function giveBackCarried(
  window: WindowState,
  lengthMs: number,
  taken: { anchor: number; used: bigint },
): WindowState {
  const { anchor, used, carry } = window
  if (carry === undefined || taken.anchor < carry.since || taken.anchor >= anchor) return window
  // Windows that followed on each other lie whole lengths apart; others date from before the clock was set back.
  if ((anchor - taken.anchor) % lengthMs !== 0) return window
  const back = taken.used < carry.carried ? taken.used : carry.carried
  return { ...window, used: used - back, carry: { ...carry, carried: carry.carried - back } }
}

/** The same window with other counts. Written out, because every call changes several: spreads take ten times as long. */
function counting({ tier, anchor, carry }: WindowState, used: bigint, held: bigint): WindowState {
  return carry === undefined ? { tier, anchor, used, held } : { tier, anchor, used, held, carry }
}

export function isEmpty(window: WindowState): boolean {
  return window.used === 0n && window.held === 0n
}
