/** Vendors, credentials, models, groups, plans and settings (docs/reference/contract.md#D-accounts-130). */
import { say } from '../../../../../core/sentences/say.ts'
import * as z from 'zod'
import type { Catalogue, Credential } from '../../../../../core/catalogue.ts'
import { type CredentialId, credentialId, modelId, vendorCode } from '../../../../../core/ids.ts'
import type { JsonObject } from '../../../../../core/json.ts'
import { editCatalogue, removeRow } from '../../../../../management/admin/edit-catalogue.ts'
import { missingPriceAfter } from '../../../../../management/admin/usable-price.ts'
import {
  credentialForm,
  groupForm,
  modelForm,
  planForm,
  settingsForm,
  vendorForm,
} from '../../../../../management/gateway-file/forms.ts'
import { GatewayError } from '../../../../../core/errors/gateway-error.ts'
import { defineRoute } from '../../../define-route.ts'
import { readAccountNames } from '../account-names.ts'
import { actorOf, managementOf, present, textOf, valueOf } from '../admin-route.ts'
import {
  credentialBody,
  groupBody,
  modelBody,
  newCredentialBody,
  newGroupBody,
  newModelBody,
  newPlanBody,
  newVendorBody,
  planBody,
  settingsBody,
  vendorBody,
} from '../bodies.ts'
import { defineRows, type RowsContext } from './rows.ts'
import {
  credentialShape,
  groupShape,
  modelShape,
  planShape,
  probeShape,
  settingsShape,
  vendorShape,
} from '../shapes.ts'
import { viewProbe } from './view-probe.ts'
import type { Key } from '../../../../../storage/stores/keys.ts'
import type { ApiContext, Api } from '../../../api-context.ts'

type AdminCatalogueContext = RowsContext & Pick<ApiContext, 'probe'>

const TAG = 'Admin: catalogue'
/** More keys are found through their accounts. */
const BOUND_KEYS_MAX = 100
const boundKeyShape = z.strictObject({
  id: z.string(),
  account_id: z.string(),
  account_name: z
    .string()
    .nullable()
    .meta({ description: 'Its name, e-mail or phone; null: it has none of them.' }),
  name: z.string(),
  hint: z.string(),
  status: z.enum(['enabled', 'disabled']),
})
const idParams = z.object({ id: z.string().min(1).max(512) })

export function adminCatalogueRoutes(app: Api, context: AdminCatalogueContext): void {
  vendorRoutes(app, context)
  credentialRoutes(app, context)
  modelRows(app, context)
  groupRoutes(app, context)
  planRoutes(app, context)
  settingsRoutes(app, context)
}

function vendorRoutes(app: Api, context: AdminCatalogueContext): void {
  defineRows(app, context, {
    section: 'vendors',
    what: 'vendor',
    idDescription: 'The id is the vendor’s code.',
    shape: vendorShape,
    newBody: newVendorBody,
    body: vendorBody,
    list: (catalogue) =>
      [...catalogue.vendors.values()].map((vendor) => ({
        ...vendorForm(vendor),
        credentials: [...catalogue.credentials.values()]
          .filter((credential) => credential.vendorCode === vendor.code)
          .map((credential) => credential.name),
        chains: [...catalogue.models.values()]
          .flatMap((model) => model.chains)
          .filter((chain) => chain.vendorCode === vendor.code).length,
      })),
    idOf: (row) => textOf(row, 'code'),
    idOfNew: (body, catalogue) => {
      const code = textOf(body, 'code')
      return catalogue.vendors.has(vendorCode(code)) ? code : undefined
    },
    fragment: (body, old) => {
      const { credentials: _credentials, chains: _chains, ...form } = old ?? {}
      return { fragment: { vendors: [{ ...form, ...body }] }, prefix: 'vendors[0]' }
    },
  })
}

function credentialRoutes(app: Api, context: AdminCatalogueContext): void {
  credentialRows(app, context)
  credentialTestRoute(app, context)
}

function credentialRows(app: Api, context: AdminCatalogueContext): void {
  defineRows(app, context, {
    section: 'credentials',
    what: 'credential',
    idDescription: 'Secrets are written and never read back.',
    shape: credentialShape,
    newBody: newCredentialBody,
    body: credentialBody,
    list: (catalogue) => [...catalogue.credentials.values()].map(viewCredential),
    idOf: (row) => textOf(row, 'id'),
    idOfNew: (body, catalogue) =>
      [...catalogue.credentials.values()].find(
        (one) => one.vendorCode === body['vendor'] && one.name === body['name'],
      )?.id,
    check: (body, old, catalogue) => {
      const vendor = textOf(body, 'vendor')
      const isKnown = old !== undefined || catalogue.vendors.has(vendorCode(vendor))
      return isKnown
        ? []
        : [{ path: 'vendor', message: say('refers-to-unknown', { what: say('word-vendor'), name: vendor }) }]
    },
    fragment: ({ vendor, ...body }, old, catalogue) => {
      const code = vendorCode(textOf(old ?? { vendor }, 'vendor'))
      const status = catalogue.vendors.get(code)?.status ?? 'enabled'
      const kept =
        old === undefined ? {} : { name: old['name'], limits: old['limits'], status: old['status'] }
      return {
        fragment: { vendors: [{ code, status, credentials: [{ ...kept, ...body }] }] },
        prefix: 'vendors[0].credentials[0]',
      }
    },
  })
}

function credentialTestRoute(app: Api, context: AdminCatalogueContext): void {
  defineRoute(app, context, {
    method: 'POST',
    path: '/api/v1/admin/credentials/:id/test',
    access: 'admin',
    tag: TAG,
    summary: 'Test a credential with one real, cheap call',
    description:
      'Sends a greeting of a few tokens over a chain that uses the credential. No account is charged.',
    params: idParams,
    errors: [40900],
    data: probeShape,
    handle: async ({ params }) => {
      const catalogue = context.catalogue()
      const credential = present(catalogue.credentials.get(credentialId(params.id)))
      const target = cheapestChain(catalogue, credential.id)
      if (target === undefined) {
        throw new GatewayError(40900, {
          message: say('credential-without-chain'),
        })
      }
      return viewProbe(target.chain, await context.probe(target))
    },
  })
}

/** Among chains with a cheap test: the one with the cheapest output, enabled ones first. */
function cheapestChain(catalogue: Catalogue, credential: CredentialId) {
  const candidates = [...catalogue.models.values()].flatMap((model) =>
    model.chains
      .filter((chain) => chain.credentialId === credential && chain.protocol !== 'video')
      .map((chain) => ({ chain, model, price: Number(model.pricing.outputPrice ?? Infinity) })),
  )
  const [first] = candidates.sort(
    (one, other) =>
      Number(other.chain.status === 'enabled') - Number(one.chain.status === 'enabled') ||
      // The difference of two unknown prices is not a number.
      (one.price === other.price ? 0 : one.price - other.price),
  )
  return first
}

function viewCredential(credential: Credential): JsonObject {
  return {
    ...credentialForm(credential),
    id: credential.id,
    vendor: credential.vendorCode,
    secret_set: credential.secret.secret !== undefined,
    fields_set: Object.keys(credential.secret.fields),
  }
}

function modelRows(app: Api, context: AdminCatalogueContext): void {
  defineRows(app, context, {
    section: 'models',
    what: 'model',
    idDescription: 'The id is the model id, percent-encoded where it holds a slash.',
    shape: modelShape,
    newBody: newModelBody,
    body: modelBody,
    list: (catalogue) =>
      [...catalogue.models.values()].map((model) => ({
        ...modelForm(model),
        created_at: new Date(model.createdAt).toISOString(),
        chains: model.chains.map((chain) => chain.id),
      })),
    idOf: (row) => textOf(row, 'model_id'),
    idOfNew: (body, catalogue) => {
      const id = textOf(body, 'model_id')
      return catalogue.models.has(modelId(id)) ? id : undefined
    },
    fragment: (body, old) => {
      const { chains: _chains, created_at: _createdAt, ...form } = old ?? {}
      return { fragment: { models: [{ ...form, ...body }] }, prefix: 'models[0]' }
    },
    check: (body, old, catalogue) => {
      const model = catalogue.models.get(modelId(textOf(old ?? body, 'model_id')))
      return model === undefined ? [] : missingPriceAfter(body, model)
    },
  })
}

function groupRoutes(app: Api, context: AdminCatalogueContext): void {
  defineRows(app, context, {
    section: 'groups',
    what: 'group',
    idDescription: 'The id is the group’s name.',
    shape: groupShape,
    newBody: newGroupBody,
    body: groupBody,
    list: (catalogue) => [...catalogue.groups.values()].map(groupForm),
    idOf: (row) => textOf(row, 'name'),
    idOfNew: (body, catalogue) => {
      const name = textOf(body, 'name')
      return catalogue.groups.has(name) ? name : undefined
    },
    fragment: (body, old) => ({ fragment: { groups: [{ ...old, ...body }] }, prefix: 'groups[0]' }),
  })
  defineRoute(app, context, {
    method: 'GET',
    path: '/api/v1/admin/groups/:id/keys',
    access: 'admin',
    tag: TAG,
    summary: 'List the keys that are bound to a group',
    description: `Newest first, at most ${BOUND_KEYS_MAX}; without their secrets.`,
    params: idParams,
    data: z.array(boundKeyShape),
    handle: async ({ params: { id } }) => {
      const { name } = present(context.catalogue().groups.get(id))
      return viewBoundKeys(context, await context.storage.keys.boundTo(name, BOUND_KEYS_MAX))
    },
  })
  defineRoute(app, context, {
    method: 'DELETE',
    path: '/api/v1/admin/groups/:id',
    access: 'admin',
    tag: TAG,
    summary: 'Remove a group',
    description: 'Keys bound to it can call nothing from then on, until they are bound to another.',
    params: idParams,
    data: z.strictObject({ removed: z.literal(true) }),
    handle: async ({ params: { id }, caller, request }) => {
      const { name } = present(context.catalogue().groups.get(id))
      const row = { change: { kind: 'remove-group', name }, action: 'group.remove', subject: name } as const
      await removeRow(managementOf(context), row, actorOf(context, { caller, request }))
      await context.refreshCatalogue()
      return { removed: true } as const
    },
  })
}

async function viewBoundKeys(
  { storage }: AdminCatalogueContext,
  keys: readonly Key[],
): Promise<z.output<typeof boundKeyShape>[]> {
  const names = await readAccountNames(storage, keys)
  return keys.map(({ id, accountId, name, hint, status }) => ({
    id,
    account_id: accountId,
    account_name: names.get(accountId) ?? null,
    name,
    hint,
    status: status === 'enabled' ? status : 'disabled',
  }))
}

function planRoutes(app: Api, context: AdminCatalogueContext): void {
  defineRows(app, context, {
    section: 'plans',
    what: 'plan',
    idDescription: 'The id is the plan’s code. Running subscriptions keep the terms they began with.',
    shape: planShape,
    newBody: newPlanBody,
    body: planBody,
    list: (catalogue) => [...catalogue.plans.values()].map(planForm),
    idOf: (row) => textOf(row, 'code'),
    idOfNew: (body, catalogue) => {
      const code = textOf(body, 'code')
      return catalogue.plans.has(code) ? code : undefined
    },
    fragment: (body, old) => ({ fragment: { plans: [{ ...old, ...body }] }, prefix: 'plans[0]' }),
  })
  defineRoute(app, context, {
    method: 'DELETE',
    path: '/api/v1/admin/plans/:id',
    access: 'admin',
    tag: TAG,
    summary: 'Remove a plan from sale',
    description: 'Running subscriptions to it continue to their end.',
    params: idParams,
    data: z.strictObject({ removed: z.literal(true) }),
    handle: async ({ params: { id }, caller, request }) => {
      const { code } = present(context.catalogue().plans.get(id))
      const row = { change: { kind: 'remove-plan', code }, action: 'plan.remove', subject: code } as const
      await removeRow(managementOf(context), row, actorOf(context, { caller, request }))
      await context.refreshCatalogue()
      return { removed: true } as const
    },
  })
}

function settingsRoutes(app: Api, context: AdminCatalogueContext): void {
  const path = '/api/v1/admin/settings'
  const shown = () => settingsShape.parse(settingsForm(context.catalogue().settings))
  defineRoute(app, context, {
    method: 'GET',
    path,
    access: 'admin',
    tag: TAG,
    summary: 'Read the platform settings',
    data: settingsShape,
    handle: shown,
  })
  defineRoute(app, context, {
    method: 'PATCH',
    path,
    access: 'admin',
    tag: TAG,
    summary: 'Change platform settings',
    body: settingsBody,
    errors: [40900],
    data: settingsShape,
    handle: async ({ body, caller, request }) => {
      await context.refreshCatalogue()
      const edit = {
        base: context.catalogue(),
        fragment: { settings: body as JsonObject },
        prefix: 'settings',
        action: 'settings.change',
        subject: 'settings',
      }
      valueOf(await editCatalogue(managementOf(context), edit, actorOf(context, { caller, request })))
      await context.refreshCatalogue()
      return shown()
    },
  })
}
