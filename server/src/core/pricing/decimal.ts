/**
 * Exact decimal numbers: `units` × 10^-`scale`. Prices, multipliers and rates are kept as these, so that a formula of
 * any length is rounded once, at its end (docs/reference/contract.md#D-names-03). A float appears nowhere.
 */
export interface Decimal {
  readonly units: bigint
  /** Digits behind the point, never negative. */
  readonly scale: number
}

export type DecimalResult =
  | { readonly kind: 'decimal'; readonly value: Decimal }
  | { readonly kind: 'refused'; readonly reason: string }

/** Longest text read: a price has a handful of digits, so anything longer is a mistake or an attack. */
export const DECIMAL_LENGTH_MAX = 64
/** Largest exponent; keeps `1e999999999` from becoming a gigabyte of digits. */
export const DECIMAL_EXPONENT_MAX = 60

const DECIMAL_FORM = /^([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]{1,4}))?$/

/** Reads `0.9`, `-12`, `.5`, `1e-7` or a number as JavaScript prints it. Nothing else is a decimal. */
export function parseDecimal(input: string | number): DecimalResult {
  if (typeof input === 'number' && Number.isSafeInteger(input))
    return { kind: 'decimal', value: decimalOf(BigInt(input)) }
  const text = typeof input === 'number' ? String(input) : input
  if (text.length > DECIMAL_LENGTH_MAX) {
    return { kind: 'refused', reason: `longer than ${DECIMAL_LENGTH_MAX} characters` }
  }
  const match = DECIMAL_FORM.exec(text)
  const whole = match?.[2] ?? ''
  const fraction = match?.[3] ?? ''
  if (match === null || whole.length + fraction.length === 0) {
    return { kind: 'refused', reason: 'not a decimal number' }
  }
  const exponent = match[4] === undefined ? 0 : Number(match[4])
  if (Math.abs(exponent) > DECIMAL_EXPONENT_MAX) {
    return { kind: 'refused', reason: `exponent beyond ${DECIMAL_EXPONENT_MAX}` }
  }
  const magnitude = BigInt(whole + fraction)
  const units = match[1] === '-' ? -magnitude : magnitude
  return { kind: 'decimal', value: normalize(units, fraction.length - exponent) }
}

export function multiply(left: Decimal, right: Decimal): Decimal {
  return { units: left.units * right.units, scale: left.scale + right.scale }
}

export function add(left: Decimal, right: Decimal): Decimal {
  const scale = Math.max(left.scale, right.scale)
  return { units: unitsAt(left, scale) + unitsAt(right, scale), scale }
}

/** Negative when `left` is smaller, 0 when both are the same number, positive when it is larger. */
export function compare(left: Decimal, right: Decimal): -1 | 0 | 1 {
  const scale = Math.max(left.scale, right.scale)
  const difference = unitsAt(left, scale) - unitsAt(right, scale)
  if (difference === 0n) return 0
  return difference < 0n ? -1 : 1
}

/** The number in units of 10^-`scale`; `scale` must not be smaller than the number's own. */
export function unitsAt(value: Decimal, scale: number): bigint {
  return scale === value.scale ? value.units : value.units * powerOfTen(scale - value.scale)
}

/** Precomputed, because computing a power costs more than the division that needs it. */
const POWERS_OF_TEN = Array.from({ length: 64 }, (_, exponent) => 10n ** BigInt(exponent))

const powerOfTen = (exponent: number): bigint => POWERS_OF_TEN[exponent] ?? 10n ** BigInt(exponent)

export const decimalOf = (units: bigint): Decimal => ({ units, scale: 0 })

/** Nearest integer; exactly between two, the even one. */
export function roundHalfEven(value: Decimal): bigint {
  return value.scale === 0 ? value.units : divideHalfEven(value.units, powerOfTen(value.scale))
}

/** `numerator` / `denominator` to the nearest integer, ties to the even one. `denominator` is positive. */
export function divideHalfEven(numerator: bigint, denominator: bigint): bigint {
  const quotient = numerator / denominator
  const rest = numerator - quotient * denominator
  if (rest === 0n) return quotient
  const twice = rest < 0n ? -2n * rest : 2n * rest
  if (twice < denominator || (twice === denominator && quotient % 2n === 0n)) return quotient
  return rest < 0n ? quotient - 1n : quotient + 1n
}

/** Plain notation without an exponent and without trailing zeros: `0.9`, `-12`, `0`. */
export function printDecimal(value: Decimal): string {
  const { units, scale } = normalize(value.units, value.scale)
  if (scale === 0) return units.toString()
  const digits = (units < 0n ? -units : units).toString().padStart(scale + 1, '0')
  const point = digits.length - scale
  return `${units < 0n ? '-' : ''}${digits.slice(0, point)}.${digits.slice(point)}`
}

/** Brings a negative scale to 0 and strips trailing zeros, so that equal numbers have one form. */
function normalize(units: bigint, scale: number): Decimal {
  if (units === 0n) return { units, scale: 0 }
  if (scale <= 0) return { units: units * powerOfTen(-scale), scale: 0 }
  let rest = units
  let places = scale
  while (places > 0 && rest % 10n === 0n) {
    rest /= 10n
    places -= 1
  }
  return { units: rest, scale: places }
}
