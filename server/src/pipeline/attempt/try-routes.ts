/**
 * Finds a chain that accepts a call of any kind: tries the chains of a model one after the other, then those of its
 * fallback. Every attempt is recorded: which chain, why it was chosen, what was skipped, and its result.
 */
import type { AttemptRecord } from '../../core/ledger/log-row.ts'
import type { Chain } from '../../core/catalogue.ts'
import { type BrokenKind, CONSEQUENCES, type FailureKind } from '../../core/routing/failure.ts'
import { nextChain } from '../../core/routing/order.ts'
import type { Pipeline } from '../context.ts'
import type { ChainRun } from '../instance/chains/health-board.ts'
import type { Leg } from './leg.ts'
import { healthFor, type Route } from './route.ts'

/** The result of one attempt over one chain. */
export type Tried<End, Failure> = { readonly note: TryNote } & SearchResult<End, Failure>

export type SearchResult<End, Failure> =
  /** Nothing more is tried, whether the call is answered or not. */
  { readonly kind: 'over'; readonly end: End } | { readonly kind: 'failed'; readonly failure: Failure }

/** What the record says about an attempt. */
export interface TryNote {
  /** `answered`, or the reason in one or two words. */
  readonly outcome: string
  /** Status of the upstream's answer. */
  readonly status?: number | undefined
  /** The vendor's own words, masked and bounded. */
  readonly said?: string | undefined
  /** Epoch ms. */
  readonly firstByteAt?: number | undefined
}

/** How calls of one kind are tried. */
export interface Trying<End, Failure> {
  tryOnce(leg: Leg): Promise<Tried<End, Failure>>
  /** What the upstream's failure is; undefined: nothing was sent. */
  classOf(failure: Failure): FailureKind | BrokenKind | undefined
  /** Which of two failures is reported to the client. */
  moreInformative(known: Failure | undefined, next: Failure): Failure
  /** All remaining chains have to wait this long, ms. */
  rateLimited(retryAfterMs: number): Failure
  noChain(): Failure
  mayFallBack(failure: Failure): boolean
  /** The same chain once more in another form, if that may help. */
  inOtherForm?(leg: Leg, failure: Failure): Leg | undefined
  /**
   * The attempts over one chain are one outcome, decided by the last of them. Returns the length of the chain's
   * cooldown, ms. `goes-on`: the answer continues, and its end decides.
   */
  reportToChain(run: ChainRun, tried: SearchResult<End, Failure>): number | 'goes-on' | undefined
  /** The call continues over another chain: gives back what it took of this one. */
  giveBack(leg: Leg, failure: Failure): Promise<void>
  /** Nothing more is to be tried: the client has disconnected, or the time has run out. */
  isOver(): boolean
  /** The client named the vendor. */
  readonly pinned: boolean
}

export interface Routes {
  readonly requested: Route
  /** The fallback model's route, made when it is needed; absent: the call has none. */
  readonly fallback: (() => Route | undefined) | undefined
}

/** A broken connection is worth one more attempt on the same chain: nothing was sent back. */
const TRIES_PER_CHAIN_MAX = 2
/** Limits one call's work whatever the catalogue contains. */
const TRIES_PER_CALL_MAX = 16

/**
 * A chain in a cooldown is the last resort of a call, so the fallback model goes before it. When that fails as well,
 * the client gets the original error (docs/reference/contract.md#1-52).
 */
export function tryRoutes<End, Failure>(
  search: ChainSearch<End, Failure>,
  { requested, fallback }: Routes,
): Promise<SearchResult<End, Failure>> {
  return fallback === undefined ? search.tryRoute(requested) : tryBoth(search, requested, fallback)
}

async function tryBoth<End, Failure>(
  search: ChainSearch<End, Failure>,
  requested: Route,
  fallback: NonNullable<Routes['fallback']>,
): Promise<SearchResult<End, Failure>> {
  const first = await search.tryRoute(requested, 'before-last-resorts')
  if (first.kind === 'over' || !search.mayFallBack(first.failure)) return first
  const second = fallback()
  const answered = second === undefined ? undefined : await search.tryRoute(second)
  if (answered?.kind === 'over') return answered
  return search.isSpent ? first : search.tryRoute(requested)
}

/** `before-last-resorts`: chains in a cooldown are left for later, since the call has other chains to try. */
type Until = 'before-last-resorts' | 'the end'

/** The state of the search in one route. */
interface Searched<Failure> {
  readonly route: Route
  readonly left: Chain[]
  told: Failure | undefined
}

export class ChainSearch<End, Failure> {
  /** One per attempt. */
  readonly records: AttemptRecord[] = []
  readonly #pipeline: Pick<Pipeline, 'now' | 'health' | 'telemetry'>
  /** When the call came in, epoch ms. */
  readonly #at: number
  readonly #trying: Trying<End, Failure>
  /** The requested model's, and the fallback's. */
  readonly #searched: Searched<Failure>[] = []

  constructor(
    pipeline: Pick<Pipeline, 'now' | 'health' | 'telemetry'>,
    { at }: { readonly at: number },
    trying: Trying<End, Failure>,
  ) {
    this.#pipeline = pipeline
    this.#at = at
    this.#trying = trying
  }

  /** Nothing more is tried, even if chains are left. */
  get isSpent(): boolean {
    return this.#trying.isOver() || this.records.length >= TRIES_PER_CALL_MAX
  }

  mayFallBack(failure: Failure): boolean {
    return !this.isSpent && this.#trying.mayFallBack(failure)
  }

  /** Tries what is left of the route. */
  tryRoute(route: Route, until: Until = 'the end'): Promise<SearchResult<End, Failure>> {
    return this.#tryLeft(this.#searchedOf(route), until)
  }

  #searchedOf(route: Route): Searched<Failure> {
    for (const searched of this.#searched) if (searched.route === route) return searched
    const searched: Searched<Failure> = { route, left: [...route.order.chains], told: undefined }
    this.#searched.push(searched)
    return searched
  }

  /** Mostly the first chain answers, so only what follows a failure is an asynchronous function (`core/soon.ts`). */
  #tryLeft(searched: Searched<Failure>, until: Until): Promise<SearchResult<End, Failure>> {
    const { route } = searched
    const leg = this.#nextLeg(searched, until)
    if (leg === undefined)
      return Promise.resolve({ kind: 'failed', failure: searched.told ?? this.#nothingToTry(route) })
    return this.#tryChain(leg, route).then((result) =>
      result.kind === 'over' ? result : this.#tryOthers(leg, result, searched, until),
    )
  }

  /** What is tried next, and taken from what is left; undefined: nothing. */
  #nextLeg(searched: Searched<Failure>, until: Until): Leg | undefined {
    const { route, left } = searched
    if (left.length === 0) return undefined
    const now = this.#pipeline.now()
    // The state of the chains may have changed since the order was made.
    const next = nextChain(left, { now, healthOf: healthFor(this.#pipeline, route.funding) })
    if (next === undefined) return undefined
    const { chain, standing } = next
    if (standing.kind === 'last-resort' && until === 'before-last-resorts') return undefined
    if (standing.kind === 'shut') {
      const limited = this.#trying.rateLimited(standing.until - now)
      searched.told = this.#trying.moreInformative(searched.told, limited)
      return undefined
    }
    left.splice(left.indexOf(chain), 1)
    return this.#legOf(route, chain, searched.told !== undefined)
  }

  async #tryOthers(
    leg: Leg,
    failed: SearchResult<End, Failure> & { readonly kind: 'failed' },
    searched: Searched<Failure>,
    until: Until,
  ): Promise<SearchResult<End, Failure>> {
    const trying = this.#trying
    const { failure } = failed
    // An upstream that blames the request has judged it; no other chain would answer differently.
    const failureClass = trying.classOf(failure)
    if (failureClass !== undefined && !CONSEQUENCES[failureClass].nextChain) return failed
    searched.told = trying.moreInformative(searched.told, failure)
    if (this.isSpent) return { kind: 'failed', failure: searched.told }
    await trying.giveBack(leg, failure)
    return this.#tryLeft(searched, until)
  }

  /** Tries one chain; once more if the connection itself broke, and once in another form. */
  async #tryChain(leg: Leg, route: Route): Promise<SearchResult<End, Failure>> {
    const { health, now } = this.#pipeline
    const run = health.begin(leg.chain, { own: leg.byok, now: now() })
    let goesOn = false
    try {
      let result = await this.#tryOnce(leg, route)
      if (result.kind === 'failed') result = await this.#tryFurther(leg, route, result)
      const told = this.#trying.reportToChain(run, result)
      goesOn = told === 'goes-on'
      if (typeof told === 'number') this.#noteRest(told)
      return result
    } finally {
      if (!goesOn) run.withdrawn()
    }
  }

  #noteRest(cooldownMs: number): void {
    const last = this.records.pop()
    if (last !== undefined) this.records.push({ ...last, cooldownMs })
  }

  async #tryFurther(
    leg: Leg,
    route: Route,
    first: SearchResult<End, Failure>,
  ): Promise<SearchResult<End, Failure>> {
    const result = await this.#tryConnected(leg, route, first)
    const other = result.kind === 'failed' ? this.#trying.inOtherForm?.(leg, result.failure) : undefined
    if (other === undefined || this.isSpent) return result
    return this.#tryConnected(other, route, await this.#tryOnce(other, route))
  }

  async #tryConnected(
    leg: Leg,
    route: Route,
    first: SearchResult<End, Failure>,
  ): Promise<SearchResult<End, Failure>> {
    let result = first
    for (let tries = 1; tries < TRIES_PER_CHAIN_MAX; tries += 1) {
      const failureClass = result.kind === 'failed' ? this.#trying.classOf(result.failure) : undefined
      const again = failureClass !== undefined && CONSEQUENCES[failureClass].sameChainAgain
      if (!again || this.isSpent) return result
      result = await this.#tryOnce({ ...leg, why: 'retry' }, route)
    }
    return result
  }

  #tryOnce(leg: Leg, route: Route): Promise<SearchResult<End, Failure>> {
    const startedAt = this.#pipeline.now()
    return this.#trying.tryOnce(leg).then((tried) => {
      this.#record(tried.note, { leg, route, startedAt })
      return tried
    })
  }

  #record(
    note: TryNote,
    { leg, route, startedAt }: { readonly leg: Leg; readonly route: Route; readonly startedAt: number },
  ): void {
    const at = this.#at
    const record: AttemptRecord = {
      chainId: leg.chain.id,
      vendorCode: leg.chain.vendorCode,
      modelId: leg.model.modelId,
      why: leg.why,
      skipped: skippedIn(route),
      outcome: note.outcome,
      status: note.status,
      startedMs: startedAt - at,
      firstByteMs: note.firstByteAt === undefined ? undefined : note.firstByteAt - at,
      endedMs: this.#pipeline.now() - at,
      cooldownMs: undefined,
    }
    this.records.push(note.said === undefined ? record : { said: note.said, ...record })
    this.#pipeline.telemetry.metrics.attemptEnded({ chain: leg.chain.id, outcome: note.outcome })
  }

  #legOf(route: Route, chain: Chain, failedBefore: boolean): Leg {
    const byok = route.funding.byokVendors.includes(chain.vendorCode)
    return { chain, model: route.model, byok, why: this.#reasonOf(route, chain, failedBefore) }
  }

  #reasonOf(route: Route, chain: Chain, failedBefore: boolean): AttemptRecord['why'] {
    if (failedBefore) return 'failover'
    if (route.fallback) return 'fallback'
    if (this.#trying.pinned) return 'pinned'
    const rivals = route.order.chains.filter((other) => other.priority === chain.priority)
    return rivals.length > 1 ? 'weight' : 'priority'
  }

  #nothingToTry({ order }: Route): Failure {
    const until = order.rateLimitedUntil
    if (until === undefined) return this.#trying.noChain()
    return this.#trying.rateLimited(until - this.#pipeline.now())
  }
}

const NOTHING_SKIPPED: readonly AttemptRecord['skipped'][number][] = []

function skippedIn({ order: { skipped } }: Route): AttemptRecord['skipped'] {
  if (skipped.length === 0) return NOTHING_SKIPPED
  return skipped.map(({ chain, reason }) => ({ chainId: chain.id, reason }))
}

/**
 * The attempts of a call once its answer has ended: the last one lasted until then, and one that broke did not answer.
 * @param records as of the beginning of the answer
 * @param endedMs from the start of the call
 * @param broke why it broke, and in whose words; undefined: it did not break
 */
export function endedRecords(
  records: readonly AttemptRecord[],
  endedMs: number,
  broke: Required<Pick<AttemptRecord, 'outcome' | 'said'>> | undefined,
): readonly AttemptRecord[] {
  const last = records.at(-1)
  if (last === undefined) return records
  // Copied whole, then filled: a spread among other properties takes eight times as long.
  const ended: { -readonly [Key in keyof AttemptRecord]: AttemptRecord[Key] } = { ...last }
  ended.endedMs = endedMs
  if (broke !== undefined) Object.assign(ended, broke)
  return records.length === 1 ? [ended] : [...records.slice(0, -1), ended]
}
