/**
 * Which money a price is in and how many Credits that is. Balances, caps and steps are in the platform's own currency; a
 * price has its own.
 */
import { say, type Sentence } from '../sentences/say.ts'
import type { Currency, DecimalText, Model, Settings } from '../catalogue.ts'
import { isSameRate, type RateChange } from './own-rate.ts'

type Rates = Pick<Settings, 'currency' | 'creditsPerUnit' | 'otherCurrencies'>

/** Credits for one unit; undefined: the platform knows no rate for it. */
export function rateOf(settings: Rates, currency: Currency): DecimalText | undefined {
  if (currency === settings.currency) return settings.creditsPerUnit
  return Object.hasOwn(settings.otherCurrencies, currency) ? settings.otherCurrencies[currency] : undefined
}

/** Every currency something may be priced in, the platform's own first. */
export function ratesOf(settings: Rates): Readonly<Record<Currency, DecimalText>> {
  return { [settings.currency]: settings.creditsPerUnit, ...settings.otherCurrencies }
}

/** The rate of a price that was checked when it was written. */
export function knownRateOf(settings: Rates, currency: Currency): DecimalText {
  const rate = rateOf(settings, currency)
  if (rate === undefined) throw new Error(`there is a price in ${currency}, and no rate of Credits for it`)
  return rate
}

/** What one unit of the platform's former currency becomes: balances, caps and steps are counted in it. */
export function ownRateChange(before: Rates, after: Rates): RateChange {
  return { from: before.creditsPerUnit, to: rateOf(after, before.currency) ?? before.creditsPerUnit }
}

export type OwnChange = 'rate' | 'currency'

/** The change of the platform's own currency or its rate; undefined: none. */
export function ownChange(before: Rates, after: Rates): OwnChange | undefined {
  if (before.currency !== after.currency) return 'currency'
  return isSameRate(before.creditsPerUnit, after.creditsPerUnit) ? undefined : 'rate'
}

export type PriceCurrency =
  | { readonly kind: 'currency'; readonly currency: Currency }
  /** Continues the sentence that begins with the price's path. */
  | { readonly kind: 'mistake'; readonly message: Sentence }

export interface PriceAsked {
  readonly written: Currency | undefined
  /** undefined: there was no price. */
  readonly replaced: ReplacedPrice | undefined
}

export interface ReplacedPrice {
  readonly currency: Currency
  /** Fees per use stay as written, in this currency. */
  readonly feesStay?: boolean
}

/** The price that is replaced when a model's prices are written, with or without its surcharges. */
export function replacedPrice(
  model: Pick<Model, 'pricing' | 'surcharges'> | undefined,
  written: Model['surcharges'] | undefined,
): ReplacedPrice | undefined {
  if (model === undefined) return undefined
  const hasFees = Object.values(model.surcharges).some(({ kind }) => kind === 'per-call')
  return { currency: model.pricing.currency, feesStay: hasFees && written === undefined }
}

/**
 * The currency of a price that is written. A price without one is in the platform's own currency, unless it replaces a
 * price in another: then it is ambiguous which of the two is meant.
 */
export function currencyOfPrice({ written, replaced }: PriceAsked, settings: Rates): PriceCurrency {
  const currency = written ?? settings.currency
  const isOther = replaced !== undefined && replaced.currency !== currency
  if (isOther && written === undefined)
    return mistake(say('currency-of-price-needed', { currency: replaced.currency, own: currency }))
  if (isOther && replaced.feesStay === true)
    return mistake(say('currency-of-surcharges', { currency: replaced.currency }))
  if (rateOf(settings, currency) !== undefined) return { kind: 'currency', currency }
  const known = Object.keys(ratesOf(settings)).join(', ')
  return mistake(say('no-rate-of-currency', { currency, known }))
}

function mistake(message: Sentence): PriceCurrency {
  return { kind: 'mistake', message }
}
