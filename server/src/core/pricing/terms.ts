import type { DecimalText, Pricing } from '../catalogue.ts'
import type { FrozenSurcharge } from './surcharges.ts'

/** The prices of one model frozen into a call when it is reserved: what `Demand.terms` holds as JSON text. */
export interface PriceTerms {
  readonly pricing: Pricing
  /** Rate of the prices' currency when the call was reserved. */
  readonly creditsPerUnit: DecimalText
  /** Chain id → its rate_multiplier, for every enabled chain. The hold is sized by the largest. */
  readonly multipliers: Readonly<Record<string, DecimalText>>
  /** The model's surcharges, with what this call requests; absent: none. */
  readonly surcharges?: readonly FrozenSurcharge[]
}
