/** Sums of decimals as texts, exact: amounts have at most six decimals (µCr). */
const DECIMALS = 6
const ONE = 1_000_000n

export function sumDecimals(values: readonly string[]): string {
  return textOf(values.reduce((sum, value) => sum + microOf(value), 0n))
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
