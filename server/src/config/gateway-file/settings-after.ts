import type { Settings } from '../../core/catalogue.ts'
import { ratesOf } from '../../core/pricing/currency.ts'
import type { SettingsRow } from './gateway-file.ts'

/** The settings after applying. For a currency without a rate the stored one is kept: `checkRows` has reported it. */
export function settingsAfter(row: SettingsRow | undefined, stored: Settings): Settings {
  const rates = { ...ratesOf(stored), ...row?.currencies }
  const wanted = row?.currency ?? stored.currency
  const currency = rates[wanted] === undefined ? stored.currency : wanted
  const { [currency]: own = stored.creditsPerUnit, ...otherCurrencies } = rates
  return {
    currency,
    creditsPerUnit: own,
    otherCurrencies,
    timezone: row?.timezone ?? stored.timezone,
    keyPrefix: row?.keyPrefix ?? stored.keyPrefix,
    limits: row?.limits ?? stored.limits,
  }
}
