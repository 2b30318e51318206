import type { Estimate } from '../ledger/operations.ts'
import { ONE_CALL } from '../metering/quantities.ts'
import { type MicroCredits, microCredits } from '../money.ts'
import { type Decimal, divideHalfEven } from './decimal.ts'
import type { Bounds } from './read-terms.ts'

/** What a call may cost, in µCr: decides its hold. */
export interface CostBounds {
  /** Estimated input plus the whole output bound. */
  readonly full: MicroCredits
  /** What must at least be affordable: `full`, or with a reduced output bound if the client named no cap. */
  readonly least: MicroCredits
  /** No call can cost more: this is held against a monthly cap. */
  readonly worst: MicroCredits
  /** What is held of Credits, as far as they suffice; absent: `full`. */
  readonly covered?: MicroCredits
}

/** An answer shorter than this is of no use, so a call that cannot fund it is refused rather than begun. */
export const LEAST_OUTPUT_TOKENS = 256

/**
 * Bounds round as the amount does, and rounding is monotone: a call within its estimate never costs more than is held.
 */
export function boundCost(bounds: Bounds, estimate: Estimate, userRate: Decimal): CostBounds {
  const { requests, characters, audioSeconds } = estimate.pieces ?? ONE_CALL
  const pieces =
    bounds.request * whole(requests) +
    bounds.fees +
    bounds.image * whole(estimate.images) +
    bounds.videoSecond * whole(estimate.videoSeconds) +
    bounds.character * whole(characters) +
    bounds.audioHundredth * whole(audioSeconds * 100)
  const entry = pieces + bounds.input * whole(estimate.inputTokens)
  const divisor = 10n ** BigInt(bounds.scale + userRate.scale + PERCENT_DIGITS)
  const cost = (units: bigint) => microCredits(divideHalfEven(units * userRate.units, divisor))
  const full = cost(entry + bounds.output * whole(estimate.outputTokens))
  const shrinks = estimate.bound === 'affordable' && estimate.outputTokens > LEAST_OUTPUT_TOKENS
  const worst = cost(
    pieces +
      bounds.furtherUses +
      bounds.worstInput * whole(estimate.worstInputTokens) +
      bounds.output * whole(estimate.worstOutputTokens),
  )
  return {
    full,
    least: shrinks ? cost(entry + bounds.output * BigInt(LEAST_OUTPUT_TOKENS)) : full,
    worst: worst > full ? worst : full,
    ...(estimate.covers === 'worst' && worst > full ? { covered: worst } : {}),
  }
}

const PERCENT_DIGITS = 2

/** A count as an integer, rounded up; 0 for anything but a positive number. */
function whole(count: number): bigint {
  return count > 0 ? BigInt(Math.min(Math.ceil(count), Number.MAX_SAFE_INTEGER)) : 0n
}
