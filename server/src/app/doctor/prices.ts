import type { Catalogue } from '../../core/catalogue.ts'
import { ratesOf } from '../../core/pricing/currency.ts'
import { finding, type RunningFinding } from '../../core/running-finding.ts'

/** The currencies of the catalogue's prices. A price in a currency without a rate cannot be charged. */
export function checkCurrencies({ settings, models }: Catalogue): readonly RunningFinding[] {
  const counts = new Map<string, number>()
  for (const { pricing } of models.values())
    counts.set(pricing.currency, (counts.get(pricing.currency) ?? 0) + 1)
  const rates = ratesOf(settings)
  return [...counts].map(([currency, models]) => {
    const rate = rates[currency]
    return rate === undefined
      ? finding('currency-unrated', { currency, models })
      : finding('currency-good', { currency, models, rate })
  })
}
