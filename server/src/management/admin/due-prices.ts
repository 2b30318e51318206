/** Scheduled prices that come into force, and how a change of prices is written and shown. */
import type { Model, Pricing } from '../../core/catalogue.ts'
import type { JsonObject } from '../../core/json.ts'
import type { AuditedStores, AuditedWork } from '../../storage/stores/audit.ts'
import type { PriceChange } from '../../storage/stores/prices.ts'
import type { Storage } from '../../storage/storage.ts'
import { compareForms, type Difference, type FieldDifference } from '../gateway-file/difference.ts'
import { modelForm } from '../gateway-file/forms.ts'
import { auditedChanges } from './acts.ts'

/** Applies scheduled prices that are due. Several instances may try; each change happens once. */
export async function applyDuePrices(
  storage: Pick<Storage, 'prices' | 'audit'>,
  at: number,
): Promise<number> {
  const due = await storage.prices.due(at, 100)
  if (due.length === 0) return 0
  let applied = 0
  for (const change of due) {
    const happened = await storage.audit.act((stores) => applyDuePrice(stores, change, at), { alone: true })
    if (happened) applied += 1
  }
  return applied
}

/**
 * The model is read in the writing transaction, because its row contains more than prices. False: another instance has
 * applied it, or the model was removed.
 */
async function applyDuePrice(
  stores: AuditedStores,
  change: PriceChange,
  at: number,
): Promise<AuditedWork<boolean>> {
  const mine = await stores.prices.settle(change.id, 'applied')
  const model = (await stores.catalogue.read()).models.get(change.modelId)
  if (!mine || model === undefined) return { value: false, act: undefined }
  await putPrices(stores, [{ model, pricing: change.pricing }])
  const difference = differenceOf(model.modelId, fieldsOf(model, change.pricing))
  const act = {
    at,
    actor: { ...SCHEDULE, name: `schedule, for ${change.createdBy}` },
    action: 'price.apply',
    subject: change.modelId,
    changes: auditedChanges([difference]),
  }
  return { value: true, act }
}

const SCHEDULE = { accountId: undefined, sessionId: undefined, address: '', requestId: undefined }

export async function putPrices(
  stores: Pick<AuditedStores, 'catalogue'>,
  prices: readonly { readonly model: Model; readonly pricing: Pricing }[],
): Promise<void> {
  await stores.catalogue.apply(
    prices.map(({ model: { chains: _chains, createdAt: _createdAt, ...model }, pricing }) => ({
      kind: 'put-model',
      model: { ...model, pricing },
    })),
  )
}

export function differenceOf(modelId: string, fields: readonly FieldDifference[]): Difference {
  return { action: 'change', what: 'price', name: modelId, fields }
}

export function fieldsOf(model: Model, pricing: Pricing): readonly FieldDifference[] {
  return compareForms(pricesOf(model), pricesOf({ ...model, pricing }))
}

function pricesOf(model: Model): JsonObject {
  const { pricing } = modelForm(model)
  if (typeof pricing !== 'object' || pricing === null || Array.isArray(pricing))
    throw new Error('a model’s form has no prices')
  return pricing as JsonObject
}
