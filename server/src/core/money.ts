declare const microCreditsBrand: unique symbol

/** An amount of money: integer micro-Credits, 1 Credit = 1 000 000 µCr (decisions, Names and numbers). */
export type MicroCredits = bigint & { readonly [microCreditsBrand]: true }

export const microCredits = (amount: bigint): MicroCredits => amount as MicroCredits
export const MICRO_CREDITS_PER_CREDIT = 1_000_000n
export const ZERO: MicroCredits = microCredits(0n)
