/** Amounts of a currency in its smallest unit, as providers of payments count. */
import { parseDecimal } from '../pricing/decimal.ts'

/** Currencies without a smaller unit, and those with thousandths (ISO 4217); all others have hundredths. */
const WHOLE: ReadonlySet<string> = new Set(
  'bif clp djf gnf jpy kmf krw mga pyg rwf ugx vnd vuv xaf xof xpf'.split(' '),
)
const THOUSANDTHS: ReadonlySet<string> = new Set('bhd jod kwd omr tnd'.split(' '))

/** @param currency ISO 4217, in small letters */
export function minorDigits(currency: string): number {
  if (WHOLE.has(currency)) return 0
  return THOUSANDTHS.has(currency) ? 3 : 2
}

/** undefined: the amount has more decimals than the currency. */
export function toMinorUnits(amount: string, currency: string): number | undefined {
  const read = parseDecimal(amount)
  if (read.kind === 'refused') return undefined
  const digits = minorDigits(currency)
  const { units, scale } = read.value
  const scaled = units * 10n ** BigInt(digits)
  const divisor = 10n ** BigInt(scale)
  return scaled % divisor === 0n ? Number(scaled / divisor) : undefined
}
