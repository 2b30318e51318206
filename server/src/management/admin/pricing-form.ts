import { readPricing } from '../../config/gateway-file/read-models.ts'
import { jsonNode } from '../../config/gateway-file/json-node.ts'
import { readNode } from '../../config/gateway-file/read-value.ts'
import type { Pricing, Settings } from '../../core/catalogue.ts'
import type { JsonObject } from '../../core/json.ts'
import { currencyOfPrice, type ReplacedPrice } from '../../core/pricing/currency.ts'
import { pricingOf } from '../gateway-file/plan-catalogue.ts'
import type { FieldMistake } from '../keys/keys.ts'

export type PricingForm =
  | { readonly kind: 'pricing'; readonly pricing: Pricing }
  | { readonly kind: 'mistakes'; readonly mistakes: readonly FieldMistake[] }

export interface PricingContext {
  readonly settings: Settings
  /** The present price, or that of the model that a cost belongs to. */
  readonly replaced: ReplacedPrice | undefined
}

/** Prices in the gateway file's form, by the file's own reader. */
export function readPricingForm(form: JsonObject, { settings, replaced }: PricingContext): PricingForm {
  const result = readNode(jsonNode(form), readPricing)
  if (result.kind === 'value') {
    const found = currencyOfPrice({ written: result.value.currency, replaced }, settings)
    return found.kind === 'mistake'
      ? { kind: 'mistakes', mistakes: [{ path: 'currency', message: found.message }] }
      : { kind: 'pricing', pricing: pricingOf(result.value, settings) }
  }
  return {
    kind: 'mistakes',
    mistakes: result.mistakes.map(({ place, message }) => ({ path: place.path.replace(/^\./, ''), message })),
  }
}
