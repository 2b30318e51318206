/**
 * In what order the chains of a model are tried (docs/reference/contract.md#1-41): availability, rate-limit state,
 * priority, weight.
 */
import type { Catalogue, Chain, ChainProtocol, Model } from '../catalogue.ts'
import type { VendorCode } from '../ids.ts'
import { type ChainHealth, isFull, isProbeDue } from './health.ts'

export interface RoutingState {
  readonly now: number
  /** As the account sees it (`asSeenByOwner`). */
  readonly healthOf: (chain: Chain) => ChainHealth
  /** A number in [0, 1): decides among equal priorities by weight. */
  readonly draw: () => number
  /** Whether a chain may be paid for (BYOK of its vendor, or the account's funds). */
  readonly mayUse: (vendor: VendorCode) => boolean
  /** Protocols a chain may speak for this client: its own for passthrough, or any that converts. */
  readonly speaks: (protocol: Chain['protocol']) => boolean
  /** Chains of this protocol go first among equal priorities: nothing has to be converted. */
  readonly preferred: ChainProtocol
  /** The client names who shall do it (docs/reference/contract.md#1-45); undefined: whoever is best. */
  readonly pinned?: VendorCode | undefined
  /** Chains that can answer this call at all: a conversation kept upstream goes on where it is kept. Absent: every one. */
  readonly mayAnswer?: (chain: Chain) => boolean
  /** Go before the others among equal priorities: they read the reasoning in the history. Absent: none. */
  readonly favoured?: (chain: Chain) => boolean
}

export interface Skipped {
  readonly chain: Chain
  readonly reason: SkipReason
  /** Epoch ms: when that is over, where it passes by itself. */
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
 * upstream asked for fewer calls, where one may be let through, then chains that rest from failures: last instead of never.
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

/** What is tried next of the chains that are left, in their order, by how they stand now. */
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

/** How a chain stands for the next call, by its health. */
export interface Standing {
  /**
   * `ready`: like any other. `extra`: the upstream asked for fewer calls, but one may be let through where no other chain
   * is left. `last-resort`: it rests from failures; a try that may work beats a refusal that surely does not. `shut`: not now.
   */
  readonly kind: 'ready' | 'extra' | 'last-resort' | 'shut'
  /** Why it is not ready. */
  readonly reason: StandingReason | undefined
  /** Epoch ms: when that is over, as far as anybody knows; 0 when ready. */
  readonly until: number
}

/**
 * `probing`: the pause is over, and a call under way finds out how the chain is. `full`: as many calls run as the
 * upstream was seen to take.
 */
export type StandingReason = 'cooling-down' | 'probing' | 'rate-limited' | 'full'

/** How a chain is, in one word for operators. */
export type HealthWord = 'healthy' | 'failing' | 'rate-limited' | 'probing' | 'cooling-down'

/** `probing`: the pause is over, and the next call, or one under way, finds out how the chain is. `now` in epoch ms. */
export function healthWord(
  { rest, rateLimit, lowered, failuresInRow }: ChainHealth,
  now: number,
): HealthWord {
  if (rest !== undefined) return rest.until > now ? 'cooling-down' : 'probing'
  if ((rateLimit !== undefined && rateLimit.until > now) || lowered !== undefined) return 'rate-limited'
  return failuresInRow > 0 ? 'failing' : 'healthy'
}

const READY: Standing = { kind: 'ready', reason: undefined, until: 0 }

export function standingOf(health: ChainHealth, now: number): Standing {
  const { rest, rateLimit, lowered } = health
  if (rest === undefined && rateLimit === undefined && lowered === undefined) return READY
  const limit = limitOf(health, now)
  if (limit !== undefined && now < limit.nextAt)
    return { kind: 'shut', reason: limit.reason, until: limit.until }
  if (rest !== undefined && !isProbeDue(rest, now)) {
    const probing = now >= rest.until
    const until = probing ? (rest.probe?.until ?? rest.until) : rest.until
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
  // Whether a place is free when the next call may come nobody knows; it is let through then all the same.
  if (lowered !== undefined && isFull(health))
    return { reason: 'full', until: lowered.nextAt, nextAt: lowered.nextAt }
  return undefined
}

const PREFERENCE: readonly Standing['kind'][] = ['ready', 'extra', 'last-resort', 'shut']

/** Negative: the first is to be tried before the second. Of those that are not ready, whichever is over first. */
export function compareStandings(one: Standing, other: Standing): number {
  return PREFERENCE.indexOf(one.kind) - PREFERENCE.indexOf(other.kind) || one.until - other.until
}
