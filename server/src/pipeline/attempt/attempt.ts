/**
 * Tries calls that are answered while their client waits: one exchange over one chain after another, until one begins to
 * answer. Each attempt also updates the health of its chain: at once if it failed, at the end of its answer if it began
 * one.
 */
import type { ChainFailure, ErrorNote } from '../../core/routing/health.ts'
import type { Soon } from '../../core/soon.ts'
import type { ReservedCall } from '../call.ts'
import type { Pipeline } from '../context.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { AttemptFailure, Ending, Verdict } from '../exchange/exchange-outcome.ts'
import { type OpenExchangeParts, type OpenedExchange, openExchange } from '../exchange/open-exchange.ts'
import type { ChainRun } from '../instance/chains/health-board.ts'
import type { Attempted, FinalFailure } from './attempt-outcome.ts'
import { classifyAttempt } from './classify.ts'
import { noteOfEnding, noteOfFailure } from './error-note.ts'
import type { Leg } from './leg.ts'
import { UPSTREAM_FAILURES, refusedSignatures } from './failures-compared.ts'
import { ChainSearch, type SearchResult, type Tried, type Trying, tryRoutes } from './try-routes.ts'
import type { ClientReply } from '../reply.ts'
import { giveCredentialBack } from './dialect.ts'
import { type RouteParts, mayFallBack, route, routeFallback } from './route.ts'

export type AttemptParts = OpenExchangeParts & RouteParts

/** Tries the chains of a model, then those of its fallback, until one begins to answer. */
export async function attempt(
  pipeline: AttemptParts,
  call: ReservedCall,
  reply: ClientReply,
): Promise<Attempted> {
  const search = new ExchangeSearch(pipeline, call, {
    open: (leg) => openExchange(pipeline, call, leg, reply),
    giveBack: (leg) => giveCredentialBack(pipeline, call, leg),
    clientGone: () => reply.gone,
  })
  try {
    const result = await tryRoutes(search.chains, {
      requested: route(pipeline, call),
      fallback: mayFallBack(call) ? () => routeFallback(pipeline, call) : undefined,
    })
    return search.outcomeOf(result)
  } catch (error) {
    return search.broken(error)
  } finally {
    search.close()
  }
}

/** How one attempt is made. */
export interface Tries {
  open(leg: Leg): Soon<OpenedExchange>
  /** The call continues over another chain. */
  giveBack(leg: Leg): Promise<void>
  clientGone(): boolean
}

type Surroundings = Pick<Pipeline, 'now' | 'health' | 'limits' | 'telemetry'>
type SearchedCall = Pick<ReservedCall, 'at' | 'requestId' | 'catalogue'>

/** What ends the search. */
type End = Exclude<Attempted, { readonly kind: 'failed' }>
type Decided = Extract<End, { readonly exchange: Exchange }>
type Result = SearchResult<End, FinalFailure>

interface TriedLeg {
  readonly leg: Leg
  readonly exchange: Exchange
  /** Epoch ms. */
  readonly startedAt: number
}

type SearchState =
  | { readonly kind: 'between-tries' }
  | { readonly kind: 'trying'; readonly exchange: Exchange }
  /** An attempt that starts anyway expires at once. */
  | { readonly kind: 'out-of-time' }
  /** The result of the call, whatever fails while it is recorded. */
  | { readonly kind: 'decided'; readonly end: Decided }

const BETWEEN_TRIES: SearchState = { kind: 'between-tries' }

export class ExchangeSearch implements Trying<End, FinalFailure> {
  readonly pinned = false
  readonly classOf = UPSTREAM_FAILURES.classOf
  readonly moreInformative = UPSTREAM_FAILURES.moreInformative
  readonly rateLimited = UPSTREAM_FAILURES.rateLimited
  readonly noChain = UPSTREAM_FAILURES.noChain
  readonly mayFallBack = UPSTREAM_FAILURES.mayFallBack
  readonly chains: ChainSearch<End, FinalFailure>
  readonly #pipeline: Surroundings
  readonly #call: SearchedCall
  readonly #tries: Tries
  readonly #deadline: NodeJS.Timeout
  #state: SearchState = BETWEEN_TRIES
  /** A request may have reached a vendor. */
  sent = false

  constructor(pipeline: Surroundings, call: SearchedCall, tries: Tries) {
    this.#pipeline = pipeline
    this.#call = call
    this.#tries = tries
    this.chains = new ChainSearch(pipeline, call, this)
    this.#deadline = setTimeout(() => this.#runOut(), pipeline.limits.answerDeadlineMs)
    this.#deadline.unref()
  }

  close(): void {
    clearTimeout(this.#deadline)
  }

  outcomeOf(result: Result): Attempted {
    if (result.kind === 'over') return result.end
    return { kind: 'failed', failure: result.failure, records: this.chains.records, sent: this.sent }
  }

  /** An answer that has begun continues, and one that is still read after its client disconnected is charged. */
  broken(error: unknown): Attempted {
    const { sent } = this
    const { records } = this.chains
    if (this.#state.kind !== 'decided') return { kind: 'broken', error, records, sent }
    this.#pipeline.telemetry.log.error(
      { requestId: this.#call.requestId, error },
      'the answer goes on although a step inside the gateway failed',
    )
    return this.#state.end
  }

  async tryOnce(leg: Leg): Promise<Tried<End, FinalFailure>> {
    const startedAt = this.#pipeline.now()
    const opening = this.#tries.open(leg)
    const opened = opening instanceof Promise ? await opening : opening
    if (opened.kind === 'skipped') return skipped(opened)
    const { exchange } = opened
    // The time may have run out while the request was built.
    if (this.#state.kind === 'out-of-time') exchange.expire()
    else this.#state = { kind: 'trying', exchange }
    return this.#concluded(await exchange.verdict, { leg, exchange, startedAt })
  }

  #concluded(verdict: Verdict, tried: TriedLeg): Tried<End, FinalFailure> {
    const { leg, exchange } = tried
    if (this.#state.kind === 'trying') this.#state = BETWEEN_TRIES
    this.sent ||= exchange.sent
    const { sent } = this
    const { records } = this.chains
    const { firstByteAt } = exchange
    switch (verdict.kind) {
      case 'committed':
        return over(this.#decide({ kind: 'answering', leg, exchange, records, sent }), {
          outcome: 'answered',
          status: exchange.status,
          firstByteAt,
        })
      case 'gone':
        return over(this.#decide({ kind: 'gone', leg, exchange, records, sent }), {
          outcome: 'client gone',
          firstByteAt,
        })
      case 'stopped':
        return over({ kind: 'stopped', records, sent }, { outcome: 'stopped', firstByteAt })
      case 'broken':
        return over(
          { kind: 'broken', error: verdict.error, records, sent },
          { outcome: 'gateway error', firstByteAt },
        )
      case 'failed':
        return this.#failed(tried, verdict.failure)
    }
  }

  /** Without the reasoning that the upstream cannot read. */
  inOtherForm(leg: Leg, failure: FinalFailure): Leg | undefined {
    return refusedSignatures(failure) ? { ...leg, why: 'retry', unsigned: true } : undefined
  }

  reportToChain(run: ChainRun, result: Result): number | 'goes-on' | undefined {
    const pipeline = this.#pipeline
    if (result.kind === 'failed')
      return result.failure.kind === 'upstream' ? noteFailure(pipeline, run, result.failure) : undefined
    if (result.end.kind !== 'answering') return undefined
    const { leg, exchange } = result.end
    const followed = followAnswer(pipeline, this.#call, { run, leg, exchange })
    pipeline.telemetry.background.track(followed, 'note how an answer ended')
    return 'goes-on'
  }

  async giveBack(leg: Leg, failure: FinalFailure): Promise<void> {
    if (failure.kind !== 'rate-limited') await this.#tries.giveBack(leg)
  }

  isOver(): boolean {
    return this.#state.kind === 'out-of-time' || this.#tries.clientGone()
  }

  /** The answer deadline of the call. */
  #runOut(): void {
    const state = this.#state
    if (state.kind === 'decided') return
    this.#state = { kind: 'out-of-time' }
    if (state.kind === 'trying') state.exchange.expire()
  }

  #decide(end: Decided): Decided {
    this.#state = { kind: 'decided', end }
    return end
  }

  #failed({ leg, exchange, startedAt }: TriedLeg, failure: AttemptFailure): Tried<End, FinalFailure> {
    const told = classifyAttempt(this.#call.catalogue, leg, failure)
    const failureClass = exchange.isTask ? ofTask(told) : told
    const { kind } = failureClass
    const waitedMs = this.#pipeline.now() - startedAt
    const replayed = kind === 'request' && exchange.lane.replays?.() === true
    return {
      kind: 'failed',
      failure: { kind: 'upstream', leg, failure, class: failureClass, replayed, waitedMs },
      note: {
        outcome: kind,
        status: failure.kind === 'status' ? failure.status : undefined,
        said: noteOfFailure({ leg, kind, at: startedAt }, failure).message,
        firstByteAt: exchange.firstByteAt,
      },
    }
  }
}

/** A task that failed according to its vendor made nothing. For all others it is unknown what they will make. */
function ofTask(failure: ChainFailure): ChainFailure {
  const { kind } = failure
  return kind === 'connect' || kind === 'timeout' || kind === 'cut' ? { kind: 'lost-task' } : failure
}

function skipped({
  failure = { kind: 'no-chain' },
  reason,
}: OpenedExchange & { readonly kind: 'skipped' }): Tried<End, FinalFailure> {
  return { kind: 'failed', failure, note: { outcome: reason } }
}

function over(end: End, note: Tried<End, FinalFailure>['note']): Tried<End, FinalFailure> {
  return { kind: 'over', end, note }
}

/** Returns the length of the chain's cooldown, ms; undefined: there is none. */
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
 * A conflict (409) is between two requests of one client, so the chain is not to blame. For the deadline of the whole
 * call, only the chain on which most of the time was spent is to blame.
 */
function saysOfChain(
  { failure, waitedMs }: Extract<FinalFailure, { kind: 'upstream' }>,
  { answerDeadlineMs }: Pipeline['limits'],
): boolean {
  if (failure.kind === 'deadline') return waitedMs >= answerDeadlineMs / 2
  return failure.kind !== 'status' || failure.status !== 409
}

export type Answering = Pick<Exchange, 'ended' | 'trouble'>

/** Resolves when the answer has ended and the health of its chain is updated. */
export function followAnswer(
  { now }: Pick<Pipeline, 'now'>,
  { catalogue }: Pick<ReservedCall, 'catalogue'>,
  { run, leg, exchange }: { readonly run: ChainRun; readonly leg: Leg; readonly exchange: Answering },
): Promise<void> {
  run.answered(now())
  return exchange.ended.then(({ ending }) => {
    const at = now()
    const judged = judgeEnding(catalogue, leg, { ending, trouble: exchange.trouble }, at)
    if (judged === 'well') run.succeeded(at)
    else if (judged === 'nothing') run.withdrawn()
    else run.failed(judged.failure, at, judged.note)
  })
}

export type EndedAnswer = Pick<Exchange, 'trouble'> & { readonly ending: Ending }

export type Judged =
  | 'well'
  /** Says nothing about the chain. */
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

/** An error that the upstream sent inside its answer may blame the request, or refuse its content. */
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
