import type { Demand } from '../../core/ledger/operations.ts'
import type { Catalogue, Chain, Model } from '../../core/catalogue.ts'
import { ERRORS } from '../../core/errors/catalogue.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { findRefused } from '../../core/pricing/surcharges.ts'
import { nearestName } from '../../core/nearest-name.ts'
import { mayStandIn } from './authenticate.ts'
import { askedExtras, toolUsesMax } from './estimate.ts'
import { type AdmittedCall, advance, type ReceivedCall } from '../call.ts'
import type { ModelFacts } from '../instance/model-facts.ts'
import { endpointsOf } from '../kinds/index.ts'
import type { EstimateParts } from '../kinds/kind.ts'
import type { Pipeline } from '../context.ts'
import { usableChains } from '../../core/routing/order.ts'
import { providerOf } from '../../providers/index.ts'
import { answersInBackground, takesPath } from '../attempt/dialect.ts'

export type AdmitParts = Pick<Pipeline, 'observations' | 'models'>

/**
 * Finds the model and determines what the call requires of the account. Levels and the right to call are decided by
 * `reserve` on the account's fresh row, so that a verification counts from the next call on every instance.
 */
export function admit(pipeline: AdmitParts, call: ReceivedCall): AdmittedCall {
  const refused = call.endpoint.kind.refuses?.(call.scan)
  if (refused !== undefined) throw new GatewayError(40000, { message: refused })
  const { observations, models } = pipeline
  const { catalogue } = call
  const asked = askedExtras(call)
  const parts = { catalogue, observations, models, asked }
  return admitBy(call, {
    find() {
      const model = findModel(call, catalogue)
      checkRefused(model, asked)
      return model
    },
    // A model that refuses what the call asks for cannot be the fallback.
    canStandIn: (model) =>
      model.chains.some((chain) => serves(chain, call.endpoint, catalogue.vendors)) &&
      findRefused(model, asked) === undefined,
    demand: (model) => demandOf(model, call, parts),
  })
}

/** How calls of one form find their model and what they demand of it; the rest of an admission is the same for all. */
export interface Admission {
  /** Throws what applies when there is no such model. */
  find(): Model
  canStandIn(fallback: Model): boolean
  demand(model: Model): Pick<Demand, 'vendors' | 'keylessVendors' | 'terms' | 'estimate'>
}

type Admitted = Pick<AdmittedCall, 'stage' | 'model' | 'fallback' | 'demand' | 'fallbackDemand'>

export function admitBy<Call extends Pick<ReceivedCall, 'account' | 'catalogue' | 'key' | 'stage'>>(
  call: Call,
  admission: Admission,
): Omit<Call, 'stage'> & Admitted {
  const model = admission.find()
  const found = findFallback(call, model)
  const fallback = found !== undefined && admission.canStandIn(found) ? found : undefined
  const demandOfModel = (one: Model): Demand => {
    const { vendors, keylessVendors, terms, estimate } = admission.demand(one)
    return {
      modelId: one.modelId,
      requiredVerification: one.requiredVerification,
      requiredPlan: one.requiredPlan,
      subscriptionCovered: one.subscriptionCovered,
      vendors,
      keylessVendors,
      terms,
      estimate,
    }
  }
  return advance(call, {
    stage: 'admitted',
    model,
    fallback,
    demand: demandOfModel(model),
    fallbackDemand: fallback === undefined ? undefined : demandOfModel(fallback),
  })
}

function findModel(call: ReceivedCall, catalogue: Catalogue): Model {
  const model = catalogue.models.get(call.modelId)
  if (model?.status === 'enabled') {
    checkServed(model, call, catalogue)
    return model
  }
  const hint = model === undefined ? meantInstead(call.modelId, catalogue) : ''
  if (model === undefined && call.address === 'gateway') {
    throw new GatewayError(40400, { message: `the model ${call.modelId} does not exist${hint}` })
  }
  throw new GatewayError(50201, {
    internal: model === undefined ? 'unknown model' : `model is ${model.status}`,
    ...(hint === '' ? {} : { message: `${ERRORS[50201].message}${hint}` }),
    // A retry would find nothing else, but a model under maintenance may come back.
    ...(model?.status === 'maintenance' ? {} : { headers: { 'x-should-retry': 'false' } }),
  })
}

/** If a model has chains but none for calls of this kind, the error names the right path. */
export function checkServed(
  { modelId, chains }: Pick<Model, 'modelId' | 'chains'>,
  { endpoint }: Pick<ReceivedCall, 'endpoint'>,
  { vendors }: Pick<Catalogue, 'vendors'>,
): void {
  const [first] = chains
  if (first === undefined || chains.some((chain) => serves(chain, endpoint, vendors))) return
  throw new GatewayError(40403, {
    message: `the model ${modelId} is not served at ${endpoint.path}: call it at ${endpointsOf(first.protocol, vendors.get(first.vendorCode)?.kind)[0] ?? ''}`,
  })
}

function serves(
  { protocol, vendorCode }: Chain,
  { kind, path }: Pick<ReceivedCall['endpoint'], 'kind' | 'path'>,
  vendors: Catalogue['vendors'],
): boolean {
  if (!kind.chains.includes(protocol)) return false
  const vendor = vendors.get(vendorCode)
  const dialect = vendor && protocol !== 'video' ? providerOf(vendor.kind)?.dialects[protocol] : undefined
  return dialect === undefined || takesPath(dialect, path)
}

/** Longer names are not typing errors. */
const NAME_CHARACTERS_MAX = 64
const CANDIDATES_MAX = 1_000

/** The visible model that a mistyped name most probably stands for, as the end of a sentence. */
export function meantInstead(name: string, { models }: Catalogue): string {
  if (name.length > NAME_CHARACTERS_MAX) return ''
  const names = [...models.values()]
    .filter((model) => model.status === 'enabled' && model.clientVisible)
    .slice(0, CANDIDATES_MAX)
    .map((model) => model.modelId)
  const nearest = nearestName(name, names)
  return nearest === undefined ? '' : `; did you mean ${nearest}?`
}

/** The account's fallback model, if its key may use it; a missing or switched-off one counts as none. */
function findFallback(
  { account, catalogue, key }: Pick<ReceivedCall, 'account' | 'catalogue' | 'key'>,
  model: Model,
): Model | undefined {
  const id = account.fallbackModel
  if (id === undefined || id === model.modelId) return undefined
  const fallback = catalogue.models.get(id)
  return fallback?.status === 'enabled' && mayStandIn(key, id, catalogue) ? fallback : undefined
}

function checkRefused(model: Model, asked: readonly string[]): void {
  const refused = findRefused(model, asked)
  if (refused === undefined) return
  throw new GatewayError(40000, {
    message: `${refused} is not allowed for the model ${model.modelId}`,
    details: { param: refused.split('.', 1)[0] ?? refused, reason: 'field_refused' },
  })
}

interface DemandParts extends EstimateParts {
  readonly models: ModelFacts
  readonly asked: readonly string[]
}

function demandOf(model: Model, call: ReceivedCall, parts: DemandParts): ReturnType<Admission['demand']> {
  const { asked, catalogue, models } = parts
  return {
    terms: models.terms(model, catalogue, { asked, toolUsesMax: toolUsesMax(model, call, catalogue) }),
    estimate: estimateOf(model, call, parts),
    ...models.vendors(model, catalogue),
  }
}

function estimateOf(model: Model, call: ReceivedCall, parts: EstimateParts): Demand['estimate'] {
  const { kind } = call.endpoint
  if (kind.estimate === undefined)
    throw new Error(`a call of the kind ${kind.id} has no estimate of what it holds`)
  return kind.estimate(model, call, parts)
}

/**
 * A background answer is made after its call was answered, so only upstreams that can be polled for it later are used:
 * otherwise it would not be charged. Throws 40000 naming the field, before anything is spent.
 */
export function checkBackground(
  call: Pick<AdmittedCall, 'scan' | 'stream' | 'past' | 'model' | 'catalogue'>,
): void {
  const { scan, model, catalogue } = call
  if (!scan.background) return
  if (scan.forget)
    throw refusal('store', 'a background response has to be stored: leave store out or set it to true')
  if (call.stream)
    throw refusal(
      'stream',
      'background responses are not streamed here: create one without stream and poll it',
    )
  if (!usableChains(model, catalogue).some((chain) => answersInBackground(chain, catalogue)))
    throw refusal(
      'background',
      `no provider of ${model.modelId} supports background responses: leave background out or set it to false`,
    )
  if (call.past?.kind === 'kept')
    throw refusal(
      'previous_response_id',
      'the previous response is kept here, where a provider that answers in the background cannot find it; send its items',
    )
}

function refusal(param: string, message: string): GatewayError {
  return new GatewayError(40000, { message: `${param}: ${message}`, details: { param } })
}
