import type { Demand } from '../../core/ledger/operations.ts'
import type { Catalogue, Model } from '../../core/catalogue.ts'
import { ERRORS } from '../../core/errors/catalogue.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { knownRateOf } from '../../core/pricing/currency.ts'
import { findRefused, freezeSurcharges } from '../../core/pricing/surcharges.ts'
import { nearestName } from '../../core/nearest-name.ts'
import type { PriceTerms } from '../../core/pricing/terms.ts'
import { usableChains } from '../../core/routing/order.ts'
import { askedExtras, toolUsesMax } from './asked-extras.ts'
import type { AdmittedCall, ReceivedCall } from '../call.ts'
import { demandVendors } from '../instance/chains/own-credentials.ts'
import { endpointsOf } from '../kinds/index.ts'
import type { EndpointKind, EstimateParts } from '../kinds/kind.ts'
import type { Pipeline } from '../context.ts'

/**
 * Finds the model and says what the call demands of the account. Levels and the right to call are not judged here:
 * `reserve` judges them on the account's fresh row, so that a verification counts from the next call on every instance.
 */
export function admit(
  pipeline: Pick<Pipeline, 'catalogue' | 'observations'>,
  call: ReceivedCall,
): AdmittedCall {
  const catalogue = pipeline.catalogue()
  const asked = askedExtras(call)
  const parts = { catalogue, observations: pipeline.observations, asked }
  const model = findModel(call, catalogue)
  checkRefused(model, asked)
  const found = findFallback(call, catalogue, model)
  const serves = found !== undefined && servesKind(found.chains, call.endpoint.kind)
  const fallback = allowedFallback(serves ? found : undefined, asked)
  return {
    ...call,
    stage: 'admitted',
    catalogue,
    model,
    fallback,
    demand: demandOf(model, call, parts),
    fallbackDemand: fallback === undefined ? undefined : demandOf(fallback, call, parts),
  }
}

function findModel(call: ReceivedCall, catalogue: Catalogue): Model {
  const model = catalogue.models.get(call.modelId)
  if (model?.status === 'enabled') {
    checkServed(model, call)
    return model
  }
  const hint = model === undefined ? meantInstead(call.modelId, catalogue) : ''
  if (model === undefined && call.address === 'gateway') {
    throw new GatewayError(40400, { message: `the model ${call.modelId} does not exist${hint}` })
  }
  throw new GatewayError(50201, {
    internal: model === undefined ? 'unknown model' : `model is ${model.status}`,
    ...(hint === '' ? {} : { message: `${ERRORS[50201].message}${hint}` }),
    // Another try finds nothing else; a model under maintenance may come back.
    ...(model?.status === 'maintenance' ? {} : { headers: { 'x-should-retry': 'false' } }),
  })
}

/** A model has chains, and none of them answers calls of this kind: the client is told where it is to call. */
export function checkServed(
  { modelId, chains }: Pick<Model, 'modelId' | 'chains'>,
  { endpoint }: Pick<ReceivedCall, 'endpoint'>,
): void {
  const [first] = chains
  if (first === undefined || servesKind(chains, endpoint.kind)) return
  throw new GatewayError(40403, {
    message: `the model ${modelId} is not served at ${endpoint.path}: call it at ${endpointsOf(first.protocol)[0] ?? ''}`,
  })
}

function servesKind(chains: Model['chains'], kind: EndpointKind): boolean {
  return chains.some(({ protocol }) => kind.chains.includes(protocol))
}

/** Longer names are no slip of the finger. */
const NAME_CHARACTERS_MAX = 64
const CANDIDATES_MAX = 1_000

/** The visible model that a mistyped name most probably meant, as the end of a sentence. */
export function meantInstead(name: string, { models }: Catalogue): string {
  if (name.length > NAME_CHARACTERS_MAX) return ''
  const names = [...models.values()]
    .filter((model) => model.status === 'enabled' && model.clientVisible)
    .slice(0, CANDIDATES_MAX)
    .map((model) => model.modelId)
  const nearest = nearestName(name, names)
  return nearest === undefined ? '' : `; did you mean ${nearest}?`
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

function checkRefused(model: Model, asked: readonly string[]): void {
  const refused = findRefused(model, asked)
  if (refused === undefined) return
  throw new GatewayError(40000, {
    message: `${refused} is not allowed for the model ${model.modelId}`,
    details: { param: refused.split('.', 1)[0] ?? refused, reason: 'field_refused' },
  })
}

/** One that refuses what the call asks for cannot stand in. */
function allowedFallback(fallback: Model | undefined, asked: readonly string[]): Model | undefined {
  return fallback === undefined || findRefused(fallback, asked) !== undefined ? undefined : fallback
}

interface DemandParts extends EstimateParts {
  readonly asked: readonly string[]
}

function demandOf(model: Model, call: ReceivedCall, parts: DemandParts): Demand {
  const { catalogue } = parts
  return {
    modelId: model.modelId,
    requiredVerification: model.requiredVerification,
    requiredPlan: model.requiredPlan,
    subscriptionCovered: model.subscriptionCovered,
    ...vendorsOf(model, catalogue),
    terms: termsOf(model, catalogue, {
      asked: parts.asked,
      toolUsesMax: toolUsesMax(model, call, catalogue),
    }),
    estimate: estimateOf(model, call, parts),
  }
}

function estimateOf(model: Model, call: ReceivedCall, parts: EstimateParts): Demand['estimate'] {
  const { kind } = call.endpoint
  if (kind.estimate === undefined) throw new Error(`a call of the kind ${kind.id} says not what it holds`)
  return kind.estimate(model, call, parts)
}

const termsCache = new WeakMap<Model, string>()
const vendorsCache = new WeakMap<Model, ReturnType<typeof demandVendors>>()

/** The model's prices as frozen text. A catalogue is immutable, so its models' texts never change. */
export function termsOf(model: Model, catalogue: Catalogue, extras: AskedExtras = NOTHING_ASKED): string {
  if (extras.asked.length > 0 && hasSurcharges(model))
    return JSON.stringify(priceTerms(model, catalogue, extras))
  const known = termsCache.get(model)
  if (known !== undefined) return known
  const text = JSON.stringify(priceTerms(model, catalogue, extras))
  termsCache.set(model, text)
  return text
}

interface AskedExtras {
  readonly asked: readonly string[]
  readonly toolUsesMax: number
}

const NOTHING_ASKED: AskedExtras = { asked: [], toolUsesMax: 0 }

export function hasSurcharges({ surcharges }: Pick<Model, 'surcharges'>): boolean {
  for (const _name in surcharges) return true
  return false
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

function vendorsOf(model: Model, catalogue: Catalogue): ReturnType<typeof demandVendors> {
  const known = vendorsCache.get(model)
  if (known !== undefined) return known
  const vendors = demandVendors(usableChains(model, catalogue), catalogue)
  vendorsCache.set(model, vendors)
  return vendors
}
