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
interface Unanswered extends EndedBy {
  readonly verdict: Verdict
}

/** The client is reading, and is informed. */
export interface Broken {
  readonly ended: EndedBy
  readonly shown: { readonly code: ErrorCode; readonly message: string }
  readonly trouble: Trouble
}

/** What one event does to an exchange, in each of its possible states. */
export interface Interrupt {
  readonly by: Interruption
  readonly unanswered: Unanswered
  /** undefined: it does not break off an answer that has begun. */
  readonly broken: Broken | undefined
  /** How far the upstream got with an answer whose client has disconnected. */
  readonly drainedAs: Ended['generation']
}

/** The upstream reported its failure itself, and the client has received that. */
export const ERROR_SENT: EndedBy = { ending: 'upstream-error', generation: 'broken' }

/** Another chain may still answer. */
export function failed(failure: AttemptFailure): Unanswered {
  return { verdict: { kind: 'failed', failure }, ending: 'upstream-error', generation: 'none' }
}

const BROKE_OFF = { code: 50201, message: 'the upstream broke off its answer' } as const

export const DEADLINE: Interrupt = {
  by: 'deadline',
  unanswered: failed({ kind: 'deadline' }),
  broken: undefined,
  drainedAs: 'cut',
}

export const STOP: Interrupt = {
  by: 'stop',
  unanswered: { verdict: { kind: 'stopped' }, ending: 'stopped', generation: 'none' },
  broken: broken(
    { ending: 'stopped', generation: 'cut' },
    { code: 50301, message: 'the gateway is shutting down' },
  ),
  drainedAs: 'cut',
}

export const GONE: Interrupt = {
  by: 'gone',
  unanswered: { verdict: { kind: 'gone' }, ending: 'client-gone', generation: 'none' },
  broken: undefined,
  drainedAs: 'cut',
}

/** Something inside the gateway failed. What was generated is still known, and the client is still informed. */
export function fault(error: unknown): Interrupt {
  return {
    by: 'fault',
    unanswered: { verdict: { kind: 'broken', error }, ending: 'gateway-error', generation: 'none' },
    broken: broken(
      { ending: 'gateway-error', generation: 'cut' },
      { code: 50000, message: 'something inside the gateway went wrong' },
    ),
    drainedAs: 'cut',
  }
}

/** The answer itself contains an error, or cannot be read. */
export function answerFailed(answer: AnswerFailure): Interrupt {
  const ending = answer.kind === 'cut' ? 'upstream-cut' : 'upstream-error'
  return {
    by: 'failure',
    unanswered: failed({ kind: 'answer', answer }),
    broken: { ended: { ending, generation: 'broken' }, shown: BROKE_OFF, trouble: troubleOf(answer) },
    drainedAs: 'broken',
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
    unanswered: failed({ kind: 'transport', transport }),
    broken: {
      ended: { ending: silent ? 'timeout' : 'upstream-cut', generation: 'broken' },
      shown: silent
        ? { code: 50401, message: 'the upstream stopped sending in the middle of its answer' }
        : BROKE_OFF,
      trouble: { detail: transport.detail },
    },
    drainedAs: 'broken',
  }
}

function broken(ended: EndedBy, shown: Broken['shown']): Broken {
  return { ended, shown, trouble: { detail: shown.message } }
}
