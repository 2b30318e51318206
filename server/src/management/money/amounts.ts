/** Conversion of amounts between internal integers and decimal text (docs/reference/contract.md#D-names-02). */
import type { DecimalText } from '../../core/catalogue.ts'
import { MICRO_CREDITS_PER_CREDIT, type MicroCredits, microCredits, POOL_MAX } from '../../core/money.ts'
import {
  type Decimal,
  divideHalfEven,
  multiply,
  parseDecimal,
  printDecimal,
  roundHalfEven,
} from '../../core/pricing/decimal.ts'
import { AmountTooLarge } from '../../storage/failures/amount-refused.ts'

/** 1 Credit is 10^6 µCr. */
const MICRO_DIGITS = 6
/** Amounts in answers have no more decimals. */
const SHOWN_DIGITS = 6
/** Enough that text made from µCr gives the same µCr again at every rate below 10^11 Credits per yuan. */
const EXACT_DIGITS = 18

/** Text of Credits to the nearest µCr. */
export function creditsOfText(text: DecimalText): MicroCredits {
  return toMicro(exact(text))
}

/** Exact: µCr are the sixth decimal of a Credit. */
export function creditsText(amount: MicroCredits): DecimalText {
  return printDecimal({ units: amount, scale: MICRO_DIGITS })
}

/** Yuan at the platform's rate, to the nearest µCr. */
export function creditsOfYuan(yuan: DecimalText, creditsPerUnit: DecimalText): MicroCredits {
  return toMicro(multiply(exact(yuan), exact(creditsPerUnit)))
}

/** µCr as yuan, for people: at most six decimals. */
export function yuanText(amount: MicroCredits, creditsPerUnit: DecimalText): DecimalText {
  return yuanWithDigits(amount, creditsPerUnit, SHOWN_DIGITS)
}

/** µCr as yuan, for reading back: `creditsOfYuan` gives the same µCr again. */
export function exactYuanText(amount: MicroCredits, creditsPerUnit: DecimalText): DecimalText {
  return yuanWithDigits(amount, creditsPerUnit, EXACT_DIGITS)
}

function yuanWithDigits(amount: MicroCredits, creditsPerUnit: DecimalText, digits: number): DecimalText {
  const rate = exact(creditsPerUnit)
  if (rate.units <= 0n)
    throw new Error(`the platform's rate is not positive: ${creditsPerUnit} Credits a yuan`)
  const numerator = amount * 10n ** BigInt(digits + rate.scale)
  const denominator = rate.units * 10n ** BigInt(MICRO_DIGITS)
  return printDecimal({ units: divideHalfEven(numerator, denominator), scale: digits })
}

/** Throws `AmountTooLarge` for an amount that no pool may hold, before it reaches the store. */
function toMicro(value: Decimal): MicroCredits {
  const micro = { units: value.units * 10n ** BigInt(MICRO_DIGITS), scale: value.scale }
  const amount = microCredits(roundHalfEven(micro))
  if (amount > POOL_MAX || amount < -POOL_MAX)
    throw new AmountTooLarge(
      `an amount is worth at most ${POOL_MAX / MICRO_CREDITS_PER_CREDIT} Credits: ${printDecimal(value)} is more`,
    )
  return amount
}

/** Texts were checked at the edge; an invalid one here is a broken invariant. */
function exact(text: DecimalText): Decimal {
  const result = parseDecimal(text)
  if (result.kind === 'refused') throw new Error(`"${text}" is not a decimal number: ${result.reason}`)
  return result.value
}
