/** Bookings that are refused because of their amount; nothing was booked. The messages are for people. */
import { say, type Sentence } from '../../core/sentences/say.ts'

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

/** Continues the sentence that begins with the setting. */
export function rateHoldText(hold: RateHold): Sentence {
  switch (hold) {
    case 'balance-booked':
      return say('held-by-balance')
    case 'codes-open':
      return say('held-by-codes')
    case 'payments-open':
      return say('held-by-payments')
    case 'packages-offered':
      return say('held-by-packages')
  }
}

/** The rate cannot be changed (docs/decisions/0011-yuan-keep-their-worth.md). */
export class RateFixed extends Error {
  readonly hold: RateHold

  constructor(hold: RateHold) {
    super(`the platform’s currency and its rate ${rateHoldText(hold).text}`)
    this.name = 'RateFixed'
    this.hold = hold
  }
}
