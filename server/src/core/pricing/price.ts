import type { DecimalText, Pricing } from '../catalogue.ts'
import type { ChainId } from '../ids.ts'
import type { Used } from '../metering/quantities.ts'
import { MICRO_CREDITS_PER_CREDIT, type MicroCredits, microCredits, ZERO } from '../money.ts'
import { add, type Decimal, decimalOf, multiply, parseDecimal, roundHalfEven } from './decimal.ts'
import { type AppliedSurcharge, chargedSurcharges, type MadeExtras } from './surcharges.ts'
import type { PriceTerms } from './terms.ts'
import type { Recipe, RecipeLine } from '../ledger/recipe.ts'

export interface Tariff {
  readonly terms: PriceTerms
  /** Chain used; one the terms do not know counts with multiplier 1. */
  readonly chainId: ChainId
  /** Percent. */
  readonly userRate: DecimalText
  /** What the answer reports about extras; absent: nothing, so what was requested counts. */
  readonly made?: MadeExtras | undefined
}

const NOTHING_KNOWN: MadeExtras = { told: undefined, sent: undefined, extent: 'cut' }

export interface PricedCall {
  readonly recipe: Recipe
  readonly amount: MicroCredits
}

/**
 * The exact amount of a call: list amount × chain's rate_multiplier × user_rate/100, rounded once at the end
 * (docs/reference/contract.md#D-names-10). A model billed by several modes sums them.
 */
export function priceCall(used: Used, tariff: Tariff): PricedCall {
  const { terms, made = NOTHING_KNOWN } = tariff
  const surcharges = chargedSurcharges(terms.surcharges ?? [], made)
  const base = {
    currency: terms.pricing.currency,
    creditsPerUnit: terms.creditsPerUnit,
    rateMultiplier: terms.multipliers[String(tariff.chainId)] ?? '1',
    userRate: tariff.userRate,
    lines: linesOf(used, terms.pricing),
    ...(surcharges.length === 0 ? {} : { surcharges }),
  }
  const amount = amountOf(base)
  return { recipe: { amount: amount.toString(), ...base }, amount }
}

/** The amount recomputed from the recipe alone: `verify` compares it with the charge. */
export function recomputeAmount(recipe: Omit<Recipe, 'amount'>): MicroCredits {
  return amountOf(recipe)
}

/**
 * What is deducted for an amount: below 1 Credit nothing, else all of it, unrounded (docs/reference/contract.md#8-33).
 */
export function deductible(amount: MicroCredits): MicroCredits {
  return amount < MICRO_CREDITS_PER_CREDIT ? ZERO : amount
}

function linesOf(used: Used, pricing: Pricing): readonly RecipeLine[] {
  const lines: RecipeLine[] = []
  const line = (
    name: RecipeLine['class'],
    quantity: number,
    price: DecimalText | null,
    per: RecipeLine['per'],
  ) => {
    if (quantity > 0) lines.push({ class: name, quantity: bounded(quantity), price: price ?? '0', per })
  }
  const modes = pricing.billingModes
  if (modes.includes('token')) {
    const { usage } = used
    const cachedInput = usage.cachedInput ?? 0
    // Only a call with a cache hit has cheap output (docs/reference/contract.md#D-names-17).
    const outputPrice =
      cachedInput > 0 ? (pricing.cacheOutputPrice ?? pricing.outputPrice) : pricing.outputPrice
    line('input', usage.input ?? 0, pricing.inputPrice, 1_000_000)
    line('cached_input', cachedInput, pricing.cacheInputPrice ?? pricing.inputPrice, 1_000_000)
    line('cache_write', usage.cacheWrite ?? 0, pricing.cacheWritePrice ?? pricing.inputPrice, 1_000_000)
    line(
      'cache_write_1h',
      usage.cacheWrite1h ?? 0,
      pricing.cacheWrite1hPrice ?? pricing.inputPrice,
      1_000_000,
    )
    line('output', usage.output ?? 0, outputPrice, 1_000_000)
  }
  if (modes.includes('image')) line('image', used.images, pricing.imagePrice, 1)
  if (modes.includes('video_second')) line('video_second', used.videoSeconds, pricing.videoPrice, 1)
  if (modes.includes('character')) line('character', used.characters, pricing.characterPrice, 1_000_000)
  if (modes.includes('audio_second')) line('audio_second', used.audioSeconds, pricing.audioSecondPrice, 1)
  if (modes.includes('request')) line('request', used.requests, pricing.requestPrice, 1)
  return lines
}

/** An upstream may claim any number of tokens, 1e999 included; beyond this a count is no longer exact. */
const bounded = (quantity: number): number => Math.min(quantity, Number.MAX_SAFE_INTEGER)

function amountOf(recipe: Omit<Recipe, 'amount'>): MicroCredits {
  let cost = decimalOf(0n)
  for (const line of recipe.lines) {
    const part = multiply(read(line.quantity), read(line.price))
    cost = add(
      cost,
      line.per === 1 ? part : { units: part.units, scale: part.scale + TOKENS_PER_PRICE_DIGITS },
    )
  }
  cost = withSurcharges(cost, recipe.surcharges ?? [])
  const rate = read(recipe.userRate)
  const factor = multiply(multiply(read(recipe.creditsPerUnit), read(recipe.rateMultiplier)), {
    units: rate.units * MICRO_CREDITS_PER_CREDIT,
    scale: rate.scale + PERCENT_DIGITS,
  })
  return microCredits(roundHalfEven(multiply(cost, factor)))
}

function withSurcharges(cost: Decimal, surcharges: readonly AppliedSurcharge[]): Decimal {
  const multiplied = surcharges.reduce(
    (sum, one) => ('multiplier' in one ? multiply(sum, read(one.multiplier)) : sum),
    cost,
  )
  return surcharges.reduce(
    (sum, one) => ('perCall' in one ? add(sum, multiply(read(one.perCall), read(one.count ?? 1))) : sum),
    multiplied,
  )
}

/** Token prices are per 10^6 tokens, rates per 10^2. */
const TOKENS_PER_PRICE_DIGITS = 6
const PERCENT_DIGITS = 2

/** Parsed prices and rates by their text: a platform has few, and every call needs some. */
const known = new Map<string, Decimal>()
const KNOWN_MAX = 1_000

/**
 * Prices and counts were checked where they came in; an impossible one here is a broken invariant and must not be
 * charged.
 */
function read(value: string | number): Decimal {
  const found = typeof value === 'string' ? known.get(value) : undefined
  if (found !== undefined) return found
  const result = parseDecimal(value)
  if (result.kind === 'refused') throw new Error(`a price formula holds "${value}": ${result.reason}`)
  if (result.value.units < 0n) throw new Error(`a price formula holds the negative number ${value}`)
  if (typeof value === 'string') {
    if (known.size >= KNOWN_MAX) known.clear()
    known.set(value, result.value)
  }
  return result.value
}
