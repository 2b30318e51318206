/** What a try says of its chain: at once when it failed, at the end of its answer when it began one. */
import type { ChainFailure } from '../../core/routing/health.ts'
import type { ReservedCall } from '../call.ts'
import { classifyAttempt } from './classify.ts'
import { noteOfEnding, noteOfFailure } from './error-note.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { Ending } from '../exchange/exchange-outcome.ts'
import type { Pipeline } from '../context.ts'
import type { ChainRun } from '../instance/chains/health-board.ts'
import type { Leg } from './leg.ts'
import type { FinalFailure } from './attempt-outcome.ts'

/** Gives how long the chain now rests, ms; undefined: not at all. */
export function noteFailure(
  { now, limits }: Pick<Pipeline, 'now' | 'limits'>,
  run: ChainRun,
  failure: Extract<FinalFailure, { kind: 'upstream' }>,
): number | undefined {
  if (!saysOfChain(failure, limits)) return undefined
  const at = now()
  const { leg, class: failureClass } = failure
  return run.failed(failureClass, at, noteOfFailure({ leg, kind: failureClass.kind, at }, failure.failure))
}

/**
 * A conflict is between two requests of one client. Of the whole call's deadline only the chain is to blame on which most
 * of it was spent.
 */
function saysOfChain(
  { failure, waitedMs }: Extract<FinalFailure, { kind: 'upstream' }>,
  { answerDeadlineMs }: Pipeline['limits'],
): boolean {
  if (failure.kind === 'deadline') return waitedMs >= answerDeadlineMs / 2
  return failure.kind !== 'status' || failure.status !== 409
}

export type Answering = Pick<Exchange, 'ended' | 'trouble'>

/** Resolves when the answer has ended and its chain has heard of it. */
export async function followAnswer(
  { now }: Pick<Pipeline, 'now'>,
  { catalogue }: Pick<ReservedCall, 'catalogue'>,
  { run, leg, exchange }: { readonly run: ChainRun; readonly leg: Leg; readonly exchange: Answering },
): Promise<void> {
  run.answered(now())
  const { ending } = await exchange.ended
  const at = now()
  switch (SAYS[ending]) {
    case 'well':
      run.succeeded(at)
      return
    case 'nothing':
      run.withdrawn()
      return
    case 'ill': {
      const failure = classOfEnding(catalogue, leg, { ending, exchange })
      run.failed(failure, at, noteOfEnding({ leg, kind: failure.kind, at }, exchange))
      return
    }
  }
}

const SAYS: Readonly<Record<Ending, 'well' | 'ill' | 'nothing'>> = {
  complete: 'well',
  'upstream-error': 'ill',
  'upstream-cut': 'ill',
  timeout: 'ill',
  'client-gone': 'nothing',
  stopped: 'nothing',
  'gateway-error': 'nothing',
}

/** An error the upstream told inside its answer may blame the request, or refuse its content. */
function classOfEnding(
  catalogue: ReservedCall['catalogue'],
  leg: Leg,
  { ending, exchange }: { readonly ending: Ending; readonly exchange: Answering },
): ChainFailure {
  const { trouble } = exchange
  if (trouble?.raw !== undefined) {
    const { status, raw } = trouble
    return classifyAttempt(catalogue, leg, {
      kind: 'answer',
      answer: { kind: 'error', status, raw, delivered: true },
    })
  }
  return { kind: ending === 'timeout' ? 'timeout' : 'cut' }
}
