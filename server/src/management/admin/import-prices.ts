/** Price lists that are imported from a file, after a preview of the differences. */
import { createHash } from 'node:crypto'
import { loadGatewayFile } from '../../config/gateway-file/load.ts'
import type { ModelRow } from '../../config/gateway-file/gateway-file.ts'
import { settingsAfter } from '../../config/gateway-file/settings-after.ts'
import type { Catalogue, Model, Pricing } from '../../core/catalogue.ts'
import { say } from '../../core/sentences/say.ts'
import type { AuditedStores, AuditedWork } from '../../storage/stores/audit.ts'
import type { FieldDifference } from '../gateway-file/difference.ts'
import { pricingOf } from '../gateway-file/plan-catalogue.ts'
import type { FieldMistake } from '../keys/keys.ts'
import { type Actor, auditedChanges, done, type Done, type AdminParts, fileMistake } from './acts.ts'
import { differenceOf, fieldsOf, putPrices } from './due-prices.ts'
import { changeOf, planned } from './prices.ts'
import { missingPrice } from './usable-price.ts'

/** How many price changes one import may make; more than any platform has models. */
const CHANGES_MAX = 5_000

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
