/** Bookings that are refused for what they would be worth; nothing was booked. The messages are for people. */

/** More than one movement may be, or than a pool may hold (core/money.ts). */
export class AmountTooLarge extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'AmountTooLarge'
  }
}

/** Yuan were counted at a rate that is another one by now. */
export class RateChanged extends Error {
  constructor() {
    super('the rate of Credits a yuan has just changed: ask again')
    this.name = 'RateChanged'
  }
}

/** What keeps the rate of Credits a yuan as it is. */
export type RateHold = 'balance-booked' | 'codes-open' | 'payments-open'

const HOLDS: Readonly<Record<RateHold, string>> = {
  'balance-booked': 'a balance in yuan has been booked, and another rate would change what it is worth',
  'codes-open': 'codes worth yuan are still open: void them first',
  'payments-open': 'payments of yuan are still under way: wait for them to end',
}

/** Goes on after `credits_per_yuan`. */
export function rateHoldText(hold: RateHold): string {
  const advice =
    hold === 'balance-booked' ? '; change prices, the rate multipliers of chains or user rates instead' : ''
  return `cannot change any more: ${HOLDS[hold]}${advice}`
}

/** The rate cannot be changed (docs/decisions). */
export class RateFixed extends Error {
  readonly hold: RateHold

  constructor(hold: RateHold) {
    super(`credits_per_yuan ${rateHoldText(hold)}`)
    this.name = 'RateFixed'
    this.hold = hold
  }
}
