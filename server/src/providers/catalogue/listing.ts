/**
 * What a first start offers: each vendor's current models with their list prices, as the vendor publishes them. Data
 * only; an operator's gateway file replaces any of it.
 */
import type { ChainProtocol, DecimalText, Feature, Pricing } from '../../core/catalogue.ts'

export interface EnvironmentVendor {
  /** Vendor code in the catalogue. */
  readonly code: string
  /** Provider folder. */
  readonly kind: string
  readonly name: string
  /** The environment variable that holds its key; undefined: it needs none and is always offered. */
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
export type ListPrice = TokenPrice | VideoPrice | RequestPrice | ImagePrice | CharacterPrice | AudioPrice

/** Per million tokens. */
export interface TokenPrice extends PriceOrigin {
  readonly input: DecimalText
  /** Absent: the model makes no tokens. */
  readonly output?: DecimalText
  /** Cache hits; undefined: not published, billed as input. */
  readonly cachedInput?: DecimalText
  readonly cacheWrite?: DecimalText
  readonly cacheWrite1h?: DecimalText
}

/** If the vendor has a price per resolution: the price of the default resolution; the others are in the note. */
export interface VideoPrice extends PriceOrigin {
  readonly perVideoSecond: DecimalText
}

export interface RequestPrice extends PriceOrigin {
  readonly perRequest: DecimalText
}

export interface ImagePrice extends PriceOrigin {
  readonly perImage: DecimalText
}

export interface CharacterPrice extends PriceOrigin {
  readonly perMillionCharacters: DecimalText
}

export interface AudioPrice extends PriceOrigin {
  readonly perAudioSecond: DecimalText
}

interface PriceOrigin {
  readonly currency: 'USD' | 'CNY'
  /** Where it was read. */
  readonly source: string
  /** When it was read, or was valid, YYYY-MM-DD. */
  readonly date: string
  /** `third-party`: not read at the vendor itself; `unverified`: from memory or derived. */
  readonly confidence: 'vendor' | 'third-party' | 'unverified'
  /** Tiers, discounts and the like that one number cannot express. */
  readonly note?: string
}

const NO_PRICES: Omit<Pricing, 'currency' | 'billingModes'> = {
  inputPrice: null,
  outputPrice: null,
  cacheInputPrice: null,
  cacheOutputPrice: null,
  cacheWritePrice: null,
  cacheWrite1hPrice: null,
  requestPrice: null,
  imagePrice: null,
  videoPrice: null,
  characterPrice: null,
  audioSecondPrice: null,
}

/** List prices in the catalogue's form, in the vendor's own currency. */
export function pricingOf(price: ListPrice): Pricing {
  const { currency } = price
  if ('perVideoSecond' in price)
    return { ...NO_PRICES, currency, billingModes: ['video_second'], videoPrice: price.perVideoSecond }
  if ('perImage' in price)
    return { ...NO_PRICES, currency, billingModes: ['image'], imagePrice: price.perImage }
  if ('perMillionCharacters' in price)
    return {
      ...NO_PRICES,
      currency,
      billingModes: ['character'],
      characterPrice: price.perMillionCharacters,
    }
  if ('perAudioSecond' in price)
    return { ...NO_PRICES, currency, billingModes: ['audio_second'], audioSecondPrice: price.perAudioSecond }
  if ('perRequest' in price)
    return { ...NO_PRICES, currency, billingModes: ['request'], requestPrice: price.perRequest }
  return {
    ...NO_PRICES,
    currency,
    billingModes: ['token'],
    inputPrice: price.input,
    outputPrice: price.output ?? null,
    cacheInputPrice: price.cachedInput ?? null,
    cacheWritePrice: price.cacheWrite ?? null,
    cacheWrite1hPrice: price.cacheWrite1h ?? null,
  }
}
