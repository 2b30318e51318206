/**
 * The catalogue of a first start without a gateway file: every vendor whose key is in the environment, and the sandbox.
 */
import type { Environment } from '../config/environment.ts'
import { CLIENT_GONE_GRACE_MS, MIN_BYTES_PER_SECOND } from '../core/catalogue.ts'
import { forwardModelId, modelId, vendorCode } from '../core/ids.ts'
import { UNLIMITED } from '../core/limits/policy.ts'
import { Secret } from '../core/secret.ts'
import { presetStreamUsage } from '../pipeline/explain/unreported-usage.ts'
import { environmentVendors } from '../providers/catalogue/index.ts'
import { type EnvironmentVendor, type ListedModel, pricingOf } from '../providers/catalogue/listing.ts'
import type { CatalogueChange } from '../storage/stores/records.ts'

const CREDENTIAL = 'main'
const TIMEOUTS = { connectMs: 5_000, firstByteMs: 120_000, idleMs: 300_000 }

export function firstCatalogue(
  environment: Environment,
  known: readonly EnvironmentVendor[] = environmentVendors,
): readonly CatalogueChange[] {
  return catalogueOf(
    known
      .map((vendor) => ({ vendor, key: keyOf(vendor, environment) }))
      .filter(({ vendor, key }) => vendor.variable === undefined || key !== undefined),
  )
}

/** A vendor with the initial key of its credential. */
export interface KeyedVendor {
  readonly vendor: EnvironmentVendor
  /** undefined: it needs none. */
  readonly key: Secret | undefined
}

export function catalogueOf(keyed: readonly KeyedVendor[]): readonly CatalogueChange[] {
  const vendors = keyed.map(({ vendor }) => vendor)
  return [
    ...keyed.flatMap(({ vendor, key }) => [putVendor(vendor), putCredential(vendor, key)]),
    ...firstListed(vendors).map(putModel),
    ...vendors.flatMap((vendor) => vendor.models.flatMap((model) => putChains(vendor, model))),
  ]
}

/** A model listed by several vendors becomes one model, described by the first of them, with a chain for each. */
function firstListed(vendors: readonly EnvironmentVendor[]): readonly ListedModel[] {
  const models = new Map<string, ListedModel>()
  for (const model of vendors.flatMap((vendor) => vendor.models)) {
    if (!models.has(model.modelId)) models.set(model.modelId, model)
  }
  return [...models.values()]
}

/** The environment's key of the vendor; undefined: it needs none, or there is none. */
export function keyOf(
  { variable }: Pick<EnvironmentVendor, 'variable'>,
  environment: Environment,
): Secret | undefined {
  const text = variable === undefined ? undefined : environment[variable]?.trim()
  return text === undefined || text === '' ? undefined : new Secret(text)
}

function putVendor(vendor: EnvironmentVendor): CatalogueChange {
  return {
    kind: 'put-vendor',
    vendor: {
      code: vendorCode(vendor.code),
      name: vendor.name,
      kind: vendor.kind,
      baseUrl: undefined,
      timeouts: TIMEOUTS,
      status: 'enabled',
    },
  }
}

function putCredential(vendor: EnvironmentVendor, key: Secret | undefined): CatalogueChange {
  return {
    kind: 'put-credential',
    vendorCode: vendorCode(vendor.code),
    name: CREDENTIAL,
    secret: { secret: key, fields: {} },
    limits: UNLIMITED,
    status: 'enabled',
  }
}

function putModel(model: ListedModel): CatalogueChange {
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
      subscriptionCovered: false,
      pricing: pricingOf(model.price),
      surcharges: {},
      refuse: [],
    },
  }
}

function putChains(vendor: EnvironmentVendor, model: ListedModel): readonly CatalogueChange[] {
  return model.protocols.map((protocol) => ({
    kind: 'put-chain',
    chain: {
      modelId: modelId(model.modelId),
      vendorCode: vendorCode(vendor.code),
      protocol,
      forwardModelId: forwardModelId(model.forwardModelId),
      priority: 1,
      weight: 100,
      rateMultiplier: '1',
      streamUsage: presetStreamUsage(vendor.kind, protocol, model.forwardModelId),
      clientGoneGraceMs: CLIENT_GONE_GRACE_MS,
      minBytesPerSecond: MIN_BYTES_PER_SECOND,
      capabilities: {},
      status: 'enabled',
    },
    credentialName: CREDENTIAL,
  }))
}
