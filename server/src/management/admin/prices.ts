/** Prices that are to come into force at a time. */
import { say } from '../../core/sentences/say.ts'
import type { Model, Pricing } from '../../core/catalogue.ts'
import { replacedPrice } from '../../core/pricing/currency.ts'
import type { JsonObject } from '../../core/json.ts'
import { StorageConflict } from '../../storage/failures/conflict.ts'
import type { PriceChange } from '../../storage/stores/prices.ts'
import { timeOrderedId } from '../new-id.ts'
import { type Actor, auditedChanges, done, type Done, type AdminParts } from './acts.ts'
import { differenceOf, fieldsOf } from './due-prices.ts'
import { readPricingForm } from './pricing-form.ts'
import { needsOutputPrice, OUTPUT_PRICE_MISSING } from './usable-price.ts'

export async function schedulePrice(
  { storage }: AdminParts,
  model: Model,
  request: { readonly pricing: JsonObject; readonly effectiveAt: number },
  actor: Actor,
): Promise<Done<PriceChange>> {
  const { settings } = await storage.catalogue.read()
  const read = readPricingForm(request.pricing, { settings, replaced: replacedPrice(model, undefined) })
  if (read.kind === 'mistakes') {
    return {
      kind: 'mistakes',
      mistakes: read.mistakes.map(({ path, message }) => ({ path: `pricing.${path}`, message })),
    }
  }
  const protocols = model.chains.map((chain) => chain.protocol)
  if (needsOutputPrice(read.pricing, protocols))
    return { kind: 'mistakes', mistakes: [{ path: 'pricing.output_price', message: OUTPUT_PRICE_MISSING }] }
  if (request.effectiveAt <= actor.at) {
    const message = say('price-in-the-future')
    return { kind: 'mistakes', mistakes: [{ path: 'effective_at', message }] }
  }
  const change = changeOf(model, read.pricing, request.effectiveAt, actor)
  return planned(() =>
    storage.audit.act(async (stores) => {
      await stores.prices.schedule(change)
      return { value: done(change), act: scheduledAct(model, change, actor) }
    }),
  )
}

/** Two prices of one model for the same time are a mistake that a person has to resolve. */
export async function planned<Value>(plan: () => Promise<Done<Value>>): Promise<Done<Value>> {
  try {
    return await plan()
  } catch (error) {
    if (!(error instanceof StorageConflict)) throw error
    return { kind: 'conflict', message: say('as-said', { said: error.message }) }
  }
}

export async function cancelPrice(
  { storage }: AdminParts,
  id: string,
  actor: Actor,
): Promise<Done<PriceChange>> {
  return storage.audit.act<Done<PriceChange>>(async (stores) => {
    const change = await stores.prices.find(id)
    if (change === undefined) return { value: { kind: 'missing' }, act: undefined }
    if (!(await stores.prices.settle(id, 'cancelled'))) {
      return { value: { kind: 'conflict', message: say('change-not-pending') }, act: undefined }
    }
    const changes = [{ field: `price change ${id}`, from: 'pending', to: 'cancelled' }]
    const act = { at: actor.at, actor, action: 'price.cancel', subject: change.modelId, changes }
    return { value: done({ ...change, status: 'cancelled' }), act }
  })
}

export function changeOf(model: Model, pricing: Pricing, effectiveAt: number, actor: Actor): PriceChange {
  return {
    id: `prc_${timeOrderedId(actor.at)}`,
    modelId: model.modelId,
    effectiveAt,
    pricing,
    status: 'pending',
    createdAt: actor.at,
    createdBy: actor.accountId ?? actor.name,
  }
}

function scheduledAct(model: Model, change: PriceChange, actor: Actor) {
  const changes = [
    { field: 'effective_at', from: null, to: new Date(change.effectiveAt).toISOString() },
    ...auditedChanges([differenceOf(model.modelId, fieldsOf(model, change.pricing))]),
  ]
  return { at: actor.at, actor, action: 'price.schedule', subject: model.modelId, changes }
}
