/**
 * What a first run offers: each vendor's current models with their list prices, as the vendor publishes them. Data
 * only; an operator's gateway file replaces any of it.
 */
import type { ChainProtocol, DecimalText, Feature, Pricing } from '../../core/catalogue.ts'

export interface EnvironmentVendor {
  /** Vendor code in the catalogue. */
  readonly code: string
  /** Provider folder. */
  readonly kind: string
  readonly name: string
  /** The environment variable that holds its key; undefined: needs none and is always there. */
  readonly variable: string | undefined
  readonly models: readonly ListedModel[]
}

export interface ListedModel {
  /** Public id. */
  readonly modelId: string
  readonly name: string
  readonly features: readonly Feature[]
  readonly contextTokens: number | undefined
  readonly maxOutputTokens: number | undefined
  readonly forwardModelId: string
  /** One chain each. */
  readonly protocols: readonly ChainProtocol[]
  readonly price: ListPrice
}

/** In the vendor's own currency. */
export type ListPrice = TokenPrice | VideoPrice

/** Per million tokens. */
export interface TokenPrice extends PriceOrigin {
  readonly input: DecimalText
  readonly output: DecimalText
  /** Cache hits; undefined: not published, billed as input. */
  readonly cachedInput?: DecimalText
  readonly cacheWrite?: DecimalText
  readonly cacheWrite1h?: DecimalText
}

/** A vendor with a price for each resolution has the one it makes when none is asked for; the others are in the note. */
export interface VideoPrice extends PriceOrigin {
  readonly perVideoSecond: DecimalText
}

interface PriceOrigin {
  readonly currency: 'USD' | 'CNY'
  /** Where it was read. */
  readonly source: string
  /** When it was read or was in force, YYYY-MM-DD. */
  readonly date: string
  /** `third-party`: not read at the vendor itself; `unverified`: from memory or derived. */
  readonly confidence: 'vendor' | 'third-party' | 'unverified'
  /** Tiers, discounts and the like that one number cannot say. */
  readonly note?: string
}

/** For list prices in dollars. A round number, not a rate of the day: list prices in yuan should not move daily. */
export const YUAN_PER_USD: DecimalText = '7.2'

const NO_PRICES: Pricing = {
  billingModes: [],
  inputPrice: null,
  outputPrice: null,
  cacheInputPrice: null,
  cacheOutputPrice: null,
  cacheWritePrice: null,
  cacheWrite1hPrice: null,
  requestPrice: null,
  imagePrice: null,
  videoPrice: null,
}

/** List prices in yuan, as the catalogue keeps them. */
export function pricingOf(price: ListPrice): Pricing {
  const yuan = (amount: DecimalText | undefined): DecimalText | null => {
    if (amount === undefined) return null
    return price.currency === 'CNY' ? amount : multiply(amount, YUAN_PER_USD)
  }
  if ('perVideoSecond' in price) {
    return { ...NO_PRICES, billingModes: ['video_second'], videoPrice: yuan(price.perVideoSecond) }
  }
  return {
    ...NO_PRICES,
    billingModes: ['token'],
    inputPrice: yuan(price.input),
    outputPrice: yuan(price.output),
    cacheInputPrice: yuan(price.cachedInput),
    cacheWritePrice: yuan(price.cacheWrite),
    cacheWrite1hPrice: yuan(price.cacheWrite1h),
  }
}

/** Exact product of two plain decimals, without trailing zeros. */
export function multiply(one: DecimalText, other: DecimalText): DecimalText {
  const [first, second] = [scaled(one), scaled(other)]
  const places = first.places + second.places
  const digits = (first.value * second.value).toString().padStart(places + 1, '0')
  const whole = digits.slice(0, digits.length - places)
  const fraction = digits.slice(digits.length - places).replace(/0+$/, '')
  return fraction === '' ? whole : `${whole}.${fraction}`
}

function scaled(text: DecimalText): { readonly value: bigint; readonly places: number } {
  if (!/^\d+(\.\d+)?$/.test(text)) throw new Error(`not a plain decimal: ${text}`)
  const [whole = '', fraction = ''] = text.split('.')
  return { value: BigInt(whole + fraction), places: fraction.length }
}
