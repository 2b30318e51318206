/** Built-in vendors with their models and list prices: listed, and added to the catalogue. */
import * as z from 'zod'
import type { Catalogue } from '../../../../../core/catalogue.ts'
import { Secret } from '../../../../../core/secret.ts'
import { vendorKinds } from '../../../../../pipeline/instance/chains/vendor-kinds.ts'
import {
  addPreset,
  presentOf,
  type VendorPreset,
  viewPresetPrice,
} from '../../../../../management/admin/presets.ts'
import { defineRoute, type RouteContext } from '../../../define-route.ts'
import { actorOf, present, valueOf } from '../admin-route.ts'
import { presetBody } from '../bodies.ts'
import { presetAddedShape, presetShape, vendorKindShape } from '../shapes.ts'
import type { ApiContext, Api } from '../../../api-context.ts'

export type PresetsContext = RouteContext & Pick<ApiContext, 'catalogue' | 'presets' | 'refreshCatalogue'>

const TAG = 'Admin: catalogue'
const PATH = '/api/v1/admin/presets'
const idParams = z.object({ id: z.string().min(1).max(512) })
const ID = 'The id is the vendor’s code.'

export function adminPresetRoutes(app: Api, context: PresetsContext): void {
  const { presets } = context
  const find = (id: string) => present(presets.find(({ code }) => code === id))
  kindRoute(app, context)
  defineRoute(app, context, {
    method: 'GET',
    path: PATH,
    access: 'admin',
    tag: TAG,
    summary: 'List presets',
    description:
      'Vendors that the gateway knows with their models and list prices. A first start adds those whose key its environment holds; the others are added here.',
    data: z.array(presetShape),
    handle: () => presets.map((preset) => viewPreset(preset, context.catalogue())),
  })
  defineRoute(app, context, {
    method: 'GET',
    path: `${PATH}/:id`,
    access: 'admin',
    tag: TAG,
    summary: 'Read a preset',
    description: ID,
    params: idParams,
    data: presetShape,
    handle: ({ params }) => viewPreset(find(params.id), context.catalogue()),
  })
  defineRoute(app, context, {
    method: 'POST',
    path: `${PATH}/:id/add`,
    access: 'admin',
    tag: TAG,
    summary: 'Add models from a preset',
    description: `${ID} Adds the vendor, a credential, and the models with a chain each; what the catalogue has already stays as it is, so repeating this adds nothing.`,
    params: idParams,
    body: presetBody,
    errors: [40900],
    data: presetAddedShape,
    handle: async ({ params, body, caller, request }) => {
      const choice = {
        models: body.models,
        key: body.key === undefined ? undefined : new Secret(body.key),
      }
      const actor = actorOf(context, { caller, request })
      const added = valueOf(await addPreset(context.storage, find(params.id), { choice, actor }))
      await context.refreshCatalogue()
      return added
    },
  })
}

function kindRoute(app: Api, context: PresetsContext): void {
  defineRoute(app, context, {
    method: 'GET',
    path: '/api/v1/admin/vendor-kinds',
    access: 'admin',
    tag: TAG,
    summary: 'List the kinds of vendors, and what each needs',
    data: z.array(vendorKindShape),
    handle: () =>
      vendorKinds.map(({ kind, name, protocols, baseUrl, secret, fields }) => ({
        kind,
        name,
        protocols: [...protocols],
        base_url: baseUrl ?? null,
        secret: { ...secret },
        fields: fields.map((field) => ({ ...field })),
      })),
  })
}

function viewPreset(preset: VendorPreset, catalogue: Catalogue): z.output<typeof presetShape> {
  const there = presentOf(preset, catalogue)
  return {
    code: preset.code,
    name: preset.name,
    kind: preset.kind,
    variable: preset.variable ?? null,
    has_key: preset.hasKey,
    in_catalogue: there.vendor,
    models: preset.models.map((model) => ({
      model_id: model.modelId,
      name: model.name,
      support_features: [...model.features],
      context_tokens: model.contextTokens ?? null,
      max_output_tokens: model.maxOutputTokens ?? null,
      forward_model_id: model.forwardModelId,
      protocols: [...model.protocols],
      price: viewPresetPrice(model.price),
      in_catalogue: there.models.has(model.modelId),
    })),
  }
}
