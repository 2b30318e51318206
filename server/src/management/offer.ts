/** The catalogue of a first run nobody wrote a gateway file for: what the environment's vendor keys make possible. */
import type { Environment } from '../config/environment.ts'
import type { Feature, Pricing, ProtocolId } from '../core/catalogue.ts'
import { forwardModelId, modelId, vendorCode } from '../core/ids.ts'
import { UNLIMITED } from '../core/limits/policy.ts'
import { Secret } from '../core/secret.ts'
import type { CatalogueChange } from '../storage/records.ts'
import { TIMEOUTS_DEFAULT } from './gateway-file/plan-catalogue.ts'

/** A vendor as its provider folder lists it. */
export interface OfferedVendor {
  readonly code: string
  readonly kind: string
  readonly name: string
  /** The environment variable that holds its key; undefined: needs none. */
  readonly variable: string | undefined
  readonly models: readonly OfferedModel[]
}

export interface OfferedModel {
  readonly modelId: string
  readonly name: string
  readonly features: readonly Feature[]
  readonly contextTokens: number | undefined
  readonly maxOutputTokens: number | undefined
  readonly forwardModelId: string
  /** One chain each. */
  readonly protocols: readonly ProtocolId[]
  readonly pricing: Pricing
}

const CREDENTIAL = 'main'

/**
 * Vendors whose variable is set, or that need none, with all their models. A model two vendors list is the first one's,
 * and the others are tried after it.
 */
export function offerCatalogue(
  vendors: readonly OfferedVendor[],
  environment: Environment,
): readonly CatalogueChange[] {
  const usable = vendors.filter(({ variable }) => variable === undefined || isSet(environment[variable]))
  const listings = new Map<string, number>()
  return [
    ...usable.flatMap((vendor) => vendorChanges(vendor, environment)),
    ...usable.flatMap((vendor) =>
      vendor.models.flatMap((model) => {
        const priority = (listings.get(model.modelId) ?? 0) + 1
        listings.set(model.modelId, priority)
        return [...(priority === 1 ? [modelChange(model)] : []), ...chainChanges(vendor, model, priority)]
      }),
    ),
  ]
}

function isSet(text: string | undefined): boolean {
  return text !== undefined && text.trim() !== ''
}

function vendorChanges(vendor: OfferedVendor, environment: Environment): readonly CatalogueChange[] {
  const code = vendorCode(vendor.code)
  const key = vendor.variable === undefined ? undefined : environment[vendor.variable]?.trim()
  return [
    {
      kind: 'put-vendor',
      vendor: {
        code,
        name: vendor.name,
        kind: vendor.kind,
        baseUrl: undefined,
        timeouts: TIMEOUTS_DEFAULT,
        status: 'enabled',
      },
    },
    {
      kind: 'put-credential',
      vendorCode: code,
      name: CREDENTIAL,
      secret: key === undefined ? undefined : { secret: new Secret(key), fields: {} },
      limits: UNLIMITED,
      status: 'enabled',
    },
  ]
}

function modelChange(model: OfferedModel): CatalogueChange {
  return {
    kind: 'put-model',
    model: {
      modelId: modelId(model.modelId),
      name: model.name,
      status: 'enabled',
      clientVisible: true,
      supportFeatures: model.features,
      requiredVerification: 0,
      requiredPlan: 0,
      contextTokens: model.contextTokens,
      maxOutputTokens: model.maxOutputTokens,
      subscriptionCovered: true,
      pricing: model.pricing,
    },
  }
}

function chainChanges(
  vendor: OfferedVendor,
  model: OfferedModel,
  priority: number,
): readonly CatalogueChange[] {
  return model.protocols.map((protocol) => ({
    kind: 'put-chain',
    chain: {
      modelId: modelId(model.modelId),
      vendorCode: vendorCode(vendor.code),
      protocol,
      forwardModelId: forwardModelId(model.forwardModelId),
      priority,
      weight: 100,
      rateMultiplier: '1',
      streamUsage: 'forward',
      status: 'enabled',
    },
    credentialName: CREDENTIAL,
  }))
}
