/**
 * Orders a task upstream: one chain after the other, but only as long as it is certain that none of them has it. Once an
 * order may have arrived it is never sent again, to nobody (decisions, Video).
 */
import type { AttemptRecord } from '../../../core/calls/log-row.ts'
import type { Chain } from '../../../core/catalogue.ts'
import { CONSEQUENCES } from '../../../core/routing/failure.ts'
import type { ChainOrder } from '../../../core/routing/order.ts'
import type { VideoTaskError } from '../../../core/video/task.ts'
import type { ReserveOutcome } from '../../../core/calls/operations.ts'
import type { Catalogue, Model } from '../../../core/catalogue.ts'
import type { CallId } from '../../../core/ids.ts'
import type { ReceivedBody } from '../../call.ts'
import { giveCredentialBack } from '../../attempt/claim-credential.ts'
import { NOTE_CHARACTERS_MAX } from '../../attempt/error-note.ts'
import type { Pipeline } from '../../context.ts'
import type { ChainRun } from '../../instance/health-board.ts'
import type { Route } from '../../attempt/route.ts'
import { applyStep } from '../task/apply-step.ts'
import { endFailed } from '../task/end-task.ts'
import type { OpenTask } from './open-task.ts'
import { beginSearch } from '../task/search.ts'
import { mayMoveOn, type OrderOutcome } from './send-order.ts'
import { gatewayFailure } from '../task/task-error.ts'
import { whileAway } from '../task/while-away.ts'
import type { Leg } from '../../attempt/leg.ts'

const TRIES_MAX = 16

/** A reserved call whose answer is a task, whatever it makes. */
export interface TaskOrder {
  readonly callId: CallId
  readonly requestId: string
  readonly at: number
  readonly body: Pick<ReceivedBody, 'release'>
  readonly catalogue: Catalogue
  readonly model: Model
  readonly fallback: Model | undefined
  readonly reservation: Extract<ReserveOutcome, { kind: 'reserved' }>
}

/** How one kind of task is ordered. */
export interface Ordering {
  /** The chains of a model that can make it. */
  chainsOf(target: Omit<Route, 'order'>): ChainOrder
  /** One try over one chain. */
  send(work: { readonly open: OpenTask; readonly leg: Leg }): Promise<OrderOutcome>
  /** The client named the vendor. */
  readonly pinned: boolean
}

/** Never rejects: whatever goes wrong ends the task, or leaves it to the poller. */
export async function createUpstream(
  pipeline: Pipeline,
  order: TaskOrder,
  { open, ordering }: { readonly open: OpenTask; readonly ordering: Ordering },
): Promise<void> {
  const creation = new Creation(pipeline, order, { open, ordering })
  try {
    await creation.run()
  } catch (error) {
    const { id } = open.task
    pipeline.telemetry.log.error(
      { requestId: order.requestId, taskId: id, error },
      'the order of a task broke off',
    )
    await creation.giveUp()
  } finally {
    order.body.release()
    pipeline.videos.creating.delete(open.task.id)
  }
}

/** What became of one model's chains. */
type RouteOutcome =
  /** The task is ordered, has ended, or is another instance's. */
  | { readonly kind: 'over' }
  /** It is certain that no chain has it. */
  | { readonly kind: 'failed'; readonly error: VideoTaskError; readonly fallback: boolean }

interface Try {
  readonly run: ChainRun
  /** The chain is not tried once more, whatever comes of it. */
  readonly last: boolean
}

/** `again`: a connection that never was is worth one more try on the same chain. */
interface Tried {
  readonly kind: 'done' | 'again'
  readonly outcome: OrderOutcome
}

class Creation {
  readonly #gateway: Pipeline
  readonly #order: TaskOrder
  readonly #ordering: Ordering
  readonly #records: AttemptRecord[] = []
  #open: OpenTask
  /** From the moment an order may have left, only the poller ends the task. */
  #left = false

  constructor(
    pipeline: Pipeline,
    order: TaskOrder,
    { open, ordering }: { readonly open: OpenTask; readonly ordering: Ordering },
  ) {
    this.#gateway = pipeline
    this.#order = order
    this.#ordering = ordering
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
          await whileAway(() => applyStep(this.#gateway, this.#recorded(), outcome.step))
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
    const { health, now } = this.#gateway
    const run = health.begin(leg.chain, { own: leg.byok, now: now() })
    try {
      const outcome = await this.#tryOnce(leg, target, { run, last: false })
      if (outcome.kind !== 'again') return outcome.outcome
      return (await this.#tryOnce({ ...leg, why: 'retry' }, target, { run, last: true })).outcome
    } finally {
      run.withdrawn()
    }
  }

  async #tryOnce(leg: Leg, target: Route, { run, last }: Try): Promise<Tried> {
    const pipeline = this.#gateway
    const startedAt = pipeline.now()
    this.#left = true
    const outcome = await this.#ordering.send({ open: this.#open, leg })
    if (outcome.kind === 'refused' || outcome.kind === 'skipped') this.#left = false
    if ('open' in outcome) this.#open = outcome.open
    const again = !last && outcome.kind === 'refused' && CONSEQUENCES[outcome.class.kind].sameChainAgain
    const cooldownMs = again ? undefined : noteOutcome(run, outcome, pipeline.now())
    this.#record(leg, target, { startedAt, outcome, cooldownMs })
    return { kind: again ? 'again' : 'done', outcome }
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
    return { ...target, order: this.#ordering.chainsOf(target) }
  }

  #legOf(target: Route, chain: Chain, failedBefore: boolean): Leg {
    const byok = target.funding.byokVendors.includes(chain.vendorCode)
    return { chain, model: target.model, byok, why: this.#reasonOf(target, chain, failedBefore) }
  }

  #reasonOf(target: Route, chain: Chain, failedBefore: boolean): AttemptRecord['why'] {
    if (failedBefore) return 'failover'
    if (target.fallback) return 'fallback'
    if (this.#ordering.pinned) return 'pinned'
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

/** What the try says about the chain; gives how long it rests, ms. */
function noteOutcome(run: ChainRun, outcome: OrderOutcome, now: number): number | undefined {
  if (outcome.kind === 'accepted') run.succeeded(now)
  if (!('class' in outcome)) return undefined
  const { message, code } = outcome.error
  return run.failed(outcome.class, now, {
    at: now,
    kind: outcome.class.kind,
    status: outcome.status,
    code,
    message: message.slice(0, NOTE_CHARACTERS_MAX),
  })
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
