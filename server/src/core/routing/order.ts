/**
 * In what order the chains of a model are tried (docs/reference/contract.md#1-41): availability, rate-limit state,
 * priority, weight.
 */
import type { Catalogue, Chain, ChainProtocol, Model } from '../catalogue.ts'
import type { VendorCode } from '../ids.ts'
import { type ChainHealth, isFull, isProbeDue } from './health.ts'

export interface RoutingState {
  readonly now: number
  /** As it applies to the account (`asSeenByOwner`). */
  readonly healthOf: (chain: Chain) => ChainHealth
  /** A number in [0, 1): decides among equal priorities by weight. */
  readonly draw: () => number
  /** Whether a chain of this vendor can be paid for (BYOK of its vendor, or the account's funds). */
  readonly mayUse: (vendor: VendorCode) => boolean
  /** Protocols a chain may speak for this client: its own for passthrough, or any that converts. */
  readonly speaks: (protocol: Chain['protocol']) => boolean
  /** Chains of this protocol go first among equal priorities: nothing has to be converted. */
  readonly preferred: ChainProtocol
  /** The vendor the client asked for (docs/reference/contract.md#1-45); undefined: any. */
  readonly pinned?: VendorCode | undefined
  /**
   * Whether a chain can answer this call at all: a conversation kept upstream can only continue there. Absent: all can.
   */
  readonly mayAnswer?: (chain: Chain) => boolean
  /** Chains that go first among equal priorities, because they can read the reasoning in the history. Absent: none. */
  readonly favoured?: (chain: Chain) => boolean
}

export interface Skipped {
  readonly chain: Chain
  readonly reason: SkipReason
  /** Epoch ms: when that ends, if it ends by itself. */
  readonly until?: number
}

export type SkipReason =
  | 'disabled'
  | 'vendor-disabled'
  | 'unfunded'
  | 'protocol'
  | 'other-vendor'
  | 'kept-elsewhere'
  | 'credential-full'
  | StandingReason

export interface ChainOrder {
  readonly chains: readonly Chain[]
  readonly skipped: readonly Skipped[]
  /** Set when nothing can be tried only because of rate limits: the earliest end, epoch ms (42904). */
  readonly rateLimitedUntil: number | undefined
}

/**
 * Ready chains first; a chain whose pause is over is ready again for the one call that probes it. Then chains whose
 * upstream asked for fewer calls, if one may be let through, then chains in a cooldown: last instead of never.
 */
export function orderChains(model: Model, catalogue: Catalogue, state: RoutingState): ChainOrder {
  const ready: Chain[] = []
  const others: { readonly chain: Chain; readonly standing: Standing }[] = []
  const skipped: Skipped[] = []
  let rateLimitedUntil: number | undefined
  for (const chain of model.chains) {
    const reason = unusable(chain, catalogue, state)
    if (reason !== undefined) {
      skipped.push({ chain, reason })
      continue
    }
    const standing = standingOf(state.healthOf(chain), state.now)
    if (standing.reason === undefined) {
      ready.push(chain)
      continue
    }
    skipped.push({ chain, reason: standing.reason, until: standing.until })
    if (standing.kind === 'shut')
      rateLimitedUntil = Math.min(rateLimitedUntil ?? Number.POSITIVE_INFINITY, standing.until)
    else others.push({ chain, standing })
  }
  others.sort((one, other) => compareStandings(one.standing, other.standing))
  const chains = [...byPriority(ready, state), ...others.map(({ chain }) => chain)]
  return { chains, skipped, rateLimitedUntil: chains.length === 0 ? rateLimitedUntil : undefined }
}

/** The next of the remaining chains to try, in their order, by their present standing. */
export function nextChain(
  left: readonly Chain[],
  { now, healthOf }: Pick<RoutingState, 'now' | 'healthOf'>,
): { readonly chain: Chain; readonly standing: Standing } | undefined {
  let best: { readonly chain: Chain; readonly standing: Standing } | undefined
  for (const chain of left) {
    const standing = standingOf(healthOf(chain), now)
    if (standing.kind === 'ready') return { chain, standing }
    if (best === undefined || compareStandings(standing, best.standing) < 0) best = { chain, standing }
  }
  return best
}

/** A model has a usable chain when one could be tried if it were healthy. */
export function usableChains(model: Model, catalogue: Catalogue): readonly Chain[] {
  return model.chains.filter((chain) => switchedOff(chain, catalogue) === undefined)
}

function unusable(chain: Chain, catalogue: Catalogue, state: RoutingState): SkipReason | undefined {
  const off = switchedOff(chain, catalogue)
  if (off !== undefined) return off
  if (!state.speaks(chain.protocol)) return 'protocol'
  if (state.pinned !== undefined && chain.vendorCode !== state.pinned) return 'other-vendor'
  if (state.mayAnswer?.(chain) === false) return 'kept-elsewhere'
  return state.mayUse(chain.vendorCode) ? undefined : 'unfunded'
}

function switchedOff(chain: Chain, catalogue: Catalogue): SkipReason | undefined {
  if (chain.status !== 'enabled') return 'disabled'
  const vendor = catalogue.vendors.get(chain.vendorCode)
  const credential = catalogue.credentials.get(chain.credentialId)
  return vendor?.status === 'enabled' && credential?.status === 'enabled' ? undefined : 'vendor-disabled'
}

function byPriority(chains: readonly Chain[], state: RoutingState): Chain[] {
  if (chains.length < 2) return [...chains]
  const keyed = chains.map((chain) => ({
    chain,
    lot: lotOf(chain, state),
    favoured: state.favoured?.(chain) === true,
  }))
  keyed.sort(
    (one, other) =>
      one.chain.priority - other.chain.priority ||
      Number(other.favoured) - Number(one.favoured) ||
      Number(other.chain.protocol === state.preferred) - Number(one.chain.protocol === state.preferred) ||
      other.lot - one.lot ||
      one.chain.id - other.chain.id,
  )
  return keyed.map((entry) => entry.chain)
}

/** Weighted order without replacement: the largest of draw^(1/weight) goes first. */
function lotOf({ weight }: Chain, { draw }: RoutingState): number {
  return weight > 0 ? draw() ** (1 / weight) : 0
}

/** Whether the next call may use a chain, by its health. */
export interface Standing {
  /**
   * `ready`: like any other. `extra`: the upstream asked for fewer calls, but one may be let through if no other chain
   * is left. `last-resort`: it is in a cooldown; an attempt that may work is better than a certain refusal. `shut`: not
   * now.
   */
  readonly kind: 'ready' | 'extra' | 'last-resort' | 'shut'
  /** Why it is not ready. */
  readonly reason: StandingReason | undefined
  /** Epoch ms: when that ends, as far as known; 0 when ready. */
  readonly until: number
}

/**
 * `probing`: the pause is over, and a call in progress probes the chain. `full`: as many calls run as the upstream was
 * observed to accept.
 */
export type StandingReason = 'cooling-down' | 'probing' | 'rate-limited' | 'full'

/** A chain's health in one word, for operators. */
export type HealthWord = 'healthy' | 'failing' | 'rate-limited' | 'probing' | 'cooling-down'

/** `probing`: the pause is over, and the next call, or one in progress, probes the chain. `now` in epoch ms. */
export function healthWord(
  { cooldown, rateLimit, lowered, failuresInRow }: ChainHealth,
  now: number,
): HealthWord {
  if (cooldown !== undefined) return cooldown.until > now ? 'cooling-down' : 'probing'
  if ((rateLimit !== undefined && rateLimit.until > now) || lowered !== undefined) return 'rate-limited'
  return failuresInRow > 0 ? 'failing' : 'healthy'
}

const READY: Standing = { kind: 'ready', reason: undefined, until: 0 }

export function standingOf(health: ChainHealth, now: number): Standing {
  const { cooldown, rateLimit, lowered } = health
  if (cooldown === undefined && rateLimit === undefined && lowered === undefined) return READY
  const limit = limitOf(health, now)
  if (limit !== undefined && now < limit.nextAt)
    return { kind: 'shut', reason: limit.reason, until: limit.until }
  if (cooldown !== undefined && !isProbeDue(cooldown, now)) {
    const probing = now >= cooldown.until
    const until = probing ? (cooldown.probe?.until ?? cooldown.until) : cooldown.until
    return { kind: 'last-resort', reason: probing ? 'probing' : 'cooling-down', until }
  }
  return limit === undefined ? READY : { kind: 'extra', reason: limit.reason, until: limit.until }
}

interface Limit {
  readonly reason: 'rate-limited' | 'full'
  readonly until: number
  readonly nextAt: number
}

function limitOf(health: ChainHealth, now: number): Limit | undefined {
  const { rateLimit, lowered } = health
  if (rateLimit !== undefined && now < rateLimit.until)
    return { reason: 'rate-limited', until: rateLimit.until, nextAt: rateLimit.nextAt }
  // It cannot be known whether a place will be free at that time; the call is let through then all the same.
  if (lowered !== undefined && isFull(health))
    return { reason: 'full', until: lowered.nextAt, nextAt: lowered.nextAt }
  return undefined
}

const PREFERENCE: readonly Standing['kind'][] = ['ready', 'extra', 'last-resort', 'shut']

/**
 * Negative: the first is to be tried before the second. Of those that are not ready, the one that is ready again first.
 */
export function compareStandings(one: Standing, other: Standing): number {
  return PREFERENCE.indexOf(one.kind) - PREFERENCE.indexOf(other.kind) || one.until - other.until
}
