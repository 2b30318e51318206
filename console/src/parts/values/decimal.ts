/** Sums of decimals as texts, exact: amounts have at most six decimals (µCr). */
const DECIMALS = 6
const ONE = 1_000_000n

export function sumDecimals(values: readonly string[]): string {
  return textOf(values.reduce((sum, value) => sum + microOf(value), 0n))
}

/** The product of two decimals, cut after six decimals. */
export function timesDecimal(one: string, other: string): string {
  return textOf((microOf(one) * microOf(other)) / ONE)
}

/** The exact product of all, rounded once to six decimals, half to even. */
export function productOf(factors: readonly string[]): string {
  let units = 1n
  let scale = 0
  for (const factor of factors) {
    const [whole = '0', fraction = ''] = factor.split('.')
    units *= BigInt(whole + fraction)
    scale += fraction.length
  }
  return textOf(
    scale <= DECIMALS ? units * 10n ** BigInt(DECIMALS - scale) : halfEven(units, scale - DECIMALS),
  )
}

/** Drops the last digits. */
function halfEven(units: bigint, digits: number): bigint {
  const size = 10n ** BigInt(digits)
  const whole = units / size
  const twice = 2n * (units < 0n ? -(units % size) : units % size)
  const isUp = twice > size || (twice === size && whole % 2n !== 0n)
  return isUp ? whole + (units < 0n ? -1n : 1n) : whole
}

/** Negative, zero or positive if `one` is less than, equal to or greater than the other. */
export function compareDecimals(one: string, other: string): number {
  const difference = microOf(one) - microOf(other)
  return difference < 0n ? -1 : difference > 0n ? 1 : 0
}

export function isZero(value: string): boolean {
  return microOf(value) === 0n
}

function microOf(value: string): bigint {
  const [whole = '0', fraction = ''] = value.replace('-', '').split('.')
  const micro = BigInt(whole) * ONE + BigInt(fraction.slice(0, DECIMALS).padEnd(DECIMALS, '0'))
  return value.startsWith('-') ? -micro : micro
}

function textOf(micro: bigint): string {
  const size = micro < 0n ? -micro : micro
  const fraction = String(size % ONE).padStart(DECIMALS, '0')
  return `${micro < 0n ? '-' : ''}${size / ONE}.${fraction}`
}
