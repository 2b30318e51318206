import type { ErrorCode } from '../errors/catalogue.ts'
import type { DimensionRule } from './dimension-rule.ts'
import { DIMENSION_RULES } from './dimensions/index.ts'
import { type Dimension, DIMENSIONS, type Policy } from './policy.ts'
import { limitUnits } from './units.ts'

/** One window of a policy, ready to be compared with a state. */
export interface Tier {
  /** `dimension:seconds`; two limits of the same dimension and length share the window, so the smaller one applies. */
  readonly tier: string
  readonly dimension: Dimension
  readonly rule: DimensionRule
  readonly seconds: number
  readonly lengthMs: number
  readonly limit: bigint
}

export interface TieredPolicy {
  readonly concurrency: number | undefined
  readonly tiers: readonly Tier[]
}

export type LimitCode = Extract<ErrorCode, 42901 | 42902 | 42903 | 42910>

export function tierPolicy(policy: Policy): TieredPolicy {
  const tiers: Tier[] = []
  for (const { dimension, seconds, limit } of policy.windows) {
    const rule = DIMENSION_RULES[dimension]
    const tier: Tier = {
      tier: tierName(dimension, seconds),
      dimension,
      rule,
      seconds,
      lengthMs: seconds * 1000,
      limit: limitUnits(limit, rule.unitsPerLimit),
    }
    const twin = tiers.findIndex((other) => other.tier === tier.tier)
    const other = tiers[twin]
    if (other === undefined) tiers.push(tier)
    else if (tier.limit < other.limit) tiers[twin] = tier
  }
  return { concurrency: policy.concurrency, tiers }
}

export const tierName = (dimension: string, seconds: number): string => `${dimension}:${seconds}`

export interface TierKey {
  readonly rule: DimensionRule
  readonly lengthMs: number
}

/** Reads a tier's name back; undefined for a tier of an earlier version. */
export function findTier(tier: string): TierKey | undefined {
  const colon = tier.indexOf(':')
  const dimension = DIMENSIONS.find((name) => name.length === colon && tier.startsWith(name))
  const seconds = secondsFrom(tier, colon + 1)
  if (dimension === undefined || !(seconds > 0)) return undefined
  return { rule: DIMENSION_RULES[dimension], lengthMs: seconds * 1000 }
}

/** Read by hand, without a text of its own: every call reads the names of its windows. */
function secondsFrom(tier: string, start: number): number {
  let seconds = 0
  for (let at = start; at < tier.length; at += 1) {
    const digit = tier.charCodeAt(at) - ZERO
    if (digit < 0 || digit > 9) return Number(tier.slice(start))
    seconds = 10 * seconds + digit
  }
  return seconds
}

const ZERO = 0x30
