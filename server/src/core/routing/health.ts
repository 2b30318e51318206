/**
 * Chain health arithmetic: what a failure costs a chain (reference: routing table). Values in, values out; the
 * corridor keeps one state per chain in memory.
 */
import { type BrokenKind, CONSEQUENCES, type FailureClass } from './failure.ts'

export interface ChainHealth {
  /** Failures since the last success. */
  readonly failuresInRow: number
  /** Epoch ms; the chain is passed over before it. */
  readonly coolingUntil: number
  readonly cause: CoolingCause | undefined
  /** Time-outs since the last success: each halves the chain's weight among equals. */
  readonly slowInRow: number
}

/** Only `rate-limit` makes a model answer 42904; the others leave the chain as a last resort. */
export type CoolingCause = 'rate-limit' | 'failure' | 'credential' | 'not-found'

export const HEALTHY: ChainHealth = { failuresInRow: 0, coolingUntil: 0, cause: undefined, slowInRow: 0 }

/** Two failures in a row open a pause of this length, doubled by every further one. */
const FAILURE_PAUSE_MS = 15_000
const FAILURE_PAUSE_MAX_MS = 300_000
/** A dead credential or a missing deployment does not heal by itself within seconds. */
const CREDENTIAL_PAUSE_MS = 300_000
/** A 429 without a hint. */
const RATE_LIMIT_PAUSE_MS = 5_000
const RATE_LIMIT_PAUSE_MIN_MS = 1_000
/** A hint beyond this is an upstream's mistake or a quota; the chain is tried again then. */
const RATE_LIMIT_PAUSE_MAX_MS = 600_000

export type ChainFailure = FailureClass | { readonly kind: BrokenKind }

/** The chain's state after one failure. A request the upstream blames on the client changes nothing. */
export function afterFailure(health: ChainHealth, failure: ChainFailure, now: number): ChainHealth {
  switch (CONSEQUENCES[failure.kind].cooldown) {
    case 'none':
      return health
    case 'soft':
      return { ...health, slowInRow: health.slowInRow + 1 }
    case 'hint':
      return cool(
        health,
        'rate-limit',
        now + rateLimitPauseMs('retryAfterMs' in failure ? failure.retryAfterMs : undefined),
      )
    case 'exponential':
      return afterBreakage(health, now)
    case 'long':
      return cool(
        health,
        failure.kind === 'not-found' ? 'not-found' : 'credential',
        now + CREDENTIAL_PAUSE_MS,
      )
  }
}

/** Success heals everything but a rate limit that is still running. */
export function afterSuccess(health: ChainHealth, now: number): ChainHealth {
  if (health === HEALTHY || (health.cause === 'rate-limit' && health.coolingUntil > now)) return health
  return HEALTHY
}

function afterBreakage(health: ChainHealth, now: number): ChainHealth {
  const failuresInRow = health.failuresInRow + 1
  if (failuresInRow < 2) return { ...health, failuresInRow }
  const pauseMs = Math.min(FAILURE_PAUSE_MS * 2 ** Math.min(failuresInRow - 2, 10), FAILURE_PAUSE_MAX_MS)
  return { ...cool(health, 'failure', now + pauseMs), failuresInRow }
}

/** Of two deadlines the later one holds, with its cause. */
function cool(health: ChainHealth, cause: CoolingCause, until: number): ChainHealth {
  if (health.coolingUntil > until) return health
  return { ...health, cause, coolingUntil: until }
}

function rateLimitPauseMs(hintMs: number | undefined): number {
  return Math.min(Math.max(hintMs ?? RATE_LIMIT_PAUSE_MS, RATE_LIMIT_PAUSE_MIN_MS), RATE_LIMIT_PAUSE_MAX_MS)
}
