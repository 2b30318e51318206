/** What the end of an answer says: of the chain it came over, and of the attempt that the log keeps. */
import type { AttemptRecord } from '../../core/ledger/log-row.ts'
import type { ChainFailure, ErrorNote } from '../../core/routing/health.ts'
import type { ReservedCall } from '../call.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { Ending } from '../exchange/exchange-outcome.ts'
import { classifyAttempt } from './classify.ts'
import { noteOfEnding } from './error-note.ts'
import type { Leg } from './leg.ts'

export type EndedAnswer = Pick<Exchange, 'trouble'> & { readonly ending: Ending }

export type Judged =
  | 'well'
  /** Nothing can be said of the chain. */
  | 'nothing'
  | { readonly failure: ChainFailure; readonly note: ErrorNote }

/** @param at when it ended, epoch ms */
export function judgeEnding(
  catalogue: ReservedCall['catalogue'],
  leg: Leg,
  { ending, trouble }: EndedAnswer,
  at: number,
): Judged {
  const says = SAYS[ending]
  if (says !== 'ill') return says
  const failure = classOfEnding(catalogue, leg, { ending, trouble })
  return { failure, note: noteOfEnding({ leg, kind: failure.kind, at }, { trouble }) }
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
  { ending, trouble }: EndedAnswer,
): ChainFailure {
  if (trouble?.raw !== undefined) {
    const { status, raw } = trouble
    return classifyAttempt(catalogue, leg, {
      kind: 'answer',
      answer: { kind: 'error', status, raw, delivered: true },
    })
  }
  return { kind: ending === 'timeout' ? 'timeout' : 'cut' }
}

/**
 * The attempts of a call as they stand when its answer has ended: the last lasted until then, and one that broke did not
 * answer.
 * @param records as they stood when the answer began
 * @param endedMs from the start of the call
 * @param broke what of, and in whose words; undefined: it did not
 */
export function endedRecords(
  records: readonly AttemptRecord[],
  endedMs: number,
  broke: Required<Pick<AttemptRecord, 'outcome' | 'said'>> | undefined,
): readonly AttemptRecord[] {
  const last = records.at(-1)
  if (last === undefined) return records
  return [...records.slice(0, -1), { ...last, endedMs, ...broke }]
}
