/** In what order the chains of a model are tried (contract §1.6): availability, rate-limit state, priority, weight. */
import type { Catalogue, Chain, ChainProtocol, Model } from '../catalogue.ts'
import type { VendorCode } from '../ids.ts'
import type { ChainHealth } from './health.ts'

export interface RoutingState {
  readonly now: number
  readonly healthOf: (chain: Chain) => ChainHealth
  /** A number in [0, 1): decides among equal priorities by weight. */
  readonly draw: () => number
  /** Whether a chain may be paid for (BYOK of its vendor, or the account's funds). */
  readonly mayUse: (vendor: VendorCode) => boolean
  /** Protocols a chain may speak for this client: its own for passthrough, or any that converts. */
  readonly speaks: (protocol: Chain['protocol']) => boolean
  /** Chains of this protocol go first among equal priorities: nothing has to be converted. */
  readonly preferred: ChainProtocol
  /** The client names who shall do it (contract §1.6); undefined: whoever is best. */
  readonly pinned?: VendorCode | undefined
  /** Chains that can answer this call at all: a conversation kept upstream goes on where it is kept. Absent: every one. */
  readonly mayAnswer?: (chain: Chain) => boolean
  /** Go before the others among equal priorities: they read the reasoning in the history. Absent: none. */
  readonly favoured?: (chain: Chain) => boolean
}

export interface Skipped {
  readonly chain: Chain
  readonly reason: SkipReason
}

export type SkipReason =
  | 'disabled'
  | 'vendor-disabled'
  | 'unfunded'
  | 'protocol'
  | 'other-vendor'
  | 'kept-elsewhere'
  | 'rate-limited'
  | 'cooling-down'
  | 'credential-full'

export interface ChainOrder {
  readonly chains: readonly Chain[]
  readonly skipped: readonly Skipped[]
  /** Set when nothing can be tried only because of rate limits: the earliest end, epoch ms (42904). */
  readonly rateLimitedUntil: number | undefined
}

/**
 * Chains cooling from rate limits are passed over. Chains cooling from failures come last instead of never: when every
 * other one is gone, a try that may work beats a refusal that surely does not.
 */
export function orderChains(model: Model, catalogue: Catalogue, state: RoutingState): ChainOrder {
  const healthy: Chain[] = []
  const lastResort: Chain[] = []
  const skipped: Skipped[] = []
  let rateLimitedUntil: number | undefined
  for (const chain of model.chains) {
    const reason = unusable(chain, catalogue, state)
    if (reason !== undefined) {
      skipped.push({ chain, reason })
      continue
    }
    const health = state.healthOf(chain)
    if (health.coolingUntil <= state.now) healthy.push(chain)
    else if (health.cause === 'rate-limit') {
      skipped.push({ chain, reason: 'rate-limited' })
      rateLimitedUntil = Math.min(rateLimitedUntil ?? Number.POSITIVE_INFINITY, health.coolingUntil)
    } else {
      skipped.push({ chain, reason: 'cooling-down' })
      lastResort.push(chain)
    }
  }
  const chains = [...byPriority(healthy, state), ...byEarliest(lastResort, state)]
  return { chains, skipped, rateLimitedUntil: chains.length === 0 ? rateLimitedUntil : undefined }
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
function lotOf(chain: Chain, state: RoutingState): number {
  const weight = chain.weight / 2 ** Math.min(state.healthOf(chain).slowInRow, 10)
  return weight > 0 ? state.draw() ** (1 / weight) : 0
}

function byEarliest(chains: readonly Chain[], state: RoutingState): Chain[] {
  return [...chains].sort(
    (one, other) => state.healthOf(one).coolingUntil - state.healthOf(other).coolingUntil,
  )
}
