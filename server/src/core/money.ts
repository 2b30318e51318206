declare const microCreditsBrand: unique symbol

/** An amount of money: integer micro-Credits, 1 Credit = 1 000 000 µCr (docs/reference/contract.md#D-names-01). */
export type MicroCredits = bigint & { readonly [microCreditsBrand]: true }

export const microCredits = (amount: bigint): MicroCredits => amount as MicroCredits
export const MICRO_CREDITS_PER_CREDIT = 1_000_000n
export const ZERO: MicroCredits = microCredits(0n)

/** The most one movement or setting may be: 10^9 Credits. More is a typing error. */
export const AMOUNT_MAX: MicroCredits = microCredits(1_000_000_000_000_000n)
/** The most a pool may hold: 10^12 Credits, so that no sum of two comes near the end of 64 bits. */
export const POOL_MAX: MicroCredits = microCredits(1_000_000_000_000_000_000n)
