/**
 * Tries the chains of a model, then those of its fallback, until one begins to answer. Everything tried is recorded:
 * which chain, why it was chosen, what was passed over, what came of it.
 */
import type { AttemptRecord } from '../core/calls/log-row.ts'
import type { Chain, Model } from '../core/catalogue.ts'
import type { JsonObject } from '../core/json.ts'
import { CONSEQUENCES } from '../core/routing/failure.ts'
import type { ChainFailure } from '../core/routing/health.ts'
import { refusesSignatures } from '../core/routing/signature-refusal.ts'
import type { ReservedCall } from './call.ts'
import { giveCredentialBack } from './claim-credential.ts'
import { classifyAttempt, parseJson } from './classify.ts'
import type { AttemptFailure, Exchange } from './exchange.ts'
import type { Gateway } from './gateway.ts'
import { openExchange } from './open-exchange.ts'
import type { ClientReply } from './reply.ts'
import { type Route, route, routeFallback } from './route.ts'

/** What all attempts together came to. */
export type Attempted =
  | {
      readonly kind: 'answering'
      readonly leg: Leg
      readonly exchange: Exchange
      readonly records: AttemptRecord[]
    }
  | { readonly kind: 'failed'; readonly failure: FinalFailure; readonly records: AttemptRecord[] }
  | { readonly kind: 'gone'; readonly records: AttemptRecord[] }
  /** Something inside the gateway broke; the call still leaves by a door. */
  | { readonly kind: 'broken'; readonly error: unknown; readonly records: AttemptRecord[] }

/** One chain of one model, with who pays for it. */
export interface Leg {
  readonly chain: Chain
  readonly model: Model
  readonly byok: boolean
  readonly why: AttemptRecord['why']
  /** The upstream could not read the signed reasoning of the history: it goes without. */
  readonly unsigned?: true
}

export type FinalFailure =
  | {
      readonly kind: 'upstream'
      readonly leg: Leg
      readonly failure: AttemptFailure
      readonly class: ChainFailure
      /** The request sent signed reasoning back. */
      readonly replayed: boolean
    }
  | { readonly kind: 'rate-limited'; readonly retryAfterMs: number }
  | { readonly kind: 'no-chain' }
  /** The request cannot be said in any chain's protocol. */
  | { readonly kind: 'unconvertible'; readonly message: string; readonly details: JsonObject | undefined }

export async function attempt(gateway: Gateway, call: ReservedCall, reply: ClientReply): Promise<Attempted> {
  const run = new AttemptRun(gateway, call, reply)
  try {
    const requested = await run.tryRoute(route(gateway, call))
    if (requested.kind !== 'failed' || !run.fallbackAllowed(requested.failure)) return requested
    const second = routeFallback(gateway, call)
    if (second === undefined) return requested
    const answered = await run.tryRoute(second)
    // Contract §1.7: when the fallback fails as well, the client gets the original error.
    return answered.kind === 'failed' ? requested : answered
  } catch (error) {
    return { kind: 'broken', error, records: run.records }
  } finally {
    run.close()
  }
}

/** A broken connection is worth one more try on the same chain: nothing was sent back. */
const TRIES_PER_CHAIN_MAX = 2
/** Bounds one call's work whatever the catalogue holds. */
const TRIES_PER_CALL_MAX = 16

class AttemptRun {
  readonly #gateway: Gateway
  readonly #call: ReservedCall
  readonly #reply: ClientReply
  readonly records: AttemptRecord[] = []
  readonly #deadline: NodeJS.Timeout
  #current: Exchange | undefined
  #expired = false

  constructor(gateway: Gateway, call: ReservedCall, reply: ClientReply) {
    this.#gateway = gateway
    this.#call = call
    this.#reply = reply
    this.#deadline = setTimeout(() => {
      this.#expired = true
      this.#current?.expire()
    }, gateway.limits.answerDeadlineMs)
    this.#deadline.unref()
  }

  close(): void {
    clearTimeout(this.#deadline)
  }

  async tryRoute(target: Route): Promise<Attempted> {
    let told: FinalFailure | undefined
    let previous: 'failed' | undefined
    for (const chain of target.order.chains) {
      const leg = this.#legOf(target, chain, previous)
      const result = await this.#tryChain(leg, target)
      if (result.kind !== 'failed') return result
      // An upstream that blames the request has answered it; no other chain would say otherwise.
      if (result.failure.kind === 'upstream' && !CONSEQUENCES[result.failure.class.kind].nextChain)
        return result
      told = moreTelling(told, result.failure)
      if (this.#spent()) break
      if (result.failure.kind !== 'rate-limited') await giveCredentialBack(this.#gateway, this.#call, leg)
      previous = 'failed'
    }
    return { kind: 'failed', failure: told ?? this.#nothingToTry(target), records: this.records }
  }

  fallbackAllowed(failure: FinalFailure): boolean {
    if (this.#spent()) return false
    return failure.kind === 'upstream'
      ? CONSEQUENCES[failure.class.kind].fallback
      : failure.kind !== 'unconvertible'
  }

  /** One chain, once more when the connection itself broke, and once without the reasoning it cannot read. */
  async #tryChain(leg: Leg, target: Route): Promise<Attempted> {
    const result = await this.#tryConnected(leg, target)
    if (!refusedSignatures(result) || this.#spent()) return result
    return this.#tryConnected({ ...leg, why: 'retry', unsigned: true }, target)
  }

  async #tryConnected(leg: Leg, target: Route): Promise<Attempted> {
    let result = await this.#tryOnce(leg, target)
    for (let tries = 1; tries < TRIES_PER_CHAIN_MAX; tries += 1) {
      const again =
        result.kind === 'failed' &&
        result.failure.kind === 'upstream' &&
        CONSEQUENCES[result.failure.class.kind].sameChainAgain
      if (!again || this.#spent()) return result
      result = await this.#tryOnce({ ...leg, why: 'retry' }, target)
    }
    return result
  }

  async #tryOnce(leg: Leg, target: Route): Promise<Attempted> {
    const gateway = this.#gateway
    const startedAt = gateway.now()
    const opened = await openExchange(gateway, this.#call, leg, this.#reply)
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
    switch (verdict.kind) {
      case 'committed':
        gateway.health.succeeded(leg.chain, gateway.now())
        this.#record(leg, target, {
          startedAt,
          outcome: 'answered',
          status: exchange.status,
          firstByteAt: exchange.firstByteAt,
        })
        return { kind: 'answering', leg, exchange, records: this.records }
      case 'gone':
        this.#record(leg, target, { startedAt, outcome: 'client gone', firstByteAt: exchange.firstByteAt })
        return { kind: 'gone', records: this.records }
      case 'failed':
        return this.#failed(leg, target, { startedAt, exchange, failure: verdict.failure })
    }
  }

  #failed(
    leg: Leg,
    target: Route,
    tried: { readonly startedAt: number; readonly exchange: Exchange; readonly failure: AttemptFailure },
  ): Attempted {
    const { startedAt, exchange, failure } = tried
    const gateway = this.#gateway
    const failureClass = classifyAttempt(gateway, leg, failure)
    this.#record(leg, target, {
      startedAt,
      outcome: failureClass.kind,
      status: failure.kind === 'status' ? failure.status : undefined,
      firstByteAt: exchange.firstByteAt,
      cooldownMs: leg.byok ? undefined : gateway.health.failed(leg.chain, failureClass, gateway.now()),
    })
    const replayed = failureClass.kind === 'request' && exchange.replays
    return {
      kind: 'failed',
      failure: { kind: 'upstream', leg, failure, class: failureClass, replayed },
      records: this.records,
    }
  }

  #legOf(target: Route, chain: Chain, previous: 'failed' | undefined): Leg {
    const byok = target.funding.byokVendors.includes(chain.vendorCode)
    return { chain, model: target.model, byok, why: this.#reasonOf(target, chain, previous) }
  }

  #reasonOf(target: Route, chain: Chain, previous: 'failed' | undefined): AttemptRecord['why'] {
    if (previous !== undefined) return 'failover'
    if (target.fallback) return 'fallback'
    const rivals = target.order.chains.filter((other) => other.priority === chain.priority)
    return rivals.length > 1 ? 'weight' : 'priority'
  }

  #spent(): boolean {
    return this.#expired || this.#reply.gone || this.records.length >= TRIES_PER_CALL_MAX
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
      readonly firstByteAt?: number | undefined
      readonly cooldownMs?: number | undefined
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
      startedMs: what.startedAt - at,
      firstByteMs: what.firstByteAt === undefined ? undefined : what.firstByteAt - at,
      endedMs: this.#gateway.now() - at,
      cooldownMs: what.cooldownMs,
    })
    this.#gateway.telemetry.metrics.attemptEnded({ chain: leg.chain.id, outcome: what.outcome })
  }
}

/** The upstream refused the request for the reasoning in its history (reference §0, rule 7). */
function refusedSignatures(result: Attempted): boolean {
  if (result.kind !== 'failed' || result.failure.kind !== 'upstream' || !result.failure.replayed) return false
  const { failure } = result.failure
  switch (failure.kind) {
    case 'status':
      return refusesSignatures({
        status: failure.status,
        headers: failure.headers,
        body: parseJson(failure.body),
      })
    case 'answer':
      return (
        failure.answer.kind === 'error' &&
        refusesSignatures({ status: failure.answer.status ?? 200, headers: {}, body: failure.answer.raw })
      )
    case 'transport':
    case 'deadline':
      return false
  }
}

/**
 * Of all failures the client gets the first real upstream error (decisions, Errors): an upstream's own words go before a
 * refusal of the platform's credential, that before a time-out, that before a connection that never was.
 */
function moreTelling(known: FinalFailure | undefined, next: FinalFailure): FinalFailure {
  // Whichever credential has room first is worth waiting for.
  if (known?.kind === 'rate-limited' && next.kind === 'rate-limited')
    return next.retryAfterMs < known.retryAfterMs ? next : known
  return known === undefined || rank(next) > rank(known) ? next : known
}

function rank(failure: FinalFailure): number {
  switch (failure.kind) {
    case 'no-chain':
      return 0
    case 'rate-limited':
      return 1
    case 'upstream':
      return rankOfUpstream(failure.failure)
    case 'unconvertible':
      return 6
  }
}

function rankOfUpstream(failure: AttemptFailure): number {
  switch (failure.kind) {
    case 'transport':
      return failure.transport.kind.endsWith('timeout') ? 3 : 2
    case 'deadline':
      return 3
    case 'status':
      return isCredentialRefusal(failure.status) ? 4 : 5
    case 'answer':
      return failure.answer.kind === 'error' ? 5 : 2
  }
}

/** The upstream refuses the credential it was called with, not the client's request. */
export function isCredentialRefusal(status: number): boolean {
  return status === 401 || status === 402 || status === 403
}
