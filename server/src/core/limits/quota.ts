/**
 * A subscription's quota: tiers of Credits, each an anchored window on the subject `quota:<account>`. They are held at
 * admission and charged at settlement. One call may overrun its hold, as one may overrun Credits: the windows then count
 * past what they grant, the next call finds them used up (docs/decisions/0018-carried-over-quota.md), and what lies
 * beyond is carried over into the window that follows.
 */
import type { Counted, LimitState, Subscription, WindowState } from '../ledger/hot-rows.ts'
import { correctWindow, isLive } from './limit-state.ts'
import { findTier, tierName } from './tiers.ts'
import {
  carriedBeyond,
  chargeWindow,
  endsInMs,
  isEmpty,
  releaseHeld,
  runningAt,
  usedAt,
  useWindow,
} from './window.ts'

export interface QuotaRoom {
  /** µCr that every tier can still give; negative after an overrun. */
  readonly room: bigint
  /**
   * Time until a call of `least` fits: the longest of the tiers that lack it. A tier that only lacks it because running
   * calls hold it may have it again as soon as one ends, since holds are bounds and charges mostly far smaller.
   */
  readonly retryAfterMs: number
  /** Running calls hold a part of it. */
  readonly isHeld: boolean
}

/** What is left. `least` is the minimum that the call needs, µCr. */
export function readQuota(
  state: LimitState,
  quota: Subscription['quota'],
  call: { readonly least: bigint; readonly at: number },
): QuotaRoom {
  let room: bigint | undefined
  let retryAfterMs = 0
  let isHeld = false
  for (const { credits, seconds } of quota) {
    const window = findWindow(state, tierName('amount', seconds))
    const lengthMs = seconds * 1000
    const unused = credits - usedAt(window, lengthMs, call.at)
    const held = window?.held ?? 0n
    const left = unused - held
    isHeld ||= held > 0n
    if (room === undefined || left < room) room = left
    if (fits(left, call.least)) continue
    const waitMs = fits(unused, call.least)
      ? HELD_RETRY_MS
      : untilFitsMs(window, { lengthMs, credits, ...call })
    retryAfterMs = Math.max(retryAfterMs, waitMs)
  }
  return { room: room ?? 0n, retryAfterMs, isHeld }
}

/** A used-up tier pays for nothing, not even for free calls. */
const fits = (left: bigint, least: bigint): boolean => left > 0n && left >= least

/** Holds are bounds and charges mostly far smaller: there is room as soon as a call ends. */
export const HELD_RETRY_MS = 1_000

/** Time until the first window in which a call of `least` fits: the next one may be used up by what is carried over. */
function untilFitsMs(
  window: WindowState | undefined,
  ask: { readonly lengthMs: number; readonly credits: bigint; readonly least: bigint; readonly at: number },
): number {
  const { lengthMs, credits, least, at } = ask
  const endMs = endsInMs(window, lengthMs, at)
  const running = runningAt(window, lengthMs, at)
  if (running?.carry === undefined) return endMs
  const usedMost = credits > least ? credits - (least > 0n ? least : 1n) : 0n
  return carriedBeyond(running.used, running.carry.grant) > usedMost ? endMs + lengthMs : endMs
}

export const quotaTiers = (quota: Subscription['quota']): readonly string[] => [
  ...new Set(quota.map(({ seconds }) => tierName('amount', seconds))),
]

/**
 * Holds in every tier, anchoring those that do not run. Windows of tiers the plan no longer has are dropped once they
 * are over.
 */
export function holdQuota(
  state: LimitState,
  quota: Subscription['quota'],
  hold: { readonly held: bigint; readonly at: number },
): LimitState {
  const tiers = quotaTiers(quota)
  const kept = state.windows.filter((window) => !tiers.includes(window.tier) && isLive(window, hold.at))
  const windows = tiers.flatMap((tier) => {
    const key = findTier(tier)
    const before = findWindow(state, tier)
    const held = { tier, at: hold.at, used: 0n, held: hold.held }
    const after = key === undefined ? before : useWindow(before, { lengthMs: key.lengthMs, ...held })
    return after === undefined ? [] : [granting(after, quota)]
  })
  return { ...state, windows: [...windows, ...kept] }
}

/** From now on the window has the plan's grant, and use beyond it is carried over. */
function granting(window: WindowState, quota: Subscription['quota']): WindowState {
  const { anchor, carry } = window
  const grants = quota.flatMap(({ credits, seconds }) =>
    tierName('amount', seconds) === window.tier ? [credits] : [],
  )
  const [first, ...others] = grants
  if (first === undefined) return window
  const grant = others.reduce((least, other) => (other < least ? other : least), first)
  const { tier, used, held } = window
  if (grant <= 0n) return { tier, anchor, used, held, carry: undefined }
  const granted = { carried: carry?.carried ?? 0n, since: carry?.since ?? anchor, grant }
  return { tier, anchor, used, held, carry: granted }
}

/** Charges the window; a window that begins with this charge has the plan's present grant. */
function chargeGranted(
  window: WindowState | undefined,
  quota: Subscription['quota'],
  charge: Parameters<typeof chargeWindow>[1],
): WindowState {
  const after = chargeWindow(window, charge)
  return after.carry === undefined ? granting(after, quota) : after
}

/** Releases the hold and charges the windows that run at `at`, or have begun since. */
export function settleQuota(
  state: LimitState,
  tiers: readonly string[],
  settled: {
    readonly held: bigint
    readonly charged: bigint
    readonly at: number
    /** The plan's present quota. */
    readonly quota: Subscription['quota']
  },
): LimitState {
  const untouched = state.windows.filter((window) => !tiers.includes(window.tier))
  const windows = tiers.flatMap((tier) => {
    const key = findTier(tier)
    const held = findWindow(state, tier)
    const free = held === undefined ? undefined : releaseHeld(held, settled.held)
    const { at, charged: used, quota } = settled
    const after =
      used === 0n || key === undefined
        ? free
        : chargeGranted(free, quota, { tier, lengthMs: key.lengthMs, at, used })
    return after === undefined || isEmpty(after) ? [] : [after]
  })
  return { ...state, windows: [...untouched, ...windows] }
}

/** Tiers with the windows in which `charged` µCr are counted now, for a later correction. */
export function readQuotaCounted(state: LimitState, tiers: readonly string[], charged: bigint): Counted {
  if (charged === 0n) return {}
  return Object.fromEntries(
    tiers.flatMap((tier) => {
      const window = findWindow(state, tier)
      return window === undefined ? [] : [[tier, [{ anchor: window.anchor, units: charged }]] as const]
    }),
  )
}

/** Corrects the quota for a call that recovery ended and whose true charge is `charged`. */
export function correctQuota(
  state: LimitState,
  tiers: readonly string[],
  correction: {
    readonly counted: Counted
    readonly charged: bigint
    readonly at: number
    /** The plan's present quota. */
    readonly quota: Subscription['quota']
  },
): LimitState {
  const { counted, charged, at, quota } = correction
  const untouched = state.windows.filter((window) => !tiers.includes(window.tier))
  const windows = tiers.flatMap((tier) => {
    const key = findTier(tier)
    const before = findWindow(state, tier)
    if (key === undefined) return before === undefined ? [] : [before]
    const parts = counted[tier] ?? []
    const more = parts.reduce((left, part) => left - part.units, charged)
    const to = { tier, lengthMs: key.lengthMs, at }
    const after =
      more > 0n
        ? chargeGranted(before, quota, { used: more, ...to })
        : correctWindow(before, parts, { ...to, units: charged })
    return after === undefined || isEmpty(after) ? [] : [after]
  })
  return { ...state, windows: [...untouched, ...windows] }
}

function findWindow(state: LimitState, tier: string): WindowState | undefined {
  return state.windows.find((window) => window.tier === tier)
}
