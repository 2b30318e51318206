/**
 * What the catalogue and the pricing endpoint show: one row per usable chain
 * (docs/reference/contract.md#2.1, #2.2, #4.5).
 */
import type { Catalogue, Chain, ChainProtocol, DecimalText, Model, Vendor } from '../../core/catalogue.ts'
import { usableChains } from '../../core/routing/order.ts'

/** One usable chain, as a row of the catalogue (docs/reference/contract.md#2.1). */
export interface CatalogueEntry {
  readonly id: number
  readonly model_id: string
  readonly name: string
  readonly status: string
  readonly client_visible: boolean
  readonly rate_multiplier: number
  readonly vendor_code: string
  readonly vendor_name: string
  readonly forward_model_id: string
  /** Paths for calls of the model, as the contract writes them. */
  readonly endpoints: readonly string[]
}

/**
 * A pricing entry with further fields (docs/reference/contract.md#2.2, #D-names-19). Prices are list prices in the
 * model's `currency`, each the one that applies: 0 for what the model is not billed by.
 */
export interface PricingEntry {
  readonly model_id: string
  readonly name: string
  readonly vendor_code: string
  readonly vendor_name: string
  readonly currency: string
  readonly support_features: readonly string[]
  readonly endpoints: readonly string[]
  readonly billing_modes: readonly string[]
  readonly input_price: number
  readonly output_price: number
  readonly cache_input_price: number
  readonly cache_output_price: number
  readonly cache_write_price: number
  readonly cache_write_1h_price: number
  readonly request_price: number
  readonly image_price: number
  readonly video_price: number
  readonly character_price: number
  readonly audio_second_price: number
  readonly rate_multiplier: number
  readonly user_rate: number
}

/** A set of models of one protocol that keys can be bound to. */
export interface GroupEntry {
  readonly name: string
  readonly protocol: string
  readonly models: readonly string[]
}

export interface PricingQuestion {
  /** Percent: the account's own rate; undefined for anonymous callers, who see 100. */
  readonly userRate: DecimalText | undefined
  readonly modelId: string | undefined
  readonly vendorCode: string | undefined
}

/** The paths for calls that such a chain of such a vendor kind answers. */
export type PathsOf = (protocol: ChainProtocol, vendorKind: string | undefined) => readonly string[]

/** A chain that a call could be sent over, as far as the catalogue knows. */
interface UsableChain {
  readonly model: Model
  readonly chain: Chain
  readonly vendor: Vendor
}

const LIST_RATE = '100'

/**
 * Every enabled, visible model's usable chains; the caller's level does not matter here
 * (docs/reference/contract.md#2.1).
 */
export function listCatalogue(catalogue: Catalogue, pathsOf: PathsOf): readonly CatalogueEntry[] {
  return visibleChains(catalogue).map(({ model, chain, vendor }) => ({
    id: chain.id,
    model_id: model.modelId,
    name: model.name,
    status: model.status,
    client_visible: model.clientVisible,
    rate_multiplier: Number(chain.rateMultiplier),
    vendor_code: vendor.code,
    vendor_name: vendor.name,
    forward_model_id: chain.forwardModelId,
    endpoints: endpointsOf(model, catalogue, pathsOf),
  }))
}

/** The same rows with prices; chains of one vendor with the same price are listed once. */
export function listPricing(
  catalogue: Catalogue,
  question: PricingQuestion,
  pathsOf: PathsOf,
): readonly PricingEntry[] {
  const told = new Set<string>()
  return visibleChains(catalogue)
    .filter(({ model }) => question.modelId === undefined || model.modelId === question.modelId)
    .filter(({ vendor }) => question.vendorCode === undefined || vendor.code === question.vendorCode)
    .filter(({ model, chain, vendor }) => {
      const terms = JSON.stringify([model.modelId, vendor.code, chain.rateMultiplier])
      if (told.has(terms)) return false
      told.add(terms)
      return true
    })
    .map((usable) => ({
      ...pricingEntry(usable, question.userRate ?? LIST_RATE),
      endpoints: endpointsOf(usable.model, catalogue, pathsOf),
    }))
}

/** The groups, and those of their models that are visible to all. */
export function listGroups(catalogue: Catalogue): readonly GroupEntry[] {
  return [...catalogue.groups.values()].map(({ name, protocol, models }) => ({
    name,
    protocol,
    models: models.filter((id) => {
      const model = catalogue.models.get(id)
      return model?.status === 'enabled' && model.clientVisible
    }),
  }))
}

function endpointsOf(model: Model, catalogue: Catalogue, pathsOf: PathsOf): readonly string[] {
  const { vendors } = catalogue
  const paths = usableChains(model, catalogue).flatMap(({ protocol, vendorCode }) =>
    pathsOf(protocol, vendors.get(vendorCode)?.kind),
  )
  return [...new Set(paths)]
}

/** Cooldowns and reached limits are temporary and do not matter here. */
function visibleChains(catalogue: Catalogue): readonly UsableChain[] {
  return [...catalogue.models.values()]
    .filter((model) => model.status === 'enabled' && model.clientVisible)
    .flatMap((model) => usableChains(model, catalogue).map((chain) => withVendor(model, chain, catalogue)))
}

function withVendor(model: Model, chain: Chain, catalogue: Catalogue): UsableChain {
  const vendor = catalogue.vendors.get(chain.vendorCode)
  if (vendor === undefined) throw new Error(`chain ${chain.id} is usable and its vendor is not there`)
  return { model, chain, vendor }
}

function pricingEntry(
  { model, chain, vendor }: UsableChain,
  userRate: DecimalText,
): Omit<PricingEntry, 'endpoints'> {
  const { pricing } = model
  return {
    model_id: model.modelId,
    name: model.name,
    vendor_code: vendor.code,
    vendor_name: vendor.name,
    currency: pricing.currency,
    support_features: model.supportFeatures,
    billing_modes: pricing.billingModes,
    input_price: numberOf(pricing.inputPrice),
    output_price: numberOf(pricing.outputPrice),
    cache_input_price: numberOf(pricing.cacheInputPrice ?? pricing.inputPrice),
    cache_output_price: numberOf(pricing.cacheOutputPrice ?? pricing.outputPrice),
    cache_write_price: numberOf(pricing.cacheWritePrice ?? pricing.inputPrice),
    cache_write_1h_price: numberOf(pricing.cacheWrite1hPrice ?? pricing.inputPrice),
    request_price: numberOf(pricing.requestPrice),
    image_price: numberOf(pricing.imagePrice),
    video_price: numberOf(pricing.videoPrice),
    character_price: numberOf(pricing.characterPrice),
    audio_second_price: numberOf(pricing.audioSecondPrice),
    rate_multiplier: Number(chain.rateMultiplier),
    user_rate: Number(userRate),
  }
}

/** The contract shows prices as numbers; money is never computed from them. */
function numberOf(price: DecimalText | null): number {
  return price === null ? 0 : Number(price)
}
