/**
 * Orders a task upstream: one chain after the other, but only while it is certain that none of them has it. Once an
 * order may have arrived, it is never sent again, to any vendor (docs/reference/contract.md#D-video-24).
 */
import { CONSEQUENCES } from '../../../core/routing/failure.ts'
import type { ChainFailure } from '../../../core/routing/health.ts'
import type { ChainOrder } from '../../../core/routing/order.ts'
import type { VideoTaskError } from '../../../core/video/task.ts'
import type { ReserveOutcome } from '../../../core/ledger/operations.ts'
import type { Catalogue, Model } from '../../../core/catalogue.ts'
import type { CallId } from '../../../core/ids.ts'
import type { ReceivedBody } from '../../call.ts'
import { giveCredentialBack } from '../../attempt/dialect.ts'
import type { Pipeline } from '../../context.ts'
import type { ChainRun } from '../../instance/chains/health-board.ts'
import type { Route } from '../../attempt/route.ts'
import {
  ChainSearch,
  type SearchResult,
  type Tried,
  type Trying,
  type TryNote,
  tryRoutes,
} from '../../attempt/try-routes.ts'
import { applyStep, type ApplyStepParts } from '../task/apply-step.ts'
import { endFailed } from '../task/end-task.ts'
import { type OpenTask, whileAway } from './open-task.ts'
import { beginSearch } from '../task/search.ts'
import { type OrderOutcome, RANK } from './send-order.ts'
import { gatewayFailure } from '../task/task-error.ts'
import type { Leg } from '../../attempt/leg.ts'

export type CreationParts = ApplyStepParts & Pick<Pipeline, 'health'>

/** A reserved call whose answer is a task of any kind. */
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
  /** The chains of a model that can make the task. */
  chainsOf(target: Omit<Route, 'order'>): ChainOrder
  /** One attempt over one chain. */
  send(work: { readonly open: OpenTask; readonly leg: Leg }): Promise<OrderOutcome>
  /** The client named the vendor. */
  readonly pinned: boolean
}

/** Never rejects: a failure ends the task, or leaves it to the poller. */
export async function createUpstream(
  pipeline: CreationParts,
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

/** The final result of an order: it was accepted, may have been, or belongs to another instance. */
type OrderEnd = Exclude<OrderOutcome, { readonly kind: 'refused' | 'skipped' }>
/** It is certain that this chain does not have it. */
type OrderFailure = Pick<Extract<OrderOutcome, { readonly kind: 'refused' }>, 'error' | 'rank'> & {
  readonly class?: ChainFailure
  readonly status?: number | undefined
  readonly said?: string | undefined
}
type Result = SearchResult<OrderEnd, OrderFailure>

class Creation implements Trying<OrderEnd, OrderFailure> {
  readonly #pipeline: CreationParts
  readonly #order: TaskOrder
  readonly #ordering: Ordering
  readonly #search: ChainSearch<OrderEnd, OrderFailure>
  #open: OpenTask
  /** From the moment an order may have been sent, only the poller ends the task. */
  #left = false

  constructor(
    pipeline: CreationParts,
    order: TaskOrder,
    { open, ordering }: { readonly open: OpenTask; readonly ordering: Ordering },
  ) {
    this.#pipeline = pipeline
    this.#order = order
    this.#ordering = ordering
    this.#open = open
    this.#search = new ChainSearch(pipeline, order, this)
  }

  async run(): Promise<void> {
    const { model, reservation } = this.#order
    const requested = this.#routeOf({ model, funding: reservation.model, fallback: false })
    const result = await tryRoutes(this.#search, { requested, fallback: () => this.#fallbackRoute() })
    if (result.kind === 'failed') return this.#fail(result.failure.error)
    const { end } = result
    if (end.kind === 'accepted') await whileAway(() => applyStep(this.#pipeline, this.#recorded(), end.step))
    else if (end.kind === 'unknown') await beginSearch(this.#pipeline, this.#recorded(), end.error)
  }

  /** Something inside the gateway failed: the task is ended at once while it is certain that nothing was sent. */
  async giveUp(): Promise<void> {
    if (!this.#left) await this.#fail(gatewayFailure(50000))
  }

  get pinned(): boolean {
    return this.#ordering.pinned
  }

  async tryOnce(leg: Leg): Promise<Tried<OrderEnd, OrderFailure>> {
    this.#left = true
    const outcome = await this.#ordering.send({ open: this.#open, leg })
    if ('open' in outcome) this.#open = outcome.open
    const note = this.#noteOf(outcome)
    if (outcome.kind !== 'refused' && outcome.kind !== 'skipped') return { kind: 'over', end: outcome, note }
    this.#left = false
    return { kind: 'failed', failure: outcome, note }
  }

  classOf(failure: OrderFailure) {
    return failure.class?.kind
  }

  /**
   * Of equally important ones the first; of rate-limited credentials the first to be free again
   * (docs/reference/contract.md#D-errors-37).
   */
  moreInformative(known: OrderFailure | undefined, next: OrderFailure): OrderFailure {
    if (known === undefined || next.rank > known.rank) return next
    const bothFull = known.error.gatewayCode === 42904 && next.error.gatewayCode === 42904
    return bothFull && (next.error.retryAfterMs ?? 0) < (known.error.retryAfterMs ?? 0) ? next : known
  }

  rateLimited(retryAfterMs: number): OrderFailure {
    return { error: gatewayFailure(42904, { retryAfterMs }), rank: RANK.rateLimited }
  }

  noChain(): OrderFailure {
    return { error: gatewayFailure(50201), rank: RANK.nothing }
  }

  mayFallBack(failure: OrderFailure): boolean {
    return failure.class === undefined || CONSEQUENCES[failure.class.kind].fallback
  }

  reportToChain(run: ChainRun, result: Result): number | undefined {
    const now = this.#pipeline.now()
    const told = result.kind === 'failed' ? result.failure : result.end
    if ('kind' in told && told.kind === 'accepted') run.succeeded(now)
    if (!('class' in told) || told.class === undefined) return undefined
    const { code } = told.error
    return run.failed(told.class, now, {
      at: now,
      kind: told.class.kind,
      status: told.status,
      code,
      message: told.said ?? told.error.message,
    })
  }

  giveBack(leg: Leg): Promise<void> {
    return giveCredentialBack(this.#pipeline, this.#order, leg)
  }

  /** An order continues without its client. */
  isOver(): boolean {
    return false
  }

  /** Used if it was admitted and funded; it is routed like any model. */
  #fallbackRoute(): Route | undefined {
    const { fallback: model, reservation } = this.#order
    const funding = reservation.fallback
    if (model === undefined || funding === undefined || funding.kind === 'refused') return undefined
    return this.#routeOf({ model, funding, fallback: true })
  }

  #routeOf(target: Omit<Route, 'order'>): Route {
    return { ...target, order: this.#ordering.chainsOf(target) }
  }

  #noteOf(outcome: OrderOutcome): TryNote {
    const status = 'status' in outcome ? outcome.status : undefined
    const firstByteAt = status === undefined ? undefined : this.#pipeline.now()
    return {
      outcome: wordOf(outcome),
      status,
      firstByteAt,
      ...('said' in outcome ? { said: outcome.said } : {}),
    }
  }

  /** The task with its attempts so far, for the log row. */
  #recorded(): OpenTask {
    const attempts = [...this.#search.records]
    const firstByteMs = attempts.findLast((record) => record.firstByteMs !== undefined)?.firstByteMs
    return { ...this.#open, detail: { ...this.#open.detail, attempts, firstByteMs }, unwritten: true }
  }

  async #fail(error: VideoTaskError): Promise<void> {
    await endFailed(this.#pipeline, this.#recorded(), error)
  }
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
