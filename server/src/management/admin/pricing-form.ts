import { readPricing } from '../../config/gateway-file/read-models.ts'
import { readValue } from '../../config/gateway-file/read-value.ts'
import type { Pricing } from '../../core/catalogue.ts'
import type { JsonObject } from '../../core/json.ts'
import type { FieldMistake } from '../keys/keys.ts'

export type PricingForm =
  | { readonly kind: 'pricing'; readonly pricing: Pricing }
  | { readonly kind: 'mistakes'; readonly mistakes: readonly FieldMistake[] }

/** Prices in the gateway file's form, by the file's own reader. */
export function readPricingForm(form: JsonObject): PricingForm {
  const result = readValue(JSON.stringify(form), readPricing)
  if (result.kind === 'value') return { kind: 'pricing', pricing: result.value }
  return {
    kind: 'mistakes',
    mistakes: result.mistakes.map(({ place, message }) => ({ path: place.path.replace(/^\./, ''), message })),
  }
}
