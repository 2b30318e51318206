/** Bookings that are refused because of their amount; nothing was booked. The messages are for people. */

/** More than allowed for one movement or for a pool (core/money.ts). */
export class AmountTooLarge extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'AmountTooLarge'
  }
}

/** Money was converted at a rate that has changed since. */
export class RateChanged extends Error {
  constructor() {
    super('what one unit of the platform’s currency is worth has just changed: ask again')
    this.name = 'RateChanged'
  }
}

/** What prevents a change of the platform's own currency and its rate; packages only prevent one of the currency. */
export type RateHold = 'balance-booked' | 'codes-open' | 'payments-open' | 'packages-offered'

const HOLDS: Readonly<Record<RateHold, string>> = {
  'balance-booked': 'a balance has been booked, and another rate would change what it is worth',
  'codes-open': 'codes worth balance are still open: void them first',
  'payments-open': 'payments into balances are still under way: wait for them to end',
  'packages-offered': 'packages are priced in it: delete them first',
}

/** Continues the sentence that begins with the setting. */
export function rateHoldText(hold: RateHold): string {
  const advice =
    hold === 'balance-booked' ? '; change prices, the rate multipliers of chains or user rates instead' : ''
  return `cannot change any more: ${HOLDS[hold]}${advice}`
}

/** The rate cannot be changed (docs/decisions/0011-yuan-keep-their-worth.md). */
export class RateFixed extends Error {
  readonly hold: RateHold

  constructor(hold: RateHold) {
    super(`the platform’s currency and its rate ${rateHoldText(hold)}`)
    this.name = 'RateFixed'
    this.hold = hold
  }
}
