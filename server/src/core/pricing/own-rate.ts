/**
 * Amounts of money are kept as µCr at the rate of the platform's own currency; this converts them when that rate
 * changes.
 */
import type { DecimalText } from '../catalogue.ts'
import { type MicroCredits, microCredits } from '../money.ts'
import { compare, type Decimal, divideHalfEven, parseDecimal } from './decimal.ts'

export interface RateChange {
  readonly from: DecimalText
  readonly to: DecimalText
}

export function isSameRate(left: DecimalText, right: DecimalText): boolean {
  return compare(positive(left), positive(right)) === 0
}

/** As much money as before, to the nearest µCr. */
export function atOtherRate(amount: MicroCredits, { from, to }: RateChange): MicroCredits {
  const before = positive(from)
  const after = positive(to)
  const numerator = amount * after.units * 10n ** BigInt(before.scale)
  return microCredits(divideHalfEven(numerator, before.units * 10n ** BigInt(after.scale)))
}

function positive(rate: DecimalText): Decimal {
  const read = parseDecimal(rate)
  if (read.kind === 'refused' || read.value.units <= 0n) throw new Error(`${rate} is not a rate of Credits`)
  return read.value
}
