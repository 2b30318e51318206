/**
 * The limits of one subject: check, take, give back, settle. It is all or nothing: `decideLimits` is called for every
 * subject first, and windows are only taken if none refuses; a refused call consumes nothing
 * (docs/reference/contract.md#D-admission-11).
 */
import type { Counted, CountedPart, LimitState, Subject, Taken, WindowState } from '../ledger/hot-rows.ts'
import type { WindowReading } from '../ledger/operations.ts'
import type { Counts } from '../metering/quantities.ts'
import type { Consumed, DimensionRule } from './dimension-rule.ts'
import type { ExceededLimit } from './policy.ts'
import { findTier, type LimitCode, type Tier, type TieredPolicy } from './tiers.ts'
import { toUnits } from './units.ts'
import {
  beginCall,
  chargeWindow,
  endsInMs,
  giveBackCarried,
  giveBackUsed,
  isEmpty,
  releaseHeld,
  runningAt,
  usedAt,
  useWindow,
} from './window.ts'

export interface Exceeded {
  readonly code: LimitCode
  readonly retryAfterMs: number
  readonly limit: ExceededLimit
}

/**
 * A full concurrency limit is free again when any call ends, which cannot be predicted
 * (docs/reference/contract.md#D-errors-24).
 */
export const CONCURRENCY_RETRY_MS = 1_000

export const emptyState = (subject: Subject): LimitState => ({ subject, slots: 0, windows: [] })

/**
 * The exceeded limit that takes longest to free, or undefined when the call may pass. The longest wait is enough for all
 * (docs/reference/contract.md#7.3-04), so code and `Retry-After` name the same window.
 */
export function decideLimits(
  state: LimitState,
  policy: TieredPolicy,
  call: { readonly counts: Counts; readonly at: number },
): Exceeded | undefined {
  let exceeded: Exceeded | undefined
  if (policy.concurrency !== undefined && state.slots >= policy.concurrency) {
    const limit = { dimension: 'concurrency', limit: policy.concurrency, seconds: undefined } as const
    exceeded = { code: 42901, retryAfterMs: CONCURRENCY_RETRY_MS, limit }
  }
  for (const tier of policy.tiers) {
    const asked = tier.rule.asks(call.counts)
    if (!(asked > 0)) continue
    const window = findWindow(state, tier.tier)
    if (!isFull(window, tier, { asked, at: call.at })) continue
    exceeded = longer(exceeded, {
      code: tier.rule.code,
      retryAfterMs: endsInMs(window, tier.lengthMs, call.at),
      limit: { dimension: tier.dimension, limit: limitOf(tier), seconds: tier.seconds },
    })
  }
  return exceeded
}

/** Returns the one with the longer wait; of equals the first. */
export function longer<One extends Pick<Exceeded, 'retryAfterMs'>>(
  first: One | undefined,
  second: One | undefined,
): One | undefined {
  if (first === undefined) return second
  return second === undefined || second.retryAfterMs <= first.retryAfterMs ? first : second
}

function isFull(
  window: WindowState | undefined,
  tier: Tier,
  call: { readonly asked: number; readonly at: number },
): boolean {
  const used = usedAt(window, tier.lengthMs, call.at)
  switch (tier.rule.admission) {
    case 'room':
      return used >= tier.limit
    case 'count':
      return used + toUnits(call.asked) > tier.limit
    case 'hold':
      return used + (window?.held ?? 0n) + toUnits(call.asked) > tier.limit
  }
}

/**
 * Takes a slot, counts and holds. Windows of tiers that the policy no longer has are dropped here once they are over.
 */
export function takeLimits(
  state: LimitState,
  policy: TieredPolicy,
  call: { readonly counts: Counts; readonly at: number },
): { readonly state: LimitState; readonly taken: Taken } {
  const windows: WindowState[] = []
  const anchors: Record<string, number> = {}
  for (const tier of policy.tiers) {
    const before = beginCall(findWindow(state, tier.tier), { lengthMs: tier.lengthMs, at: call.at })
    const asked = tier.rule.admission === 'room' ? 0n : toUnits(tier.rule.asks(call.counts))
    const after = asked === 0n ? before : takeWindow(before, tier, { asked, at: call.at })
    if (after !== undefined) windows.push(after)
    anchors[tier.tier] = asked === 0n || after === undefined ? NOT_COUNTED : after.anchor
  }
  for (const window of state.windows) {
    if (anchors[window.tier] === undefined && isLive(window, call.at)) windows.push(window)
  }
  return {
    state: { subject: state.subject, slots: state.slots + 1, windows },
    taken: { subject: state.subject, counts: call.counts, tiers: anchors },
  }
}

/**
 * A window that the policy no longer has is kept while it runs or is held: calls still give back into it, and a tier
 * that is removed from a policy and added again must not begin anew.
 */
export function isLive(window: WindowState, at: number): boolean {
  const tier = findTier(window.tier)
  return window.held > 0n || (tier !== undefined && runningAt(window, tier.lengthMs, at) !== undefined)
}

/** Anchor of a tier in which nothing of the call is counted. */
const NOT_COUNTED = 0

function takeWindow(
  window: WindowState | undefined,
  tier: Tier,
  call: { readonly asked: bigint; readonly at: number },
): WindowState {
  const held = tier.rule.admission === 'hold'
  return useWindow(window, {
    tier: tier.tier,
    lengthMs: tier.lengthMs,
    at: call.at,
    used: held ? 0n : call.asked,
    held: held ? call.asked : 0n,
  })
}

/**
 * Undoes a take: the upstream never generated. If the call was sent all the same, what is counted by sending stays,
 * else clients that disconnect in time could send without limit.
 */
export function giveBackLimits(
  state: LimitState,
  taken: Taken,
  { sent }: { readonly sent: boolean } = { sent: false },
): LimitState {
  return changeTaken(state, taken, ({ window, asked, anchor, rule }) => {
    if (window === undefined || asked === 0n || (sent && rule.bySending === true)) return window
    return rule.admission === 'hold'
      ? releaseHeld(window, asked)
      : giveBackUsed(window, { anchor, used: asked })
  })
}

/** Frees the slot and charges what the call really used: at `at`, in the windows that run then. */
export function settleLimits(
  state: LimitState,
  taken: Taken,
  settled: { readonly consumed: Consumed; readonly at: number },
): LimitState {
  return changeTaken(state, taken, (part) => {
    const uses = part.rule.uses(settled.consumed)
    const counted = part.rule.admission === 'count' ? part.asked : 0n
    const charge = uses === undefined ? 0n : uses - counted
    let window = part.window
    if (window !== undefined && part.rule.admission === 'hold') window = releaseHeld(window, part.asked)
    if (window !== undefined && charge < 0n) {
      window = giveBackUsed(window, { anchor: part.anchor, used: -charge })
    }
    if (charge <= 0n) return window
    const { tier, lengthMs } = part
    return chargeWindow(window, { tier, lengthMs, at: settled.at, used: charge })
  })
}

/** How a call ended that its own instance did not end: decides what it counts in its windows. */
export type CallEnd =
  | { readonly kind: 'settled'; readonly consumed: Consumed }
  | { readonly kind: 'abandoned'; readonly sent: boolean }

/**
 * What an ended call counts in the windows of one subject, for a correction later.
 *
 * @param state as `settleLimits` or `giveBackLimits` left it
 */
export function readCounted(state: LimitState, taken: Taken, end: CallEnd): Counted {
  const counted: Record<string, readonly CountedPart[]> = {}
  for (const [tier, anchor] of Object.entries(taken.tiers)) {
    const rule = findTier(tier)?.rule
    if (rule === undefined) continue
    const asked = rule.admission === 'count' ? toUnits(rule.asks(taken.counts)) : 0n
    const units = unitsOf(rule, taken, end)
    const first = units < asked ? units : asked
    const parts: CountedPart[] = []
    if (first > 0n) parts.push({ anchor, units: first })
    const window = findWindow(state, tier)
    if (units > first && window !== undefined) parts.push({ anchor: window.anchor, units: units - first })
    if (parts.length > 0) counted[tier] = parts
  }
  return counted
}

/** All units a call counts, by how it ended. */
function unitsOf(rule: DimensionRule, taken: Taken, end: CallEnd): bigint {
  const asked = rule.admission === 'count' ? toUnits(rule.asks(taken.counts)) : 0n
  if (end.kind === 'abandoned') return end.sent && rule.bySending === true ? asked : 0n
  return rule.uses(end.consumed) ?? asked
}

/**
 * Corrects the windows of a call that recovery ended, once it is known how it really ended. What it used more is
 * counted at `at`; what it used less is given back into the windows it was counted in, as far as they still run.
 */
export function correctLimits(
  state: LimitState,
  taken: Taken,
  correction: { readonly counted: Counted; readonly end: CallEnd; readonly at: number },
): LimitState {
  const { counted, end, at } = correction
  const windows = state.windows.filter((window) => !Object.hasOwn(taken.tiers, window.tier))
  for (const tier of Object.keys(taken.tiers)) {
    const key = findTier(tier)
    if (key === undefined) continue
    const units = unitsOf(key.rule, taken, end)
    const after = correctWindow(findWindow(state, tier), counted[tier] ?? [], {
      tier,
      lengthMs: key.lengthMs,
      at,
      units,
    })
    if (after !== undefined && !isEmpty(after)) windows.push(after)
  }
  return { ...state, windows }
}

/** Corrects one window from what a call counts in it to `units`. */
export function correctWindow(
  window: WindowState | undefined,
  counted: readonly CountedPart[],
  to: { readonly tier: string; readonly lengthMs: number; readonly at: number; readonly units: bigint },
): WindowState | undefined {
  const { tier, lengthMs, at } = to
  let more = to.units
  for (const part of counted) more -= part.units
  if (more > 0n) return chargeWindow(window, { tier, lengthMs, at, used: more })
  if (more === 0n || window === undefined) return window
  let after = window
  let less = -more
  for (const { anchor, units } of counted) {
    const part = { anchor, used: units < less ? units : less }
    const before = after.used
    after = giveBackCarried(giveBackUsed(after, part), lengthMs, part)
    less -= before - after.used
  }
  return after
}

interface TakenPart {
  readonly tier: string
  readonly lengthMs: number
  readonly window: WindowState | undefined
  readonly asked: bigint
  readonly anchor: number
  readonly rule: DimensionRule
}

function changeTaken(
  state: LimitState,
  taken: Taken,
  change: (part: TakenPart) => WindowState | undefined,
): LimitState {
  const { tiers } = taken
  const windows = state.windows.slice()
  for (const tier in tiers) {
    const anchor = tiers[tier]
    const key = findTier(tier)
    const index = indexOfWindow(windows, tier)
    // Nobody can use a window that only an earlier version knew.
    let after: WindowState | undefined
    if (key !== undefined && anchor !== undefined) {
      const { rule, lengthMs } = key
      const window = index === -1 ? undefined : windows[index]
      const asked = rule.admission === 'room' ? 0n : toUnits(rule.asks(taken.counts))
      after = change({ tier, lengthMs, window, asked, anchor, rule })
    }
    if (after === undefined || isEmpty(after)) {
      if (index !== -1) windows.splice(index, 1)
    } else if (index === -1) windows.push(after)
    else windows[index] = after
  }
  const { slots } = taken.slotFree === true ? state : freeSlot(state)
  return { subject: state.subject, slots, windows }
}

/** One running call fewer. */
export function freeSlot(state: LimitState): LimitState {
  const { subject, slots, windows } = state
  return { subject, slots: slots > 0 ? slots - 1 : 0, windows }
}

/** For `RateLimit` headers: per dimension the window with the least left, of equals the one that resets last. */
export function readWindows(
  subjects: readonly { readonly state: LimitState; readonly policy: TieredPolicy }[],
  at: number,
): readonly WindowReading[] {
  const tightest: WindowReading[] = []
  for (const { state, policy } of subjects)
    for (const tier of policy.tiers) place(tightest, tier, findWindow(state, tier.tier), at)
  return tightest
}

function place(tightest: WindowReading[], tier: Tier, window: WindowState | undefined, at: number): void {
  const { dimension, rule, seconds, lengthMs } = tier
  const left = tier.limit - usedAt(window, lengthMs, at) - (window?.held ?? 0n)
  const remaining = left > 0n ? Number(left) / Number(rule.unitsPerLimit) : 0
  const resetMs = endsInMs(window, lengthMs, at)
  let index = 0
  while (index < tightest.length && tightest[index]?.dimension !== dimension) index += 1
  const known = tightest[index]
  if (known !== undefined && !isTighter({ remaining, resetMs }, known)) return
  tightest[index] = { dimension, limit: limitOf(tier), remaining, seconds, resetMs }
}

function limitOf({ limit, rule }: Tier): number {
  return Number(limit) / Number(rule.unitsPerLimit)
}

type Left = Pick<WindowReading, 'remaining' | 'resetMs'>

function isTighter(reading: Left, known: Left): boolean {
  if (reading.remaining !== known.remaining) return reading.remaining < known.remaining
  return reading.resetMs > known.resetMs
}

function findWindow({ windows }: LimitState, tier: string): WindowState | undefined {
  for (const window of windows) if (window.tier === tier) return window
  return undefined
}

function indexOfWindow(windows: readonly WindowState[], tier: string): number {
  for (let index = 0; index < windows.length; index += 1) if (windows[index]?.tier === tier) return index
  return -1
}
