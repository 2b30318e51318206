import type { Demand, Estimate } from '../core/calls/operations.ts'
import type { Catalogue, Model } from '../core/catalogue.ts'
import { GatewayError } from '../core/errors/gateway-error.ts'
import type { VendorCode } from '../core/ids.ts'
import type { PriceTerms } from '../core/pricing/terms.ts'
import { usableChains } from '../core/routing/order.ts'
import type { AdmittedCall, ReceivedCall } from './call.ts'
import type { Gateway } from './gateway.ts'

/** English text and JSON average about four bytes a token; the hold is settled to the true count afterwards. */
const BYTES_PER_TOKEN = 4
/** An image or a file, before the upstream has counted it. */
const TOKENS_PER_MEDIA = 1_600
/** Output bound of a call that names no cap of its own: enough for most answers, settled afterwards. */
const OUTPUT_TOKENS_ASSUMED = 4_096
/** Output bound where neither client nor model names one. */
const OUTPUT_TOKENS_WORST = 128_000

/**
 * Finds the model and says what the call demands of the account. Levels and the right to call are not judged here:
 * `reserve` judges them on the account's fresh row, so that a verification counts from the next call on every instance.
 */
export function admit(gateway: Pick<Gateway, 'catalogue'>, call: ReceivedCall): AdmittedCall {
  const catalogue = gateway.catalogue()
  const model = findModel(call, catalogue)
  const fallback = findFallback(call, catalogue, model)
  return {
    ...call,
    stage: 'admitted',
    catalogue,
    model,
    fallback,
    demand: demandOf(model, catalogue, call),
    fallbackDemand: fallback === undefined ? undefined : demandOf(fallback, catalogue, call),
  }
}

function findModel(call: ReceivedCall, catalogue: Catalogue): Model {
  const model = catalogue.models.get(call.modelId)
  if (model?.status === 'enabled') return model
  if (model === undefined && call.address === 'gateway') {
    throw new GatewayError(40400, { message: `the model ${call.modelId} does not exist` })
  }
  throw new GatewayError(50201, {
    internal: model === undefined ? 'unknown model' : `model is ${model.status}`,
  })
}

/** The account's fallback model, when it can stand in; a missing or switched-off one counts as none. */
export function findFallback(
  call: Pick<ReceivedCall, 'account'>,
  catalogue: Catalogue,
  model: Model,
): Model | undefined {
  const id = call.account.fallbackModel
  if (id === undefined || id === model.modelId) return undefined
  const fallback = catalogue.models.get(id)
  return fallback?.status === 'enabled' ? fallback : undefined
}

function demandOf(model: Model, catalogue: Catalogue, call: ReceivedCall): Demand {
  return {
    modelId: model.modelId,
    requiredVerification: model.requiredVerification,
    requiredPlan: model.requiredPlan,
    subscriptionCovered: model.subscriptionCovered,
    vendors: vendorsOf(model, catalogue),
    terms: termsOf(model, catalogue),
    estimate: estimateOf(model, call),
  }
}

export function estimateOf(model: Model, call: Pick<ReceivedCall, 'scan'>): Estimate {
  const { bodyBytes, mediaBytes, mediaCount } = call.scan
  const likely = Math.ceil((bodyBytes - mediaBytes) / BYTES_PER_TOKEN) + mediaCount * TOKENS_PER_MEDIA
  const inputMax = model.contextTokens ?? Number.POSITIVE_INFINITY
  const outputMax = model.maxOutputTokens ?? OUTPUT_TOKENS_WORST
  const cap = call.scan.maxOutputTokens
  const candidates = call.scan.candidates ?? 1
  const bounded = cap === undefined ? Math.min(outputMax, OUTPUT_TOKENS_ASSUMED) : Math.min(cap, outputMax)
  return {
    inputTokens: Math.min(likely, inputMax),
    outputTokens: bounded * candidates,
    images: model.pricing.billingModes.includes('image') ? 1 : 0,
    videoSeconds: 0,
    bound: cap === undefined ? 'affordable' : 'strict',
    worstInputTokens: Math.min(bodyBytes, inputMax),
    worstOutputTokens: Math.min(cap ?? outputMax, outputMax) * candidates,
  }
}

const termsCache = new WeakMap<Model, string>()
const vendorsCache = new WeakMap<Model, readonly VendorCode[]>()

/** The model's prices as frozen text. A catalogue is immutable, so its models' texts never change. */
export function termsOf(model: Model, catalogue: Catalogue): string {
  const known = termsCache.get(model)
  if (known !== undefined) return known
  const terms: PriceTerms = {
    pricing: model.pricing,
    creditsPerYuan: catalogue.settings.creditsPerYuan,
    multipliers: Object.fromEntries(model.chains.map((chain) => [String(chain.id), chain.rateMultiplier])),
  }
  const text = JSON.stringify(terms)
  termsCache.set(model, text)
  return text
}

function vendorsOf(model: Model, catalogue: Catalogue): readonly VendorCode[] {
  const known = vendorsCache.get(model)
  if (known !== undefined) return known
  const vendors = [...new Set(usableChains(model, catalogue).map((chain) => chain.vendorCode))]
  vendorsCache.set(model, vendors)
  return vendors
}
