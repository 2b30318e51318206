/** How a chain stands for the next call, by its health. */
import { type ChainHealth, isFull, isProbeDue } from './health.ts'

export interface Standing {
  /**
   * `ready`: like any other. `extra`: the upstream asked for fewer calls, but one may be let through where no other chain
   * is left. `last-resort`: it rests from failures; a try that may work beats a refusal that surely does not. `shut`: not now.
   */
  readonly kind: 'ready' | 'extra' | 'last-resort' | 'shut'
  /** Why it is not ready. */
  readonly reason: StandingReason | undefined
  /** Epoch ms: when that is over, as far as anybody knows; 0 when ready. */
  readonly until: number
}

/**
 * `probing`: the pause is over, and a call under way finds out how the chain is. `full`: as many calls run as the
 * upstream was seen to take.
 */
export type StandingReason = 'cooling-down' | 'probing' | 'rate-limited' | 'full'

/** How a chain is, in one word for operators. */
export type HealthWord = 'healthy' | 'failing' | 'rate-limited' | 'probing' | 'cooling-down'

/** `probing`: the pause is over, and the next call, or one under way, finds out how the chain is. `now` in epoch ms. */
export function healthWord(
  { rest, rateLimit, lowered, failuresInRow }: ChainHealth,
  now: number,
): HealthWord {
  if (rest !== undefined) return rest.until > now ? 'cooling-down' : 'probing'
  if ((rateLimit !== undefined && rateLimit.until > now) || lowered !== undefined) return 'rate-limited'
  return failuresInRow > 0 ? 'failing' : 'healthy'
}

const READY: Standing = { kind: 'ready', reason: undefined, until: 0 }

export function standingOf(health: ChainHealth, now: number): Standing {
  const { rest, rateLimit, lowered } = health
  if (rest === undefined && rateLimit === undefined && lowered === undefined) return READY
  const limit = limitOf(health, now)
  if (limit !== undefined && now < limit.nextAt)
    return { kind: 'shut', reason: limit.reason, until: limit.until }
  if (rest !== undefined && !isProbeDue(rest, now)) {
    const probing = now >= rest.until
    const until = probing ? (rest.probe?.until ?? rest.until) : rest.until
    return { kind: 'last-resort', reason: probing ? 'probing' : 'cooling-down', until }
  }
  return limit === undefined ? READY : { kind: 'extra', reason: limit.reason, until: limit.until }
}

interface Limit {
  readonly reason: 'rate-limited' | 'full'
  readonly until: number
  readonly nextAt: number
}

function limitOf(health: ChainHealth, now: number): Limit | undefined {
  const { rateLimit, lowered } = health
  if (rateLimit !== undefined && now < rateLimit.until)
    return { reason: 'rate-limited', until: rateLimit.until, nextAt: rateLimit.nextAt }
  // Whether a place is free when the next call may come nobody knows; it is let through then all the same.
  if (lowered !== undefined && isFull(health))
    return { reason: 'full', until: lowered.nextAt, nextAt: lowered.nextAt }
  return undefined
}

const PREFERENCE: readonly Standing['kind'][] = ['ready', 'extra', 'last-resort', 'shut']

/** Negative: the first is to be tried before the second. Of those that are not ready, whichever is over first. */
export function compareStandings(one: Standing, other: Standing): number {
  return PREFERENCE.indexOf(one.kind) - PREFERENCE.indexOf(other.kind) || one.until - other.until
}
