/** Scheduled prices, and price lists imported from a file after a preview of the differences. */
import { say } from '../../core/sentences/say.ts'
import { createHash } from 'node:crypto'
import { loadGatewayFile } from '../../config/gateway-file/load.ts'
import type { ModelRow } from '../../config/gateway-file/gateway-file.ts'
import { settingsAfter } from '../../config/gateway-file/settings-after.ts'
import type { Catalogue, Model, Pricing } from '../../core/catalogue.ts'
import { replacedPrice } from '../../core/pricing/currency.ts'
import type { JsonObject } from '../../core/json.ts'
import type { AuditedStores, AuditedWork } from '../../storage/stores/audit.ts'
import { StorageConflict } from '../../storage/failures/conflict.ts'
import type { PriceChange } from '../../storage/stores/prices.ts'
import type { Storage } from '../../storage/storage.ts'
import { compareForms, type Difference, type FieldDifference } from '../gateway-file/difference.ts'
import { pricingOf } from '../gateway-file/plan-catalogue.ts'
import { modelForm } from '../gateway-file/forms.ts'
import type { FieldMistake } from '../keys/keys.ts'
import { timeOrderedId } from '../new-id.ts'
import { type Actor, auditedChanges, done, type Done, type AdminParts, fileMistake } from './acts.ts'
import { readPricingForm } from './pricing-form.ts'
import { missingPrice, needsOutputPrice, OUTPUT_PRICE_MISSING } from './usable-price.ts'

/** How many price changes one import may make; more than any platform has models. */
const CHANGES_MAX = 5_000

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
async function planned<Value>(plan: () => Promise<Done<Value>>): Promise<Done<Value>> {
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

export interface PriceImport {
  readonly differences: readonly PriceDifference[]
  /** Identifies exactly these differences: what is applied is what was previewed. */
  readonly review: string
}

export interface PriceDifference {
  readonly modelId: string
  readonly fields: readonly FieldDifference[]
}

export interface ImportRequest {
  /** A gateway file; only the prices of its models are read. */
  readonly text: string
  /** undefined: at once. */
  readonly effectiveAt: number | undefined
}

interface PlannedImport extends PriceImport {
  readonly prices: readonly { readonly model: Model; readonly pricing: Pricing }[]
}

/** The changes that importing the file's prices would make. */
export function reviewImport(
  parts: AdminParts,
  request: ImportRequest,
  known: Catalogue,
): Done<PlannedImport> {
  const file = { text: request.text, environment: {}, missing: 'stays' } as const
  const loaded = loadGatewayFile({ ...file, kinds: parts.kinds, known })
  if (loaded.kind === 'mistakes') {
    if (isTable(request.text)) return A_TABLE
    return { kind: 'mistakes', mistakes: loaded.mistakes.map(fileMistake) }
  }
  const rows = (loaded.file.models ?? []).slice(0, CHANGES_MAX)
  const strangers = rows.filter((row) => !known.models.has(row.modelId))
  if (strangers.length > 0) return { kind: 'mistakes', mistakes: strangers.map(strangerMistake) }
  const settings = settingsAfter(loaded.file.settings, known.settings)
  const prices = rows.flatMap(({ modelId, pricing }) => {
    const model = known.models.get(modelId)
    return model === undefined || pricing === undefined
      ? []
      : [{ model, pricing: pricingOf(pricing, settings) }]
  })
  const changed = prices
    .map((one) => ({ ...one, fields: fieldsOf(one.model, one.pricing) }))
    .filter(({ fields }) => fields.length > 0)
  const unusable = changed.flatMap(({ model, pricing }) => {
    const why = model.chains
      .filter((chain) => chain.status === 'enabled')
      .map((chain) => missingPrice(pricing, chain.protocol))
      .find((one) => one !== undefined)
    return why === undefined
      ? []
      : [{ path: 'file', message: say('model-without-price', { modelId: model.modelId, why }) }]
  })
  if (unusable.length > 0) return { kind: 'mistakes', mistakes: unusable }
  const differences = changed.map(({ model, fields }) => ({ modelId: model.modelId, fields }))
  const review = createHash('sha256')
    .update(JSON.stringify([request.effectiveAt ?? null, differences]))
    .digest('base64url')
  return done({ differences, review, prices: changed })
}

function strangerMistake({ place, modelId }: ModelRow): FieldMistake {
  return fileMistake({ place, message: say('refers-to-unknown', { what: say('word-model'), name: modelId }) })
}

const A_TABLE: Done<never> = {
  kind: 'mistakes',
  mistakes: [
    {
      path: 'file',
      message: say('looks-like-a-table'),
    },
  ],
}

/** Rows of a spreadsheet: a first line of column names separated by commas, semicolons or tabs. */
function isTable(text: string): boolean {
  const [head = ''] = text.trimStart().split(/\r?\n/, 1)
  return /^[^:{[]*[,;\t][^:{[]*$/.test(head)
}

/**
 * Refused if other changes would be made than those previewed, because the catalogue or the file has changed. Checked
 * in the writing transaction, which excludes other edits.
 */
export async function applyImport(
  parts: AdminParts,
  request: ImportRequest & { readonly review: string },
  actor: Actor,
): Promise<Done<PriceImport>> {
  return planned(() =>
    parts.storage.audit.act<Done<PriceImport>>(
      async (stores) => {
        const reviewed = reviewImport(parts, request, await stores.catalogue.read())
        return reviewed.kind === 'done'
          ? writeImport(stores, reviewed.value, { request, actor })
          : { value: reviewed, act: undefined }
      },
      { alone: true },
    ),
  )
}

async function writeImport(
  stores: AuditedStores,
  { prices, review, differences }: PlannedImport,
  {
    request,
    actor,
  }: { readonly request: ImportRequest & { readonly review: string }; readonly actor: Actor },
): Promise<AuditedWork<Done<PriceImport>>> {
  const { effectiveAt } = request
  const refused = whyNoImport(request, review, actor)
  if (refused !== undefined) return { value: refused, act: undefined }
  if (prices.length === 0) return { value: done({ differences, review }), act: undefined }
  if (effectiveAt === undefined) await putPrices(stores, prices)
  else {
    for (const { model, pricing } of prices) {
      await stores.prices.schedule(changeOf(model, pricing, effectiveAt, actor))
    }
  }
  const when = effectiveAt === undefined ? 'at once' : new Date(effectiveAt).toISOString()
  const changes = [
    { field: 'effective_at', from: null, to: when },
    ...auditedChanges(differences.map((one) => differenceOf(one.modelId, one.fields))),
  ]
  // The changes of a single model do not name it, so the act does.
  const [first, ...others] = differences
  const subject = first !== undefined && others.length === 0 ? first.modelId : 'prices'
  const act = { at: actor.at, actor, action: 'price.import', subject, changes }
  return { value: done({ differences, review }), act }
}

function whyNoImport(
  { effectiveAt, review: reviewed }: ImportRequest & { readonly review: string },
  review: string,
  { at }: Actor,
): Done<never> | undefined {
  if (review !== reviewed) {
    return {
      kind: 'conflict',
      message: say('difference-changed'),
    }
  }
  if (effectiveAt !== undefined && effectiveAt <= at)
    return { kind: 'mistakes', mistakes: [{ path: 'effective_at', message: say('must-lie-in-the-future') }] }
  return undefined
}

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

async function putPrices(
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

function changeOf(model: Model, pricing: Pricing, effectiveAt: number, actor: Actor): PriceChange {
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

function differenceOf(modelId: string, fields: readonly FieldDifference[]): Difference {
  return { action: 'change', what: 'price', name: modelId, fields }
}

function fieldsOf(model: Model, pricing: Pricing): readonly FieldDifference[] {
  return compareForms(pricesOf(model), pricesOf({ ...model, pricing }))
}

function pricesOf(model: Model): JsonObject {
  const { pricing } = modelForm(model)
  if (typeof pricing !== 'object' || pricing === null || Array.isArray(pricing))
    throw new Error('a model’s form has no prices')
  return pricing as JsonObject
}
