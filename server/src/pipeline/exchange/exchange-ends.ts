/**
 * The unplanned endings of an exchange: what each means for the search for a chain, for the client and for the charge.
 */
import type { ErrorCode } from '../../core/errors/catalogue.ts'
import type { TransportFailure } from '../../upstream/upstream.ts'
import type { AnswerFailure } from '../lanes/lane.ts'
import type { Interruption } from './exchange-states.ts'
import type { AttemptFailure, Ended, Trouble, Verdict } from './exchange-outcome.ts'

export type EndedBy = Pick<Ended, 'ending' | 'generation'> & Partial<Pick<Ended, 'code' | 'message'>>

/** Nothing has reached the client, and nothing will. */
interface Unheard extends EndedBy {
  readonly verdict: Verdict
}

/** The client is reading, and is informed. */
export interface Broken {
  readonly ended: EndedBy
  readonly told: { readonly code: ErrorCode; readonly message: string }
  readonly trouble: Trouble
}

/** What one event does to an exchange, in each of its possible states. */
export interface Interrupt {
  readonly by: Interruption
  readonly unheard: Unheard
  /** undefined: it does not break off an answer that has begun. */
  readonly broken: Broken | undefined
  /** How far the upstream got with an answer whose client has disconnected. */
  readonly leftAs: Ended['generation']
}

/** The upstream reported its failure itself, and the client has received that. */
export const TOLD: EndedBy = { ending: 'upstream-error', generation: 'broken' }

/** Another chain may still answer. */
export function failed(failure: AttemptFailure): Unheard {
  return { verdict: { kind: 'failed', failure }, ending: 'upstream-error', generation: 'none' }
}

const BROKE_OFF = { code: 50201, message: 'the upstream broke off its answer' } as const

export const DEADLINE: Interrupt = {
  by: 'deadline',
  unheard: failed({ kind: 'deadline' }),
  broken: undefined,
  leftAs: 'cut',
}

export const STOP: Interrupt = {
  by: 'stop',
  unheard: { verdict: { kind: 'stopped' }, ending: 'stopped', generation: 'none' },
  broken: broken(
    { ending: 'stopped', generation: 'cut' },
    { code: 50301, message: 'the gateway is shutting down' },
  ),
  leftAs: 'cut',
}

export const GONE: Interrupt = {
  by: 'gone',
  unheard: { verdict: { kind: 'gone' }, ending: 'client-gone', generation: 'none' },
  broken: undefined,
  leftAs: 'cut',
}

/** Something inside the gateway failed. What was generated is still known, and the client is still informed. */
export function fault(error: unknown): Interrupt {
  return {
    by: 'fault',
    unheard: { verdict: { kind: 'broken', error }, ending: 'gateway-error', generation: 'none' },
    broken: broken(
      { ending: 'gateway-error', generation: 'cut' },
      { code: 50000, message: 'something inside the gateway went wrong' },
    ),
    leftAs: 'cut',
  }
}

/** The answer itself contains an error, or cannot be read. */
export function answerFailed(answer: AnswerFailure): Interrupt {
  const ending = answer.kind === 'cut' ? 'upstream-cut' : 'upstream-error'
  return {
    by: 'failure',
    unheard: failed({ kind: 'answer', answer }),
    broken: { ended: { ending, generation: 'broken' }, told: BROKE_OFF, trouble: troubleOf(answer) },
    leftAs: 'broken',
  }
}

/** The upstream's own error inside the answer, else what was observed. */
export function troubleOf(answer: AnswerFailure): Trouble {
  if (answer.kind === 'cut') return { detail: BROKE_OFF.message }
  return { status: answer.status, raw: answer.raw, detail: 'the upstream sent an error' }
}

/** The gateway's own aborts leave this state first, so this is always the upstream's failure. */
export function lostUpstream(transport: TransportFailure): Interrupt {
  const silent = transport.kind === 'idle-timeout'
  return {
    by: 'failure',
    unheard: failed({ kind: 'transport', transport }),
    broken: {
      ended: { ending: silent ? 'timeout' : 'upstream-cut', generation: 'broken' },
      told: silent
        ? { code: 50401, message: 'the upstream stopped sending in the middle of its answer' }
        : BROKE_OFF,
      trouble: { detail: transport.detail },
    },
    leftAs: 'broken',
  }
}

function broken(ended: EndedBy, told: Broken['told']): Broken {
  return { ended, told, trouble: { detail: told.message } }
}
