import type { MicroCredits } from '../../core/money.ts'

/** A booking would take more from a customer's pool than is in it; nothing was booked. */
export class Overdraft extends Error {
  /** `<account>/<pool>` */
  readonly pool: string
  readonly missing: MicroCredits

  constructor(pool: string, missing: MicroCredits) {
    super(`${pool} lacks ${missing} µCr for this booking`)
    this.name = 'Overdraft'
    this.pool = pool
    this.missing = missing
  }
}
