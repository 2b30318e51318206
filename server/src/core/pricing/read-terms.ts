import { BILLING_MODES, type BillingMode, type DecimalText, type Pricing } from '../catalogue.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import { add, compare, type Decimal, decimalOf, multiply, parseDecimal, unitsAt } from './decimal.ts'
import { type FrozenSurcharge, isDiscount } from './surcharges.ts'
import type { PriceTerms } from './terms.ts'

/** Frozen terms, checked, with everything that does not depend on the call precomputed. */
export interface ReadableTerms {
  readonly kind: 'terms'
  readonly terms: PriceTerms
  /** µCr per token, character, image, second or request × 10^`scale`, largest chain multiplier included, user rate not. */
  readonly bounds: Bounds
}

/** Integer prices that bound what a call can cost; 0 for a class the model is not billed by. */
export interface Bounds {
  readonly scale: number
  readonly input: bigint
  readonly output: bigint
  /** The most expensive class input tokens can fall in. */
  readonly worstInput: bigint
  readonly image: bigint
  readonly videoSecond: bigint
  readonly request: bigint
  readonly character: bigint
  /** Price of a hundredth of a second of sound. */
  readonly audioHundredth: bigint
  /** Surcharges per use, each counted once. */
  readonly fees: bigint
  /** Further uses of tools at the vendor, up to the maximum, beyond the one that `fees` covers. */
  readonly furtherUses: bigint
}

export type TermsResult = ReadableTerms | { readonly kind: 'unreadable'; readonly reason: string }

export type RateResult =
  | { readonly kind: 'rate'; readonly rate: Decimal }
  | { readonly kind: 'unreadable'; readonly reason: string }

/** Parses each text once and caches it: a busy model's terms are the same text in every call. */
export interface TermsReader {
  terms(text: string): TermsResult
  /** A user rate in percent. */
  rate(text: DecimalText): RateResult
}

/** Distinct texts remembered; more models than this on one instance only cost another parse. */
const REMEMBERED_MAX = 1024

/** Each reader has its own cache: keep one per store to parse once per process, or create one per batch. */
export function createTermsReader(): TermsReader {
  const terms = new Map<string, TermsResult>()
  const rates = new Map<string, RateResult>()
  return {
    terms: (text) => remember(terms, text, readTerms),
    rate: (text) => remember(rates, text, readRate),
  }
}

function remember<Result>(memory: Map<string, Result>, text: string, read: (text: string) => Result): Result {
  const known = memory.get(text)
  if (known !== undefined) return known
  if (memory.size >= REMEMBERED_MAX) memory.clear()
  const result = read(text)
  memory.set(text, result)
  return result
}

/**
 * Parses the JSON text of `PriceTerms`. `UnusableValue` is a result, not an exception: one bad row must not fail a
 * batch.
 */
export function readTerms(text: string): TermsResult {
  const parsed = parseJson(text)
  if (!isJsonObject(parsed)) return { kind: 'unreadable', reason: 'price terms are not a JSON object' }
  const pricing = readPricing(parsed['pricing'])
  // Open calls of an older build have it under its former name.
  const creditsPerUnit = readPrice(parsed['creditsPerUnit'] ?? parsed['creditsPerYuan'])
  const multipliers = readMultipliers(parsed['multipliers'])
  const surcharges = readSurcharges(parsed['surcharges'])
  if (
    pricing === undefined ||
    typeof creditsPerUnit !== 'string' ||
    multipliers === undefined ||
    surcharges === undefined
  ) {
    return { kind: 'unreadable', reason: 'price terms lack a field or hold a wrong one' }
  }
  const plain: PriceTerms = { pricing, creditsPerUnit, multipliers }
  const terms = surcharges.length === 0 ? plain : { ...plain, surcharges }
  return { kind: 'terms', terms, bounds: boundsOf(terms) }
}

function readRate(text: string): RateResult {
  const result = parseDecimal(text)
  if (result.kind === 'refused' || result.value.units < 0n) {
    return { kind: 'unreadable', reason: 'the user rate is not a decimal of at least 0' }
  }
  return { kind: 'rate', rate: result.value }
}

function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return value
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

const MODES: ReadonlySet<unknown> = new Set(BILLING_MODES)
const isBillingMode = (value: unknown): value is BillingMode => MODES.has(value)

function readPricing(value: JsonValue | undefined): Pricing | undefined {
  if (!isJsonObject(value)) return undefined
  const modes = value['billingModes']
  // Terms of an older build have no currency; the amount is exact all the same.
  const currency = value['currency'] ?? 'CNY'
  if (!Array.isArray(modes) || !modes.every(isBillingMode)) return undefined
  const inputPrice = readPrice(value['inputPrice'])
  const outputPrice = readPrice(value['outputPrice'])
  const cacheInputPrice = readPrice(value['cacheInputPrice'])
  const cacheOutputPrice = readPrice(value['cacheOutputPrice'])
  const cacheWritePrice = readPrice(value['cacheWritePrice'])
  const cacheWrite1hPrice = readPrice(value['cacheWrite1hPrice'])
  const requestPrice = readPrice(value['requestPrice'])
  const imagePrice = readPrice(value['imagePrice'])
  const videoPrice = readPrice(value['videoPrice'])
  const characterPrice = readPrice(value['characterPrice'])
  const audioSecondPrice = readPrice(value['audioSecondPrice'])
  if (
    typeof currency !== 'string' ||
    inputPrice === undefined ||
    outputPrice === undefined ||
    cacheInputPrice === undefined ||
    cacheOutputPrice === undefined ||
    cacheWritePrice === undefined ||
    cacheWrite1hPrice === undefined ||
    requestPrice === undefined ||
    imagePrice === undefined ||
    videoPrice === undefined ||
    characterPrice === undefined ||
    audioSecondPrice === undefined
  ) {
    return undefined
  }
  return {
    currency,
    billingModes: modes,
    inputPrice,
    outputPrice,
    cacheInputPrice,
    cacheOutputPrice,
    cacheWritePrice,
    cacheWrite1hPrice,
    requestPrice,
    imagePrice,
    videoPrice,
    characterPrice,
    audioSecondPrice,
  }
}

/** null or absent: no price; undefined: neither a price nor null. */
function readPrice(value: JsonValue | undefined): DecimalText | null | undefined {
  if (value === null || value === undefined) return null
  if (typeof value !== 'string') return undefined
  const result = parseDecimal(value)
  return result.kind === 'decimal' && result.value.units >= 0n ? value : undefined
}

function readMultipliers(value: JsonValue | undefined): Readonly<Record<string, DecimalText>> | undefined {
  if (!isJsonObject(value)) return undefined
  return Object.values(value).every((text) => typeof readPrice(text) === 'string') && isTextRecord(value)
    ? value
    : undefined
}

function readSurcharges(value: JsonValue | undefined): readonly FrozenSurcharge[] | undefined {
  if (value === undefined) return []
  if (!Array.isArray(value)) return undefined
  const surcharges = value.flatMap((one: JsonValue): readonly FrozenSurcharge[] => {
    const name = isJsonObject(one) ? one['name'] : undefined
    if (!isJsonObject(one) || typeof name !== 'string') return []
    const multiplier = readPrice(one['multiplier'])
    const perCall = readPrice(one['perCall'])
    const asked = one['asked'] === false ? { asked: false as const } : {}
    const usesMax = readUses(one['usesMax'])
    if (typeof multiplier === 'string') return [{ name, multiplier, ...asked }]
    return typeof perCall === 'string' ? [{ name, perCall, ...asked, ...usesMax }] : []
  })
  return surcharges.length === value.length ? surcharges : undefined
}

function readUses(value: JsonValue | undefined): { readonly usesMax?: number } {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? { usesMax: value } : {}
}

function isTextRecord(value: JsonObject): value is Readonly<Record<string, string>> {
  return Object.values(value).every((text) => typeof text === 'string')
}

function boundsOf(terms: PriceTerms): Bounds {
  const { pricing } = terms
  const has = (mode: BillingMode) => pricing.billingModes.includes(mode)
  const chainFactor = multiply(trusted(terms.creditsPerUnit), largest(Object.values(terms.multipliers), '1'))
  // What was not requested is charged if the answer reports it; it is not held for, and neither is a discount.
  const asked = (terms.surcharges ?? []).filter((one) => one.asked !== false && !isDiscount(one))
  const factor = asked.reduce(
    (product, one) => ('multiplier' in one ? multiply(product, trusted(one.multiplier)) : product),
    chainFactor,
  )
  const feeCost = (usesOf: (one: FrozenSurcharge) => number): Decimal =>
    multiply(multiply(feesOf(asked, usesOf), chainFactor), decimalOf(1_000_000n))
  const cost = (mode: BillingMode, prices: readonly (DecimalText | null)[], per: bigint): Decimal =>
    has(mode) ? multiply(multiply(largest(prices, '0'), factor), decimalOf(per)) : decimalOf(0n)
  const inputPrices = [
    pricing.inputPrice,
    pricing.cacheInputPrice,
    pricing.cacheWritePrice,
    pricing.cacheWrite1hPrice,
  ]
  // Money for a million tokens × Credits for a unit of it is µCr per token already; the others are per piece.
  return inWholeUnits({
    input: cost('token', [pricing.inputPrice], 1n),
    output: cost('token', [pricing.outputPrice, pricing.cacheOutputPrice], 1n),
    worstInput: cost('token', inputPrices, 1n),
    image: cost('image', [pricing.imagePrice], 1_000_000n),
    videoSecond: cost('video_second', [pricing.videoPrice], 1_000_000n),
    request: cost('request', [pricing.requestPrice], 1_000_000n),
    character: cost('character', [pricing.characterPrice], 1n),
    audioHundredth: cost('audio_second', [pricing.audioSecondPrice], 10_000n),
    fees: feeCost(() => 1),
    furtherUses: feeCost(({ usesMax = 1 }) => usesMax - 1),
  })
}

/** All at the finest scale that any of them needs. */
function inWholeUnits(costs: Readonly<Record<Exclude<keyof Bounds, 'scale'>, Decimal>>): Bounds {
  const scale = Math.max(...Object.values(costs).map((price) => price.scale))
  return {
    scale,
    input: unitsAt(costs.input, scale),
    output: unitsAt(costs.output, scale),
    worstInput: unitsAt(costs.worstInput, scale),
    image: unitsAt(costs.image, scale),
    videoSecond: unitsAt(costs.videoSecond, scale),
    request: unitsAt(costs.request, scale),
    character: unitsAt(costs.character, scale),
    audioHundredth: unitsAt(costs.audioHundredth, scale),
    fees: unitsAt(costs.fees, scale),
    furtherUses: unitsAt(costs.furtherUses, scale),
  }
}

function feesOf(surcharges: readonly FrozenSurcharge[], usesOf: (one: FrozenSurcharge) => number): Decimal {
  return surcharges.reduce(
    (sum, one) =>
      'perCall' in one ? add(sum, multiply(trusted(one.perCall), decimalOf(BigInt(usesOf(one))))) : sum,
    decimalOf(0n),
  )
}

function largest(texts: readonly (DecimalText | null)[], none: DecimalText): Decimal {
  let result: Decimal | undefined
  for (const text of texts) {
    if (text === null) continue
    const value = trusted(text)
    if (result === undefined || compare(value, result) > 0) result = value
  }
  return result ?? trusted(none)
}

/** For a text that was checked when it was read. */
function trusted(text: DecimalText): Decimal {
  const result = parseDecimal(text)
  if (result.kind === 'refused') throw new Error(`a checked decimal is ${result.reason}: ${text}`)
  return result.value
}
