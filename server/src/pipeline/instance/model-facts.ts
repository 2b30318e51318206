/**
 * Facts about a model that do not depend on a call: its prices as frozen text, its vendors, whether it makes videos.
 */
import type { Demand } from '../../core/ledger/operations.ts'
import type { Catalogue, Chain, Model } from '../../core/catalogue.ts'
import { knownRateOf } from '../../core/pricing/currency.ts'
import { freezeSurcharges } from '../../core/pricing/surcharges.ts'
import type { PriceTerms } from '../../core/pricing/terms.ts'
import { usableChains } from '../../core/routing/order.ts'
import { providerOf } from '../../providers/index.ts'
import { holdsKey } from '../../upstream/credentials/auth.ts'

export interface ModelFacts {
  /** The model's prices as frozen text, with the surcharges that the call asks for. */
  terms(model: Model, catalogue: Catalogue, extras?: AskedExtras): string
  vendors(model: Model, catalogue: Catalogue): Pick<Demand, 'vendors' | 'keylessVendors'>
}

interface AskedExtras {
  readonly asked: readonly string[]
  readonly toolUsesMax: number
}

const NOTHING_ASKED: AskedExtras = { asked: [], toolUsesMax: 0 }

/** A catalogue is immutable, so what follows from one of its models is computed once and kept with it. */
export function createModelFacts(): ModelFacts {
  const texts = new WeakMap<Model, string>()
  const vendorsOf = new WeakMap<Model, Pick<Demand, 'vendors' | 'keylessVendors'>>()
  return {
    terms(model, catalogue, extras = NOTHING_ASKED) {
      if (extras.asked.length > 0 && hasSurcharges(model))
        return termsText(priceTerms(model, catalogue, extras))
      const known = texts.get(model)
      if (known !== undefined) return known
      const text = termsText(priceTerms(model, catalogue, extras))
      texts.set(model, text)
      return text
    },
    vendors(model, catalogue) {
      const known = vendorsOf.get(model)
      if (known !== undefined) return known
      const vendors = demandVendors(usableChains(model, catalogue), catalogue)
      vendorsOf.set(model, vendors)
      return vendors
    },
  }
}

export function hasSurcharges({ surcharges }: Pick<Model, 'surcharges'>): boolean {
  for (const _name in surcharges) return true
  return false
}

/** Absent prices are left out: the text is stored with every call. */
function termsText(terms: PriceTerms): string {
  return JSON.stringify(terms, (_name, value: unknown) => value ?? undefined)
}

function priceTerms(model: Model, { settings }: Catalogue, extras: AskedExtras): PriceTerms {
  const { pricing, chains } = model
  const surcharges = freezeSurcharges(model, extras.asked, extras.toolUsesMax)
  return {
    pricing,
    creditsPerUnit: knownRateOf(settings, pricing.currency),
    multipliers: Object.fromEntries(chains.map((chain) => [String(chain.id), chain.rateMultiplier])),
    ...(surcharges.length === 0 ? {} : { surcharges }),
  }
}

/**
 * A model is a video model when its features say so (docs/reference/contract.md#4.4). A model that only accepts videos
 * as input, and whose chains all speak a chat-type protocol, is not one.
 */
export function isVideoModel(model: Model): boolean {
  const { chains, supportFeatures } = model
  return supportFeatures.includes('video') && (chains.length === 0 || chains.some(isVideoChain))
}

/** Every chain of this model is a video API: a chat call to it means a video (docs/reference/contract.md#4.4). */
export function makesOnlyVideos(model: Model): boolean {
  return isVideoModel(model) && model.chains.every(isVideoChain)
}

export function isVideoChain(chain: Chain): boolean {
  return chain.protocol === 'video'
}

type DemandVendors = Pick<Demand, 'vendors' | 'keylessVendors'>

/** Vendors of these chains, and those for which an own credential pays for nothing. */
export function demandVendors(chains: readonly Chain[], catalogue: Catalogue): DemandVendors {
  const vendors = [...new Set(chains.map((chain) => chain.vendorCode))]
  const keyless = chains.filter((chain) => !asksForKey(chain, catalogue))
  if (keyless.length === 0) return { vendors }
  return { vendors, keylessVendors: [...new Set(keyless.map((chain) => chain.vendorCode))] }
}

/** A server that needs no key from the operator serves every caller of this gateway. */
function asksForKey({ vendorCode, credentialId }: Chain, { vendors, credentials }: Catalogue): boolean {
  const kind = vendors.get(vendorCode)?.kind
  const provider = kind === undefined ? undefined : providerOf(kind)
  const credential = credentials.get(credentialId)
  if (provider === undefined || provider.ownServer === true || credential === undefined) return false
  return holdsKey(credential.secret, provider.publicFields)
}
