import type { Catalogue } from '../../core/catalogue.ts'
import { ratesOf } from '../../core/pricing/currency.ts'
import { failed, type Finding, ok } from '../../core/finding.ts'

/** What the catalogue is priced in. A price in a currency without a rate cannot be charged. */
export function checkCurrencies({ settings, models }: Catalogue): readonly Finding[] {
  const counts = new Map<string, number>()
  for (const { pricing } of models.values())
    counts.set(pricing.currency, (counts.get(pricing.currency) ?? 0) + 1)
  const rates = ratesOf(settings)
  return [...counts].map(([currency, count]) => {
    const rate = rates[currency]
    const found = `${count} ${count === 1 ? 'model' : 'models'} priced in ${currency}`
    return rate === undefined
      ? failed(
          'currencies',
          `${found}, which has no rate`,
          `sluice apply -f a file with settings: {currencies: {${currency}: …}}`,
        )
      : ok('currencies', `${found}, at ${rate} Credits for one ${currency}`)
  })
}
