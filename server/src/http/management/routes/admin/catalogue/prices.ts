/** Scheduled prices, and price lists from a file: previewed first, then applied. */
import { say } from '../../../../../core/sentences/say.ts'
import * as z from 'zod'
import { GatewayError } from '../../../../../core/errors/gateway-error.ts'
import { modelId } from '../../../../../core/ids.ts'
import { isJsonObject, type JsonObject } from '../../../../../core/json.ts'
import { applyImport, type PriceImport, reviewImport } from '../../../../../management/admin/import-prices.ts'
import { cancelPrice, schedulePrice } from '../../../../../management/admin/prices.ts'
import { modelForm } from '../../../../../management/gateway-file/forms.ts'
import type { PriceChange } from '../../../../../storage/stores/prices.ts'
import { defineRoute, type RouteContext } from '../../../define-route.ts'
import { instantText, isoTime } from '../../../answers/wire-values.ts'
import { actorOf, managementOf, valueOf } from '../admin-route.ts'
import { pricingBody } from '../bodies.ts'
import { pricingShape } from '../shapes.ts'
import type { ApiContext, Api } from '../../../api-context.ts'

type PricesContext = RouteContext & Pick<ApiContext, 'catalogue' | 'refreshCatalogue'>

const TAG = 'Admin: prices'
const PATH = '/api/v1/admin/price-changes'
/** More than the prices of all existing models take. */
const FILE_CHARACTERS_MAX = 900_000

const changeShape = z.strictObject({
  id: z.string(),
  model_id: z.string(),
  effective_at: isoTime,
  status: z.enum(['pending', 'applied', 'cancelled']),
  pricing: pricingShape,
  created_at: isoTime,
  created_by: z.string(),
})

const importShape = z.strictObject({
  mode: z.enum(['dry-run', 'applied', 'scheduled']),
  review: z.string().meta({ description: 'Send it back to apply exactly these differences.' }),
  differences: z.array(
    z.strictObject({
      model_id: z.string(),
      fields: z.array(z.strictObject({ field: z.string(), from: z.unknown(), to: z.unknown() })),
    }),
  ),
})

export function adminPriceRoutes(app: Api, context: PricesContext): void {
  listRoute(app, context)
  scheduleRoute(app, context)
  cancelRoute(app, context)
  importRoute(app, context)
}

function listRoute(app: Api, context: PricesContext): void {
  defineRoute(app, context, {
    method: 'GET',
    path: PATH,
    access: 'admin',
    tag: TAG,
    summary: 'List price changes',
    query: z.strictObject({
      model_id: z.string().max(200).optional(),
      status: z.enum(['pending', 'applied', 'cancelled']).optional(),
      limit: z.coerce.number().int().min(1).max(1_000).default(200),
    }),
    data: z.array(changeShape),
    handle: async ({ query }) => {
      const changes = await context.storage.prices.list({
        limit: query.limit,
        ...(query.model_id === undefined ? {} : { modelId: modelId(query.model_id) }),
        ...(query.status === undefined ? {} : { status: query.status }),
      })
      return changes.map((change) => viewChange(context, change))
    },
  })
}

function scheduleRoute(app: Api, context: PricesContext): void {
  defineRoute(app, context, {
    method: 'POST',
    path: PATH,
    access: 'admin',
    tag: TAG,
    summary: 'Set prices that hold from a moment on',
    description: 'Calls that begin before that moment are billed at the old prices, whenever they end.',
    body: z.strictObject({
      model_id: z.string().min(1).max(200),
      effective_at: instantText,
      pricing: pricingBody,
    }),
    status: 201,
    data: changeShape,
    handle: async ({ body, caller, request }) => {
      await context.refreshCatalogue()
      const model = context.catalogue().models.get(modelId(body.model_id))
      if (model === undefined)
        throw new GatewayError(40403, { message: say('no-such-model', { modelId: body.model_id }) })
      const wanted = { pricing: body.pricing as JsonObject, effectiveAt: body.effective_at }
      const actor = actorOf(context, { caller, request })
      return viewChange(context, valueOf(await schedulePrice(managementOf(context), model, wanted, actor)))
    },
  })
}

function cancelRoute(app: Api, context: PricesContext): void {
  defineRoute(app, context, {
    method: 'DELETE',
    path: `${PATH}/:id`,
    access: 'admin',
    tag: TAG,
    summary: 'Cancel a price change that is pending',
    params: z.object({ id: z.string().min(1).max(128) }),
    errors: [40900],
    data: changeShape,
    handle: async ({ params, caller, request }) => {
      const actor = actorOf(context, { caller, request })
      return viewChange(context, valueOf(await cancelPrice(managementOf(context), params.id, actor)))
    },
  })
}

function importRoute(app: Api, context: PricesContext): void {
  defineRoute(app, context, {
    method: 'POST',
    path: '/api/v1/admin/prices/import',
    access: 'admin',
    tag: TAG,
    summary: 'Import prices from a file',
    description:
      '`file` is a gateway file (YAML or JSON) of which the models’ prices are read. Without `review` nothing changes: ' +
      'the answer holds the differences and their `review`. With it exactly these are applied, at once or at `effective_at`.',
    body: z.strictObject({
      file: z.string().min(1).max(FILE_CHARACTERS_MAX),
      effective_at: instantText.optional(),
      review: z.string().max(128).optional(),
    }),
    errors: [40900],
    data: importShape,
    handle: async ({ body, caller, request }) => {
      const wanted = { text: body.file, effectiveAt: body.effective_at }
      const parts = managementOf(context)
      if (body.review === undefined) {
        const known = await context.storage.catalogue.read()
        return viewImport('dry-run', valueOf(reviewImport(parts, wanted, known)))
      }
      const actor = actorOf(context, { caller, request })
      const applied = valueOf(await applyImport(parts, { ...wanted, review: body.review }, actor))
      await context.refreshCatalogue()
      return viewImport(wanted.effectiveAt === undefined ? 'applied' : 'scheduled', applied)
    },
  })
}

function viewImport(
  mode: z.output<typeof importShape>['mode'],
  { differences, review }: PriceImport,
): z.output<typeof importShape> {
  return {
    mode,
    review,
    differences: differences.map((one) => ({
      model_id: one.modelId,
      fields: one.fields.map(({ field, from, to }) => ({ field, from: from ?? null, to })),
    })),
  }
}

function viewChange(
  context: Pick<ApiContext, 'catalogue'>,
  change: PriceChange,
): z.output<typeof changeShape> {
  const model = context.catalogue().models.get(change.modelId)
  if (model === undefined) throw new Error(`price change ${change.id} has lost its model`)
  const { pricing } = modelForm({ ...model, pricing: change.pricing })
  return changeShape.parse({
    id: change.id,
    model_id: change.modelId,
    effective_at: new Date(change.effectiveAt).toISOString(),
    status: change.status,
    pricing: isJsonObject(pricing) ? pricing : {},
    created_at: new Date(change.createdAt).toISOString(),
    created_by: change.createdBy,
  })
}
