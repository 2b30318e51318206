/**
 * The health of a chain as a value: how each outcome changes it. An outcome is a complete one: an answer that ended
 * cleanly, or one that did not. Values in, values out; `pipeline/instance/chains/health-board.ts` keeps one per chain
 * in memory.
 */
import { type BrokenKind, CONSEQUENCES, type FailureClass } from './failure.ts'

export interface ChainHealth {
  /** The last outcomes, one bit each, the newest lowest; 1 is a failure. */
  readonly outcomes: number
  /** How many of the bits count, at most `OUTCOMES_MAX`. */
  readonly outcomeCount: number
  /** Failures since the last success. */
  readonly failuresInRow: number
  /** Attempts in progress over the platform's credential. */
  readonly running: number
  readonly cooldown: Cooldown | undefined
  readonly rateLimit: RateLimit | undefined
  readonly lowered: LoweredConcurrency | undefined
  /** The end of the last cooldown: calls that began before it say nothing about the chain since. */
  readonly recovered: { readonly at: number; readonly level: number } | undefined
  /** Epoch ms at which the latest of the answered attempts began. */
  readonly answeredBegan: number
  readonly lastError: ErrorNote | undefined
}

/**
 * The chain gets no calls for a while, because it fails. After each pause one call at a time is sent over it, as a
 * probe.
 */
export interface Cooldown {
  readonly cause: CooldownCause
  /** Epoch ms: when it began, when its latest pause began, and when that is over. */
  readonly since: number
  readonly pausedAt: number
  readonly until: number
  /** Number of pauses after the first: each is twice as long as the one before. */
  readonly level: number
  readonly probe: Probe | undefined
}

export type CooldownCause = 'failure' | 'credential' | 'not-found'

export interface Probe {
  readonly id: TryId
  /** Epoch ms; from then on another call may be the probe. */
  readonly until: number
}

/** The upstream named a time until which it accepts no more calls with this credential. Epoch ms. */
export interface RateLimit {
  readonly since: number
  readonly until: number
  /** From then on one call may be let through if no other chain is left. */
  readonly nextAt: number
}

/** How many calls may run at once: fewer than did when the upstream refused one without naming a time. */
export interface LoweredConcurrency {
  /** Grows by a fraction with each answer; its integer part counts. */
  readonly limit: number
  /** Epoch ms. */
  readonly loweredAt: number
  /** Number running when it was lowered: far above that, the limit no longer applies. */
  readonly ranThen: number
  readonly nextAt: number
}

/** The last failure of a chain, in the upstream's words if there were any. */
export interface ErrorNote {
  /** Epoch ms. */
  readonly at: number
  readonly kind: ChainFailure['kind']
  readonly status: number | undefined
  /** The upstream's own type or code. */
  readonly code: string | undefined
  /** Bounded, without credentials. */
  readonly message: string
}

export type TryId = number

/** One attempt of a call over the chain. */
export interface ChainTry {
  readonly id: TryId
  /** Epoch ms. */
  readonly beganAt: number
  /** With an account's own credential: its refusals say nothing about the platform's credential. */
  readonly own: boolean
}

export type ChainFailure = FailureClass | { readonly kind: BrokenKind }

export const HEALTHY: ChainHealth = {
  outcomes: 0,
  outcomeCount: 0,
  failuresInRow: 0,
  running: 0,
  cooldown: undefined,
  rateLimit: undefined,
  lowered: undefined,
  recovered: undefined,
  answeredBegan: 0,
  lastError: undefined,
}

/** Two in a row, or more than half of the last twenty (docs/decisions/0005-routing-and-endings.md). */
export const OUTCOMES_MAX = 20
const OUTCOMES_MASK = 2 ** OUTCOMES_MAX - 1
const FAILURES_IN_ROW = 2
/** A share of very few outcomes is chance. */
const OUTCOMES_MIN = 10
/** The first pause; each further one is twice as long. */
const PAUSE_MS = 15_000
const PAUSE_MS_MAX = 300_000
/** A refused credential does not recover within seconds, so its first pause is 60 s. */
const CREDENTIAL_LEVEL = 2
const LEVEL_MAX = 10
/** A chain that fails again this soon after it recovered is flapping and pauses longer than before. */
const FLAPPING_MS = 600_000
/** Longer than any call waits for its answer to begin; it only ends a probe whose attempt is never finished. */
const PROBE_MS_MAX = 900_000
/** A probe whose answer has begun may last as long as its client reads; other calls do not wait for that. */
const PROBE_ANSWER_MS_MAX = 30_000
/** After a 429 the chain pauses for its `Retry-After`, at most 60 s, but one call a second is let through. */
const RATE_LIMIT_MS_MIN = 1_000
const RATE_LIMIT_MS_MAX = 60_000
const EXTRA_CALL_EVERY_MS = 1_000
/** A lowered concurrency without another refusal for this long is dropped. */
const LOWERED_MS_MAX = 600_000

/** A call is sent over the chain; after a pause it is the probe, unless there is one already. */
export function begin(health: ChainHealth, one: ChainTry, now: number): ChainHealth {
  const { cooldown, rateLimit, lowered } = health
  const running = one.own ? health.running : health.running + 1
  if (isUntroubled(health)) return counting(health, { running })
  const nextAt = now + EXTRA_CALL_EVERY_MS
  return {
    ...health,
    running,
    cooldown:
      cooldown !== undefined && isProbeDue(cooldown, now)
        ? { ...cooldown, probe: { id: one.id, until: now + PROBE_MS_MAX } }
        : cooldown,
    rateLimit: one.own ? rateLimit : rateLimit && { ...rateLimit, nextAt },
    lowered: one.own || !isFull(health) ? lowered : lowered && { ...lowered, nextAt },
  }
}

/** Nothing but its counts can change when calls begin and are answered. */
function isUntroubled({ cooldown, rateLimit, lowered }: ChainHealth): boolean {
  return cooldown === undefined && rateLimit === undefined && lowered === undefined
}

/** The answer has begun: the upstream accepts calls, however this one ends. */
export function answered(health: ChainHealth, one: ChainTry, now: number): ChainHealth {
  const { cooldown, rateLimit } = health
  const answeredBegan = Math.max(health.answeredBegan, one.beganAt)
  if (isUntroubled(health))
    return answeredBegan === health.answeredBegan ? health : counting(health, { answeredBegan })
  const probing = cooldown?.probe?.id === one.id
  return {
    ...health,
    answeredBegan,
    cooldown: probing ? { ...cooldown, probe: { id: one.id, until: now + PROBE_ANSWER_MS_MAX } } : cooldown,
    rateLimit: !one.own && rateLimit !== undefined && one.beganAt >= rateLimit.since ? undefined : rateLimit,
    lowered: one.own ? health.lowered : grown(health, one, now),
  }
}

/** The attempt ended cleanly. */
export function succeeded(health: ChainHealth, one: ChainTry, now: number): ChainHealth {
  const probing = health.cooldown?.probe?.id === one.id
  const next = withdrawn(health, one)
  if (one.own && !probing) return next
  const { cooldown } = next
  // An attempt that began before the pause only shows the chain's earlier state.
  if (cooldown !== undefined && one.beganAt < cooldown.pausedAt) return next
  if (cooldown !== undefined) return recovered(next, cooldown, now)
  return noted(next, 0, 0)
}

/** The attempt failed. A failure that the upstream blames on the request changes nothing. */
export function failed(
  health: ChainHealth,
  one: ChainTry,
  failure: ChainFailure,
  { now, note }: { readonly now: number; readonly note: ErrorNote | undefined },
): ChainHealth {
  const { counts } = CONSEQUENCES[failure.kind]
  const probing = health.cooldown?.probe?.id === one.id
  const next = withdrawn(health, one)
  if (counts === 'not' || (one.own && !(probing && counts === 'as-failure'))) return next
  const told = { ...next, lastError: note ?? next.lastError }
  switch (counts) {
    case 'as-rate-limit':
      return refused(told, one, 'retryAfterMs' in failure ? failure.retryAfterMs : undefined, now)
    case 'as-failure':
      return broken(told, one, { failure, probing, now })
    case 'at-once':
      return coolDown(noted(told, 1, told.failuresInRow), one, { cause: 'credential', probing, now })
  }
}

/** Nothing was learnt about the chain: the client disconnected, or nothing was sent. The next call may be the probe. */
export function withdrawn(health: ChainHealth, one: ChainTry): ChainHealth {
  const { cooldown } = health
  const left = one.own ? health : counting(health, { running: Math.max(0, health.running - 1) })
  return cooldown?.probe?.id === one.id ? { ...left, cooldown: { ...cooldown, probe: undefined } } : left
}

/** Whether the pause is over and no probe is in progress. */
export function isProbeDue({ until, probe }: Cooldown, now: number): boolean {
  return now >= until && (probe === undefined || now >= probe.until)
}

/** As many calls run as the lowered concurrency allows. */
export function isFull({ lowered, running }: ChainHealth): boolean {
  return lowered !== undefined && running >= Math.floor(lowered.limit)
}

/**
 * The chain's health for an account with its own credential: rate limits and refusals of the platform's credential do
 * not apply to it.
 */
export function asSeenByOwner(health: ChainHealth): ChainHealth {
  const { cooldown, rateLimit, lowered } = health
  if (cooldown?.cause !== 'credential' && rateLimit === undefined && lowered === undefined) return health
  return {
    ...health,
    cooldown: cooldown?.cause === 'credential' ? undefined : cooldown,
    rateLimit: undefined,
    lowered: undefined,
  }
}

interface Breakage {
  readonly failure: ChainFailure
  readonly probing: boolean
  readonly now: number
}

function broken(health: ChainHealth, one: ChainTry, { failure, probing, now }: Breakage): ChainHealth {
  const next = noted(health, 1, health.failuresInRow)
  const cause = failure.kind === 'not-found' ? 'not-found' : 'failure'
  if (next.cooldown !== undefined) return coolDown(next, one, { cause, probing, now })
  // It began before the chain recovered; the failure of that time is known already.
  if (next.recovered !== undefined && one.beganAt < next.recovered.at) return health
  // While this call timed out, a later one was answered: so it is the request that takes long.
  const slowRequest = failure.kind === 'timeout' && one.beganAt < next.answeredBegan
  const failuresInRow = slowRequest ? next.failuresInRow : next.failuresInRow + 1
  const counted = { ...next, failuresInRow }
  return failuresInRow >= FAILURES_IN_ROW || mostlyFails(counted)
    ? coolDown(counted, one, { cause, probing, now })
    : counted
}

function mostlyFails({ outcomes, outcomeCount }: ChainHealth): boolean {
  if (outcomeCount < OUTCOMES_MIN) return false
  return 2 * countOnes(outcomes) > outcomeCount
}

/**
 * Begins a cooldown, or its next, longer pause. Calls that began before the pause, or as a last resort during it, do
 * not lengthen it: only a call after it does.
 */
function coolDown(
  health: ChainHealth,
  one: ChainTry,
  { cause, probing, now }: { readonly cause: CooldownCause; readonly probing: boolean; readonly now: number },
): ChainHealth {
  const { cooldown } = health
  if (cooldown !== undefined && !probing && one.beganAt < cooldown.until) return health
  const level =
    cooldown === undefined ? firstLevel(health, cause, now) : Math.min(cooldown.level + 1, LEVEL_MAX)
  const pauseMs = Math.min(PAUSE_MS * 2 ** level, PAUSE_MS_MAX)
  return {
    ...health,
    cooldown: {
      cause,
      since: cooldown?.since ?? now,
      pausedAt: now,
      until: now + pauseMs,
      level,
      probe: undefined,
    },
  }
}

function firstLevel({ recovered }: ChainHealth, cause: CooldownCause, now: number): number {
  const least = cause === 'credential' ? CREDENTIAL_LEVEL : 0
  const flaps = recovered !== undefined && now - recovered.at < FLAPPING_MS
  return flaps ? Math.max(least, Math.min(recovered.level + 1, LEVEL_MAX)) : least
}

function recovered(health: ChainHealth, cooldown: Cooldown, now: number): ChainHealth {
  return {
    ...health,
    cooldown: undefined,
    failuresInRow: 0,
    outcomes: 0,
    outcomeCount: 1,
    recovered: { at: now, level: cooldown.level },
  }
}

/** A 429: with a time the chain pauses until then, without one it runs fewer calls at once. */
function refused(
  health: ChainHealth,
  one: ChainTry,
  retryAfterMs: number | undefined,
  now: number,
): ChainHealth {
  const { rateLimit } = health
  if (retryAfterMs === undefined) return lower(health, one, now)
  const until = now + Math.min(Math.max(retryAfterMs, RATE_LIMIT_MS_MIN), RATE_LIMIT_MS_MAX)
  return {
    ...health,
    rateLimit: {
      since: rateLimit !== undefined && rateLimit.until > now ? rateLimit.since : now,
      until: Math.max(rateLimit?.until ?? 0, until),
      nextAt: Math.max(rateLimit?.nextAt ?? 0, one.beganAt + EXTRA_CALL_EVERY_MS),
    },
  }
}

/** Halves the limit, once for all calls that ran together. */
function lower(health: ChainHealth, one: ChainTry, now: number): ChainHealth {
  const { lowered } = health
  if (lowered !== undefined && one.beganAt < lowered.loweredAt) return health
  // The refused call no longer counts as running, but it did run.
  const ranThen = health.running + 1
  const before = lowered === undefined ? ranThen : Math.min(lowered.limit, ranThen)
  return {
    ...health,
    lowered: {
      limit: Math.max(1, Math.floor(before / 2)),
      loweredAt: now,
      ranThen,
      nextAt: one.beganAt + EXTRA_CALL_EVERY_MS,
    },
  }
}

/**
 * Grows by one after as many answers as the limit is high; an answer above the limit shows that the limit was too low.
 */
function grown(
  { lowered, running }: ChainHealth,
  one: ChainTry,
  now: number,
): LoweredConcurrency | undefined {
  if (lowered === undefined || one.beganAt < lowered.loweredAt) return lowered
  const limit = Math.max(lowered.limit + 1 / lowered.limit, running)
  return limit >= 2 * lowered.ranThen || now - lowered.loweredAt > LOWERED_MS_MAX
    ? undefined
    : { ...lowered, limit }
}

function noted(health: ChainHealth, bit: 0 | 1, failuresInRow: number): ChainHealth {
  const outcomes = ((health.outcomes << 1) | bit) & OUTCOMES_MASK
  return counting(health, {
    outcomes,
    outcomeCount: Math.min(health.outcomeCount + 1, OUTCOMES_MAX),
    failuresInRow,
  })
}

/** The same with other counts. Written out, because every call changes them: spreads take ten times as long. */
function counting(health: ChainHealth, counts: Partial<Counts>): ChainHealth {
  const { cooldown, rateLimit, lowered, recovered, lastError } = health
  const {
    outcomes = health.outcomes,
    outcomeCount = health.outcomeCount,
    failuresInRow = health.failuresInRow,
    running = health.running,
    answeredBegan = health.answeredBegan,
  } = counts
  return {
    outcomes,
    outcomeCount,
    failuresInRow,
    running,
    cooldown,
    rateLimit,
    lowered,
    recovered,
    answeredBegan,
    lastError,
  }
}

type Counts = Pick<ChainHealth, 'outcomes' | 'outcomeCount' | 'failuresInRow' | 'running' | 'answeredBegan'>

function countOnes(bits: number): number {
  let count = 0
  for (let left = bits; left > 0; left >>>= 1) count += left & 1
  return count
}
