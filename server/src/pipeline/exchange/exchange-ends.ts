/** In which words an exchange ends that nobody wanted to end: for the search of a chain, for the client, for the charge. */
import type { ErrorCode } from '../../core/errors/catalogue.ts'
import type { TransportFailure } from '../../upstream/upstream.ts'
import type { AttemptFailure, Ended, Verdict } from './exchange-outcome.ts'

export type EndedBy = Pick<Ended, 'ending' | 'generation'> & Partial<Pick<Ended, 'code'>>

/** Nothing has reached the client, and nothing will. */
export interface Unheard extends EndedBy {
  readonly verdict: Verdict
}

/** The client reads, and is told. */
export interface Broken {
  readonly ended: EndedBy
  readonly told: { readonly code: ErrorCode; readonly message: string }
  /** For the log. */
  readonly detail: string
}

/** What one event makes of an exchange, in each of the states it may be in. */
export interface Interrupt {
  readonly unheard: Unheard
  /** undefined: it breaks off no answer that has begun. */
  readonly broken: Broken | undefined
  /** How far the upstream came with an answer whose client has gone. */
  readonly leftAs: Ended['generation']
}

/** Another chain may still answer. */
export function failed(failure: AttemptFailure): Unheard {
  return { verdict: { kind: 'failed', failure }, ending: 'upstream-error', generation: 'none' }
}

/** The upstream's answer broke by itself. */
export function brokenOff(ending: 'upstream-cut' | 'upstream-error'): Broken {
  return broken(
    { ending, generation: 'broken' },
    { code: 50201, message: 'the upstream broke off its answer' },
  )
}

export const DEADLINE: Interrupt = {
  unheard: failed({ kind: 'deadline' }),
  broken: undefined,
  leftAs: 'cut',
}

export const STOP: Interrupt = {
  unheard: { verdict: { kind: 'stopped' }, ending: 'stopped', generation: 'none' },
  broken: broken(
    { ending: 'stopped', generation: 'cut' },
    { code: 50301, message: 'the gateway is shutting down' },
  ),
  leftAs: 'cut',
}

export const GONE: Interrupt = {
  unheard: { verdict: { kind: 'gone' }, ending: 'client-gone', generation: 'none' },
  broken: undefined,
  leftAs: 'cut',
}

/** Something of our own broke. What was generated is still known, and the client still hears of it. */
export function fault(error: unknown): Interrupt {
  return {
    unheard: { verdict: { kind: 'broken', error }, ending: 'gateway-error', generation: 'none' },
    broken: broken(
      { ending: 'gateway-error', generation: 'cut' },
      { code: 50000, message: 'something inside the gateway went wrong' },
    ),
    leftAs: 'cut',
  }
}

/** Whoever aborts the upstream has left its state before, so this always is the upstream's own. */
export function lostUpstream(transport: TransportFailure): Interrupt {
  const silent = transport.kind === 'idle-timeout'
  const off = brokenOff('upstream-cut')
  return {
    unheard: failed({ kind: 'transport', transport }),
    broken: {
      ended: { ending: silent ? 'timeout' : 'upstream-cut', generation: 'broken' },
      told: silent
        ? { code: 50401, message: 'the upstream stopped sending in the middle of its answer' }
        : off.told,
      detail: transport.detail,
    },
    leftAs: 'broken',
  }
}

function broken(ended: EndedBy, told: Broken['told']): Broken {
  return { ended, told, detail: told.message }
}
