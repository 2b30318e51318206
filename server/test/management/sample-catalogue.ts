/** A small catalogue for tests, whole and valid; tests change what they are about. */
import type { VendorKindRules } from '../../src/config/gateway-file/check-rows.ts'
import type { Catalogue, Chain, Credential, Model, Pricing, Vendor } from '../../src/core/catalogue.ts'
import { chainId, credentialId, forwardModelId, modelId, vendorCode } from '../../src/core/ids.ts'
import { UNLIMITED } from '../../src/core/limits/policy.ts'
import { Secret } from '../../src/core/secret.ts'

/** A vendor kind that speaks everything; without an address where none is given. */
export function sampleKind(kind: string, changes: Partial<VendorKindRules> = {}): VendorKindRules {
  const protocols = [
    'chat',
    'responses',
    'messages',
    'gemini',
    'embeddings',
    'moderation',
    'rerank',
    'images',
    'video',
  ]
  return { kind, protocols, baseUrl: `https://${kind}.example`, ...changes }
}

export const TOKEN_PRICING: Pricing = {
  currency: 'CNY',
  billingModes: ['token'],
  inputPrice: '9',
  outputPrice: '72',
  cacheInputPrice: '0.9',
  cacheOutputPrice: null,
  cacheWritePrice: null,
  cacheWrite1hPrice: null,
  requestPrice: null,
  imagePrice: null,
  videoPrice: null,
  characterPrice: null,
  audioSecondPrice: null,
}

export function sampleVendor(code: string, change: Partial<Vendor> = {}): Vendor {
  return {
    code: vendorCode(code),
    name: code.toUpperCase(),
    kind: 'openai-compatible',
    baseUrl: 'https://upstream.example/v1',
    timeouts: { connectMs: 5000, firstByteMs: 120_000, idleMs: 300_000 },
    status: 'enabled',
    ...change,
  }
}

export function sampleCredential(vendor: string, change: Partial<Credential> = {}): Credential {
  return {
    id: credentialId(`${vendor}-main`),
    vendorCode: vendorCode(vendor),
    name: 'main',
    secret: { secret: new Secret('upstream-secret'), fields: {} },
    limits: UNLIMITED,
    status: 'enabled',
    ...change,
  }
}

export function sampleChain(id: number, model: string, vendor: string, change: Partial<Chain> = {}): Chain {
  return {
    id: chainId(id),
    modelId: modelId(model),
    vendorCode: vendorCode(vendor),
    credentialId: credentialId(`${vendor}-main`),
    protocol: 'chat',
    forwardModelId: forwardModelId(`${model}-upstream`),
    priority: 1,
    weight: 100,
    rateMultiplier: '1',
    streamUsage: 'forward',
    clientGoneGraceMs: 3_000,
    minBytesPerSecond: 10,
    capabilities: {},
    status: 'enabled',
    ...change,
  }
}

export function sampleModel(id: string, chains: readonly Chain[], change: Partial<Model> = {}): Model {
  return {
    modelId: modelId(id),
    name: `Model ${id}`,
    createdAt: 1_700_000_000_500,
    status: 'enabled',
    clientVisible: true,
    supportFeatures: ['text'],
    requiredVerification: 0,
    requiredPlan: 0,
    contextTokens: undefined,
    maxOutputTokens: undefined,
    subscriptionCovered: true,
    pricing: TOKEN_PRICING,
    surcharges: {},
    refuse: [],
    chains,
    ...change,
  }
}

export interface SampleParts {
  readonly vendors?: readonly Vendor[]
  readonly credentials?: readonly Credential[]
  readonly models?: readonly Model[]
  readonly groups?: Catalogue['groups']
}

export function sampleCatalogue(parts: SampleParts): Catalogue {
  const vendors = parts.vendors ?? []
  const credentials = parts.credentials ?? vendors.map((vendor) => sampleCredential(vendor.code))
  return {
    settings: {
      currency: 'CNY',
      creditsPerUnit: '1000',
      otherCurrencies: { USD: '7200' },
      timezone: 'Asia/Shanghai',
      keyPrefix: 'sk-gateway-',
      limits: UNLIMITED,
    },
    vendors: new Map(vendors.map((vendor) => [vendor.code, vendor])),
    credentials: new Map(credentials.map((credential) => [credential.id, credential])),
    models: new Map((parts.models ?? []).map((model) => [model.modelId, model])),
    groups: parts.groups ?? new Map(),
    plans: new Map(),
  }
}
