/**
 * Orders a task upstream: one chain after the other, but only as long as it is certain that none of them has it. Once an
 * order may have arrived it is never sent again, to nobody (decisions, Video).
 */
import type { AttemptRecord } from '../../core/calls/log-row.ts'
import type { Chain } from '../../core/catalogue.ts'
import { CONSEQUENCES } from '../../core/routing/failure.ts'
import { orderChains } from '../../core/routing/order.ts'
import type { VideoTaskError } from '../../core/video/task.ts'
import type { Leg } from '../attempt.ts'
import { giveCredentialBack } from '../claim-credential.ts'
import type { Gateway } from '../gateway.ts'
import type { Route } from '../route.ts'
import { applyStep } from './apply-step.ts'
import { endFailed } from './end-task.ts'
import type { OpenTask } from './open-task.ts'
import { openInputCache } from './prepare-inputs.ts'
import { beginSearch } from './search.ts'
import { mayMoveOn, type OrderOutcome, sendOrder } from './send-order.ts'
import { gatewayFailure } from './task-error.ts'
import type { ReservedVideo } from './video-call.ts'

/** A connection that never was is worth one more try on the same chain. */
const TRIES_PER_CHAIN_MAX = 2
const TRIES_MAX = 16

/** Never rejects: whatever goes wrong ends the task, or leaves it to the poller. */
export async function createUpstream(gateway: Gateway, order: ReservedVideo, open: OpenTask): Promise<void> {
  const creation = new Creation(gateway, order, open)
  try {
    await creation.run()
  } catch (error) {
    const { id } = open.task
    gateway.telemetry.log.error({ requestId: order.requestId, taskId: id, error }, 'a video order broke off')
    await creation.giveUp()
  } finally {
    order.body.release()
    gateway.videos.creating.delete(open.task.id)
  }
}

/** What became of one model's chains. */
type RouteOutcome =
  /** The task is ordered, has ended, or is another instance's. */
  | { readonly kind: 'over' }
  /** It is certain that no chain has it. */
  | { readonly kind: 'failed'; readonly error: VideoTaskError; readonly fallback: boolean }

class Creation {
  readonly #gateway: Gateway
  readonly #order: ReservedVideo
  readonly #inputs = openInputCache()
  readonly #records: AttemptRecord[] = []
  #open: OpenTask
  /** From the moment an order may have left, only the poller ends the task. */
  #left = false

  constructor(gateway: Gateway, order: ReservedVideo, open: OpenTask) {
    this.#gateway = gateway
    this.#order = order
    this.#open = open
  }

  async run(): Promise<void> {
    const requested = await this.#tryRoute(this.#route())
    if (requested.kind === 'over') return
    const fallback = requested.fallback ? this.#fallbackRoute() : undefined
    if (fallback !== undefined && (await this.#tryRoute(fallback)).kind === 'over') return
    // Contract §1.7: when the fallback fails as well, the client gets the original error.
    await this.#fail(requested.error)
  }

  /** Something inside the gateway broke: ended at once while it is certain that nothing left. */
  async giveUp(): Promise<void> {
    if (!this.#left) await this.#fail(gatewayFailure(50000))
  }

  async #tryRoute(target: Route): Promise<RouteOutcome> {
    let told: Told | undefined
    for (const chain of target.order.chains) {
      if (this.#records.length >= TRIES_MAX) break
      const leg = this.#legOf(target, chain, told !== undefined)
      const outcome = await this.#tryChain(leg, target)
      switch (outcome.kind) {
        case 'lost':
          return { kind: 'over' }
        case 'accepted':
          await applyStep(this.#gateway, this.#recorded(), outcome.step)
          return { kind: 'over' }
        case 'unknown':
          await beginSearch(this.#gateway, this.#recorded(), outcome.error)
          return { kind: 'over' }
        case 'refused':
          // A vendor that blames the order has answered it; no other chain would say otherwise.
          if (!mayMoveOn(outcome)) {
            const { fallback } = CONSEQUENCES[outcome.class.kind]
            return { kind: 'failed', error: outcome.error, fallback }
          }
          break
        case 'skipped':
          break
      }
      told = moreTelling(told, outcome)
      await giveCredentialBack(this.#gateway, this.#order, leg)
    }
    return { kind: 'failed', error: told?.error ?? this.#nothingToTry(target), fallback: true }
  }

  async #tryChain(leg: Leg, target: Route): Promise<OrderOutcome> {
    let outcome = await this.#tryOnce(leg, target)
    for (let tries = 1; tries < TRIES_PER_CHAIN_MAX; tries += 1) {
      const again = outcome.kind === 'refused' && CONSEQUENCES[outcome.class.kind].sameChainAgain
      if (!again) return outcome
      outcome = await this.#tryOnce({ ...leg, why: 'retry' }, target)
    }
    return outcome
  }

  async #tryOnce(leg: Leg, target: Route): Promise<OrderOutcome> {
    const gateway = this.#gateway
    const startedAt = gateway.now()
    this.#left = true
    const outcome = await sendOrder(gateway, {
      order: this.#order,
      open: this.#open,
      leg,
      inputs: this.#inputs,
    })
    if (outcome.kind === 'refused' || outcome.kind === 'skipped') this.#left = false
    if ('open' in outcome) this.#open = outcome.open
    this.#record(leg, target, { startedAt, outcome, cooldownMs: this.#note(leg, outcome) })
    return outcome
  }

  /** What the try says about the chain. */
  #note(leg: Leg, outcome: OrderOutcome): number | undefined {
    const { health, now } = this.#gateway
    if (leg.byok) return undefined
    if (outcome.kind === 'accepted') health.succeeded(leg.chain, now())
    return 'class' in outcome ? health.failed(leg.chain, outcome.class, now()) : undefined
  }

  #route(): Route {
    const { model, reservation } = this.#order
    return this.#routeOf({ model, funding: reservation.model, fallback: false })
  }

  /** When it was admitted and funded; it is routed like any model. */
  #fallbackRoute(): Route | undefined {
    const { fallback: model, reservation } = this.#order
    const funding = reservation.fallback
    if (model === undefined || funding === undefined || funding.kind === 'refused') return undefined
    return this.#routeOf({ model, funding, fallback: true })
  }

  #routeOf(target: Omit<Route, 'order'>): Route {
    const { now, health, draw } = this.#gateway
    const { funding } = target
    const order = orderChains(target.model, this.#order.catalogue, {
      now: now(),
      healthOf: (chain) => health.of(chain),
      draw,
      mayUse: (vendor) => funding.otherwise !== 'none' || funding.byokVendors.includes(vendor),
      speaks: (protocol) => protocol === 'video',
      preferred: 'video',
      pinned: this.#order.pinned,
    })
    return { ...target, order }
  }

  #legOf(target: Route, chain: Chain, failedBefore: boolean): Leg {
    const byok = target.funding.byokVendors.includes(chain.vendorCode)
    return { chain, model: target.model, byok, why: this.#reasonOf(target, chain, failedBefore) }
  }

  #reasonOf(target: Route, chain: Chain, failedBefore: boolean): AttemptRecord['why'] {
    if (failedBefore) return 'failover'
    if (target.fallback) return 'fallback'
    if (this.#order.pinned !== undefined) return 'pinned'
    const rivals = target.order.chains.filter((other) => other.priority === chain.priority)
    return rivals.length > 1 ? 'weight' : 'priority'
  }

  #nothingToTry(target: Route): VideoTaskError {
    const until = target.order.rateLimitedUntil
    return until === undefined
      ? gatewayFailure(50201)
      : gatewayFailure(42904, { retryAfterMs: until - this.#gateway.now() })
  }

  #record(
    leg: Leg,
    target: Route,
    tried: {
      readonly startedAt: number
      readonly outcome: OrderOutcome
      readonly cooldownMs: number | undefined
    },
  ): void {
    const { at } = this.#order
    const { outcome, startedAt } = tried
    const answered = 'status' in outcome && outcome.status !== undefined
    const endedMs = this.#gateway.now() - at
    const word = wordOf(outcome)
    this.#records.push({
      chainId: leg.chain.id,
      vendorCode: leg.chain.vendorCode,
      modelId: leg.model.modelId,
      why: leg.why,
      skipped: target.order.skipped.map(({ chain, reason }) => ({ chainId: chain.id, reason })),
      outcome: word,
      status: 'status' in outcome ? outcome.status : undefined,
      startedMs: startedAt - at,
      firstByteMs: answered ? endedMs : undefined,
      endedMs,
      cooldownMs: tried.cooldownMs,
    })
    this.#gateway.telemetry.metrics.attemptEnded({ chain: leg.chain.id, outcome: word })
  }

  /** The task with the attempts so far, which its log row tells. */
  #recorded(): OpenTask {
    const firstByteMs = this.#records.findLast((record) => record.firstByteMs !== undefined)?.firstByteMs
    const attempts = [...this.#records]
    return { ...this.#open, detail: { ...this.#open.detail, attempts, firstByteMs }, unwritten: true }
  }

  async #fail(error: VideoTaskError): Promise<void> {
    await endFailed(this.#gateway, this.#recorded(), error)
  }
}

interface Told {
  readonly error: VideoTaskError
  readonly rank: number
}

/** Of equals the first; of full credentials the first to have room again (decisions, Errors). */
function moreTelling(known: Told | undefined, next: Told): Told {
  if (known === undefined || next.rank > known.rank) return next
  const bothFull = known.error.gatewayCode === 42904 && next.error.gatewayCode === 42904
  return bothFull && (next.error.retryAfterMs ?? 0) < (known.error.retryAfterMs ?? 0) ? next : known
}

function wordOf(outcome: OrderOutcome): string {
  switch (outcome.kind) {
    case 'lost':
      return 'taken over'
    case 'skipped':
      return outcome.reason
    case 'accepted':
      return 'answered'
    case 'refused':
      return outcome.class.kind
    case 'unknown':
      return `unknown: ${outcome.class.kind}`
  }
}
