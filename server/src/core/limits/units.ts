/** A count in a window's units: rounded up, since a part of a second counts as used; 0 for anything not positive. */
export function toUnits(count: number): bigint {
  return count > 0 ? BigInt(Math.min(Math.ceil(count), Number.MAX_SAFE_INTEGER)) : 0n
}

/** Hundredths of a second, rounded up; a number that is whole except for floating-point error is not raised. */
export function hundredthsOf(seconds: number): bigint {
  return toUnits(Math.round(seconds * 1_000) / 10)
}

/** A policy's limit in units, rounded to the nearest one; `amount` has six decimals. */
export function limitUnits(limit: number, unitsPerLimit: bigint): bigint {
  if (!(limit > 0)) return 0n
  const units = limit * Number(unitsPerLimit)
  if (units <= Number.MAX_SAFE_INTEGER) return BigInt(Math.round(units))
  return BigInt(Math.min(Math.round(limit), Number.MAX_SAFE_INTEGER)) * unitsPerLimit
}
