/**
 * One call's search for an answer: the chains of a model one after the other, until one begins to answer or none is left.
 * Everything tried is recorded: which chain, why it was chosen, what was passed over, what came of it.
 */
import type { AttemptRecord } from '../../core/calls/log-row.ts'
import type { Chain } from '../../core/catalogue.ts'
import { CONSEQUENCES } from '../../core/routing/failure.ts'
import { nextChain } from '../../core/routing/order.ts'
import type { ReservedCall } from '../call.ts'
import { followAnswer, noteFailure } from './chain-outcome.ts'
import { classifyAttempt } from './classify.ts'
import { noteOfFailure } from './error-note.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { AttemptFailure } from '../exchange/exchange-outcome.ts'
import type { Pipeline } from '../context.ts'
import type { OpenedExchange } from '../exchange/open-exchange.ts'
import { healthFor, type Route } from './route.ts'
import { moreTelling, refusedSignatures } from './telling-failure.ts'
import type { Leg } from './leg.ts'
import type { AttemptOutcome, FinalFailure } from './attempt-outcome.ts'

/** How one try is made. */
export interface Tries {
  open(leg: Leg): Promise<OpenedExchange>
  /** The call goes on over another chain. */
  giveBack(leg: Leg): Promise<void>
  clientGone(): boolean
}

interface Searched {
  readonly left: Chain[]
  told: FinalFailure | undefined
}

type Surroundings = Pick<Pipeline, 'now' | 'health' | 'limits' | 'telemetry'>
type SearchedCall = Pick<ReservedCall, 'at' | 'requestId' | 'catalogue'>

/** A broken connection is worth one more try on the same chain: nothing was sent back. */
const TRIES_PER_CHAIN_MAX = 2
/** Bounds one call's work whatever the catalogue holds. */
const TRIES_PER_CALL_MAX = 16

export class RouteSearch {
  readonly #gateway: Surroundings
  readonly #call: SearchedCall
  readonly #tries: Tries
  readonly records: AttemptRecord[] = []
  readonly #deadline: NodeJS.Timeout
  #current: Exchange | undefined
  #expired = false
  /** What the call has come to, whatever breaks while it is noted down. */
  #decided: Extract<AttemptOutcome, { readonly exchange: Exchange }> | undefined
  /** Where the search stands in each route it was begun on. */
  readonly #searched = new Map<Route, Searched>()
  /** A request may have reached a vendor. */
  sent = false

  constructor(pipeline: Surroundings, call: SearchedCall, tries: Tries) {
    this.#gateway = pipeline
    this.#call = call
    this.#tries = tries
    this.#deadline = setTimeout(() => {
      this.#expired = true
      this.#current?.expire()
    }, pipeline.limits.answerDeadlineMs)
    this.#deadline.unref()
  }

  close(): void {
    clearTimeout(this.#deadline)
  }

  /** An answer that has begun goes on, and one that is read on for a client that has gone is still charged. */
  broken(error: unknown): AttemptOutcome {
    if (this.#decided === undefined) return { kind: 'broken', error, records: this.records }
    this.#gateway.telemetry.log.error(
      { requestId: this.#call.requestId, error },
      'an answer goes on although something inside the gateway failed',
    )
    return this.#decided
  }

  /**
   * Tries what is left of the route. `before-last-resorts`: chains that rest from failures are left for another time, since
   * the call has somewhere else to go.
   */
  async tryRoute(
    target: Route,
    until: 'before-last-resorts' | 'the end' = 'the end',
  ): Promise<AttemptOutcome> {
    const searched = this.#searched.get(target) ?? { left: [...target.order.chains], told: undefined }
    this.#searched.set(target, searched)
    const { left } = searched
    const healthOf = healthFor(this.#gateway, target.funding)
    while (left.length > 0) {
      const now = this.#gateway.now()
      // How the chains stand may have changed since the order was made.
      const next = nextChain(left, { now, healthOf })
      if (next === undefined) break
      const { chain, standing } = next
      if (standing.kind === 'last-resort' && until === 'before-last-resorts') break
      if (standing.kind === 'shut') {
        const retryAfterMs = standing.until - now
        searched.told = moreTelling(searched.told, { kind: 'rate-limited', retryAfterMs })
        break
      }
      left.splice(left.indexOf(chain), 1)
      const leg = this.#legOf(target, chain, searched.told)
      const result = await this.#tryChain(leg, target)
      if (result.kind !== 'failed') return result
      // An upstream that blames the request has answered it; no other chain would say otherwise.
      if (result.failure.kind === 'upstream' && !CONSEQUENCES[result.failure.class.kind].nextChain)
        return result
      searched.told = moreTelling(searched.told, result.failure)
      if (this.isSpent) break
      if (result.failure.kind !== 'rate-limited') await this.#tries.giveBack(leg)
    }
    const failure = searched.told ?? this.#nothingToTry(target)
    return { kind: 'failed', failure, records: this.records }
  }

  fallbackAllowed(failure: FinalFailure): boolean {
    if (this.isSpent) return false
    return failure.kind === 'upstream'
      ? CONSEQUENCES[failure.class.kind].fallback
      : failure.kind !== 'unconvertible'
  }

  /** One chain, once more when the connection itself broke, and once without the reasoning it cannot read. */
  async #tryChain(leg: Leg, target: Route): Promise<AttemptOutcome> {
    const pipeline = this.#gateway
    const run = pipeline.health.begin(leg.chain, { own: leg.byok, now: pipeline.now() })
    let result: AttemptOutcome | undefined
    try {
      result = await this.#tryConnected(leg, target)
      if (result.kind === 'failed' && refusedSignatures(result.failure) && !this.isSpent)
        result = await this.#tryConnected({ ...leg, why: 'retry', unsigned: true }, target)
      if (result.kind === 'failed' && result.failure.kind === 'upstream')
        this.#noteRest(noteFailure(pipeline, run, result.failure))
      return result
    } finally {
      if (result?.kind === 'answering')
        pipeline.telemetry.background.track(
          followAnswer(pipeline, this.#call, { run, ...result }),
          'note how an answer ended',
        )
      else run.withdrawn()
    }
  }

  /** The tries over one chain are one outcome, and the last of them tells of it. */
  #noteRest(cooldownMs: number | undefined): void {
    const last = this.records.pop()
    if (last !== undefined) this.records.push({ ...last, cooldownMs })
  }

  async #tryConnected(leg: Leg, target: Route): Promise<AttemptOutcome> {
    let result = await this.#tryOnce(leg, target)
    for (let tries = 1; tries < TRIES_PER_CHAIN_MAX; tries += 1) {
      const again =
        result.kind === 'failed' &&
        result.failure.kind === 'upstream' &&
        CONSEQUENCES[result.failure.class.kind].sameChainAgain
      if (!again || this.isSpent) return result
      result = await this.#tryOnce({ ...leg, why: 'retry' }, target)
    }
    return result
  }

  async #tryOnce(leg: Leg, target: Route): Promise<AttemptOutcome> {
    const pipeline = this.#gateway
    const startedAt = pipeline.now()
    const opened = await this.#tries.open(leg)
    if (opened.kind === 'skipped') {
      this.#record(leg, target, { startedAt, outcome: opened.reason })
      return { kind: 'failed', failure: opened.failure ?? { kind: 'no-chain' }, records: this.records }
    }
    const exchange = opened.exchange
    this.#current = exchange
    // The time may have run out while the request was put together.
    if (this.#expired) exchange.expire()
    const verdict = await exchange.verdict
    this.#current = undefined
    this.sent ||= exchange.sent
    switch (verdict.kind) {
      case 'committed':
        this.#decided = { kind: 'answering', leg, exchange, records: this.records }
        this.#record(leg, target, {
          startedAt,
          outcome: 'answered',
          status: exchange.status,
          firstByteAt: exchange.firstByteAt,
        })
        return this.#decided
      case 'gone':
        this.#decided = { kind: 'gone', leg, exchange, records: this.records }
        this.#record(leg, target, { startedAt, outcome: 'client gone', firstByteAt: exchange.firstByteAt })
        return this.#decided
      case 'stopped':
        this.#record(leg, target, { startedAt, outcome: 'stopped', firstByteAt: exchange.firstByteAt })
        return { kind: 'stopped', records: this.records }
      case 'broken':
        this.#record(leg, target, { startedAt, outcome: 'gateway error', firstByteAt: exchange.firstByteAt })
        return { kind: 'broken', error: verdict.error, records: this.records }
      case 'failed':
        return this.#failed(leg, target, { startedAt, exchange, failure: verdict.failure })
    }
  }

  #failed(
    leg: Leg,
    target: Route,
    tried: { readonly startedAt: number; readonly exchange: Exchange; readonly failure: AttemptFailure },
  ): AttemptOutcome {
    const { startedAt, exchange, failure } = tried
    const pipeline = this.#gateway
    const failureClass = classifyAttempt(this.#call.catalogue, leg, failure)
    this.#record(leg, target, {
      startedAt,
      outcome: failureClass.kind,
      status: failure.kind === 'status' ? failure.status : undefined,
      said: noteOfFailure({ leg, kind: failureClass.kind, at: startedAt }, failure).message,
      firstByteAt: exchange.firstByteAt,
    })
    const replayed = failureClass.kind === 'request' && exchange.replays
    return {
      kind: 'failed',
      failure: {
        kind: 'upstream',
        leg,
        failure,
        class: failureClass,
        replayed,
        waitedMs: pipeline.now() - startedAt,
      },
      records: this.records,
    }
  }

  #legOf(target: Route, chain: Chain, previous: FinalFailure | undefined): Leg {
    const byok = target.funding.byokVendors.includes(chain.vendorCode)
    return { chain, model: target.model, byok, why: this.#reasonOf(target, chain, previous) }
  }

  #reasonOf(target: Route, chain: Chain, previous: FinalFailure | undefined): AttemptRecord['why'] {
    if (previous !== undefined) return 'failover'
    if (target.fallback) return 'fallback'
    const rivals = target.order.chains.filter((other) => other.priority === chain.priority)
    return rivals.length > 1 ? 'weight' : 'priority'
  }

  /** Nothing more is tried, whatever is left. */
  get isSpent(): boolean {
    return this.#expired || this.#tries.clientGone() || this.records.length >= TRIES_PER_CALL_MAX
  }

  #nothingToTry(target: Route): FinalFailure {
    const until = target.order.rateLimitedUntil
    if (until === undefined) return { kind: 'no-chain' }
    return { kind: 'rate-limited', retryAfterMs: until - this.#gateway.now() }
  }

  #record(
    leg: Leg,
    target: Route,
    what: {
      readonly startedAt: number
      readonly outcome: string
      readonly status?: number | undefined
      readonly said?: string
      readonly firstByteAt?: number | undefined
    },
  ): void {
    const { at } = this.#call
    this.records.push({
      chainId: leg.chain.id,
      vendorCode: leg.chain.vendorCode,
      modelId: leg.model.modelId,
      why: leg.why,
      skipped: target.order.skipped.map(({ chain, reason }) => ({ chainId: chain.id, reason })),
      outcome: what.outcome,
      status: what.status,
      ...(what.said === undefined ? {} : { said: what.said }),
      startedMs: what.startedAt - at,
      firstByteMs: what.firstByteAt === undefined ? undefined : what.firstByteAt - at,
      endedMs: this.#gateway.now() - at,
      cooldownMs: undefined,
    })
    this.#gateway.telemetry.metrics.attemptEnded({ chain: leg.chain.id, outcome: what.outcome })
  }
}
