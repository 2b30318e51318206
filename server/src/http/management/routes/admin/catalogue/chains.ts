/**
 * Chains: their rows, their health, switching, draining, resetting, testing
 * (docs/reference/contract.md#D-accounts-132).
 */
import { say } from '../../../../../core/sentences/say.ts'
import * as z from 'zod'
import {
  type Catalogue,
  type Chain,
  CHAIN_PROTOCOL_IDS,
  type Model,
  type Pricing,
  type Status,
} from '../../../../../core/catalogue.ts'
import { GatewayError } from '../../../../../core/errors/gateway-error.ts'
import { type ChainId, chainId, modelId, vendorCode } from '../../../../../core/ids.ts'
import { isJsonObject, type JsonObject } from '../../../../../core/json.ts'
import { usableChains } from '../../../../../core/routing/order.ts'
import { presetStreamUsage } from '../../../../../pipeline/explain/unreported-usage.ts'
import { NOTHING_RECENT, readChainRecent } from '../../../../../management/admin/chain-recent.ts'
import { editCatalogue } from '../../../../../management/admin/edit-catalogue.ts'
import type { ChainMove } from '../../../../../management/admin/move-chain.ts'
import { readPricingForm } from '../../../../../management/admin/pricing-form.ts'
import {
  missingPrice,
  needsOutputPrice,
  OUTPUT_PRICE_MISSING,
} from '../../../../../management/admin/usable-price.ts'
import { compareForms, type Difference } from '../../../../../management/gateway-file/difference.ts'
import { chainForm, modelForm } from '../../../../../management/gateway-file/forms.ts'
import type { FieldMistake } from '../../../../../management/keys/keys.ts'
import { StorageConflict } from '../../../../../storage/failures/conflict.ts'
import { type ChainHealthView, viewHealth } from '../../../../chain-health.ts'
import { defineRoute } from '../../../define-route.ts'
import { actorOf, managementOf, present, textOf, valueOf } from '../admin-route.ts'
import { chainBody, newChainBody } from '../bodies.ts'
import { defineRows, type RowsContext } from './rows.ts'
import { chainShape, probeShape } from '../shapes.ts'
import { viewProbe } from './view-probe.ts'
import type { ApiContext, Api } from '../../../api-context.ts'

export type ChainsContext = RowsContext & Pick<ApiContext, 'health' | 'probe'>

const TAG = 'Admin: chains'
const idParams = z.object({ id: z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER) })

export function adminChainRoutes(app: Api, context: ChainsContext): void {
  chainRows(app, context)
  switchRoute(app, context, {
    verb: 'enable',
    status: 'enabled',
    summary: 'Enable a chain',
    description: 'Refused with 40900 while its model has no usable price.',
  })
  switchRoute(app, context, {
    verb: 'disable',
    status: 'disabled',
    summary: 'Disable a chain',
    description: 'No call is sent over it from now on; running ones are not affected.',
  })
  switchRoute(app, context, {
    verb: 'drain',
    status: 'maintenance',
    summary: 'Drain a chain',
    description: 'Like disable, and shown as under maintenance: it is meant to be enabled again.',
  })
  resetRoute(app, context)
  testRoute(app, context)
}

async function list(context: ChainsContext, catalogue: Catalogue): Promise<readonly JsonObject[]> {
  const at = context.now()
  const recent = await readChainRecent(context.storage, at)
  const costs = await context.storage.prices.costs()
  return chainsOf(catalogue).map(({ model, chain }) => ({
    ...chainForm(chain, catalogue.credentials.get(chain.credentialId)?.name ?? ''),
    id: chain.id,
    model_id: model.modelId,
    usable: model.status === 'enabled' && usableChains(model, catalogue).includes(chain),
    cost: costForm(model, costs.get(chain.id)),
    health: healthForm(viewHealth(context.health.of(chain), at)),
    recent: { ...(recent.get(chain.id) ?? NOTHING_RECENT) },
  }))
}

function healthForm({ last_error, ...view }: ChainHealthView): JsonObject {
  return { ...view, last_error: last_error === null ? null : { ...last_error } }
}

async function show(context: ChainsContext, id: ChainId): Promise<z.output<typeof chainShape>> {
  const rows = await list(context, context.catalogue())
  return chainShape.parse(present(rows.find((row) => row['id'] === id)))
}

function chainRows(app: Api, context: ChainsContext): void {
  defineRows(app, context, {
    section: 'chains',
    what: 'chain',
    idDescription: 'The id is the row id of the catalogue.',
    shape: chainShape,
    newBody: newChainBody,
    body: chainBody,
    changeDescription:
      'With another credential or forward_model_id it stays the same chain; 40900 where another chain is like that ' +
      'already. A gateway file that still names the former ones would add them as a chain of its own.',
    list: (catalogue) => list(context, catalogue),
    idOf: (row) => textOf(row, 'id'),
    idOfNew: (body, catalogue) => findNew(body, catalogue)?.id.toString(),
    check: checkChain,
    fragment: ({ cost: _cost, model_id, ...body }, old, catalogue) => {
      const id = modelId(textOf(old ?? { model_id }, 'model_id'))
      const status = catalogue.models.get(id)?.status ?? 'enabled'
      return {
        fragment: {
          models: [
            {
              model_id: id,
              status,
              chains: [{ ...preset(body, old, catalogue), ...writtenMembers(old), ...body }],
            },
          ],
        },
        prefix: 'models[0].chains[0]',
      }
    },
    more: (body, old) =>
      old === undefined
        ? {}
        : {
            move: moveOf(body, old),
            ...(body['cost'] === undefined ? {} : costEdit(body, old, context.catalogue())),
          },
    written: async (body, id) => {
      // A chain has no id before it is written, so a new one's cost follows it.
      const pricing = costOf(body, body, context.catalogue())
      if (pricing !== undefined) await context.storage.prices.putCost(chainId(Number(id)), pricing)
    },
  })
}

/** Defaults of a new chain (docs/reference/contract.md#D-requests-17). */
function preset(body: JsonObject, old: JsonObject | undefined, { vendors }: Catalogue): JsonObject {
  const { vendor, protocol, forward_model_id: forward } = body
  if (old !== undefined || protocol !== 'chat' || typeof vendor !== 'string') return {}
  const kind = vendors.get(vendorCode(vendor))?.kind
  return { stream_usage: presetStreamUsage(kind, protocol, typeof forward === 'string' ? forward : '') }
}

interface Switch {
  readonly verb: string
  readonly status: Status
  readonly summary: string
  readonly description: string
}

function switchRoute(app: Api, context: ChainsContext, { verb, status, ...words }: Switch): void {
  defineRoute(app, context, {
    method: 'POST',
    path: `/api/v1/admin/chains/:id/${verb}`,
    access: 'admin',
    tag: TAG,
    ...words,
    params: idParams,
    errors: [40900],
    data: chainShape,
    handle: async ({ params, caller, request }) => {
      await context.refreshCatalogue()
      const catalogue = context.catalogue()
      const { model, chain } = present(find(catalogue, params.id))
      const why = status === 'enabled' ? missingPrice(model.pricing, chain.protocol) : undefined
      if (why !== undefined)
        throw new GatewayError(40900, { message: say('chain-cannot-be-enabled', { why }) })
      const edit = {
        base: catalogue,
        ...switched(catalogue, { model, chain }, status),
        move: { id: chain.id },
        prefix: 'models[0].chains[0]',
        action: `chain.${verb}`,
        subject: String(chain.id),
      }
      valueOf(await editCatalogue(managementOf(context), edit, actorOf(context, { caller, request })))
      await context.refreshCatalogue()
      return show(context, chain.id)
    },
  })
}

function resetRoute(app: Api, context: ChainsContext): void {
  defineRoute(app, context, {
    method: 'POST',
    path: '/api/v1/admin/chains/:id/reset',
    access: 'admin',
    tag: TAG,
    summary: 'Forget the failures of a chain',
    description:
      'It is tried again with the next call, on every instance, whatever it was cooling down from.',
    params: idParams,
    data: chainShape,
    handle: async ({ params, caller, request }) => {
      const { chain } = present(find(context.catalogue(), params.id))
      const actor = actorOf(context, { caller, request })
      const before = viewHealth(context.health.of(chain), actor.at).state
      const act = {
        at: actor.at,
        actor,
        action: 'chain.reset',
        subject: String(chain.id),
        changes: [{ field: 'health', from: before, to: 'healthy' }],
      }
      await context.storage.audit.act(() =>
        Promise.resolve({ value: undefined, act, announce: [{ kind: 'chain', chainId: chain.id }] }),
      )
      context.health.reset(chain.id)
      return show(context, chain.id)
    },
  })
}

function testRoute(app: Api, context: ChainsContext): void {
  defineRoute(app, context, {
    method: 'POST',
    path: '/api/v1/admin/chains/:id/test',
    access: 'admin',
    tag: TAG,
    summary: 'Test a chain with one real, cheap call',
    params: idParams,
    data: probeShape,
    handle: async ({ params }) => {
      const target = present(find(context.catalogue(), params.id))
      return viewProbe(target.chain, await context.probe(target))
    },
  })
}

interface Placed {
  readonly model: Model
  readonly chain: Chain
}

function chainsOf(catalogue: Catalogue): readonly Placed[] {
  return [...catalogue.models.values()].flatMap((model) => model.chains.map((chain) => ({ model, chain })))
}

function find(catalogue: Catalogue, id: number): Placed | undefined {
  return chainsOf(catalogue).find(({ chain }) => chain.id === id)
}

/** The stored chain that a new one's body would duplicate. */
function findNew(body: JsonObject, catalogue: Catalogue): Chain | undefined {
  const credentials = [...catalogue.credentials.values()].filter((one) => one.vendorCode === body['vendor'])
  const named = body['credential'] ?? (credentials.length === 1 ? credentials[0]?.name : undefined)
  const credential = credentials.find((one) => one.name === named)
  return catalogue.models
    .get(modelId(textOf(body, 'model_id')))
    ?.chains.find(
      (chain) =>
        chain.vendorCode === body['vendor'] &&
        chain.credentialId === credential?.id &&
        chain.protocol === body['protocol'] &&
        chain.forwardModelId === (body['forward_model_id'] ?? body['model_id']),
    )
}

function checkChain(
  body: JsonObject,
  old: JsonObject | undefined,
  catalogue: Catalogue,
): readonly FieldMistake[] {
  const id = textOf(old ?? body, 'model_id')
  const model = catalogue.models.get(modelId(id))
  if (model === undefined)
    return [{ path: 'model_id', message: say('refers-to-unknown', { what: say('word-model'), name: id }) }]
  const mistakes: FieldMistake[] = []
  const status = body['status'] ?? old?.['status'] ?? 'enabled'
  const protocol = textOf(old ?? body, 'protocol')
  const chosen = CHAIN_PROTOCOL_IDS.find((one) => one === protocol)
  const why = chosen === undefined ? undefined : missingPrice(model.pricing, chosen)
  if (status === 'enabled' && why !== undefined)
    mistakes.push({ path: 'status', message: say('cannot-be-enabled', { why }) })
  if (isJsonObject(body['cost'])) {
    const read = readPricingForm(body['cost'], costContext(model, catalogue))
    if (read.kind === 'mistakes') {
      mistakes.push(...read.mistakes.map((one) => ({ ...one, path: `cost.${one.path}` })))
    } else if (chosen !== undefined && needsOutputPrice(read.pricing, [chosen])) {
      mistakes.push({ path: 'cost.output_price', message: OUTPUT_PRICE_MISSING })
    }
  }
  return mistakes
}

/** The members of a row that the gateway file has; the others are computed. */
function writtenMembers(row: JsonObject | undefined): JsonObject {
  if (row === undefined) return {}
  const { id: _id, model_id: _model, usable: _usable, cost: _cost, health: _health, ...rest } = row
  const { recent: _recent, ...written } = rest
  return written
}

function switched(catalogue: Catalogue, { model, chain }: Placed, status: Status) {
  const form = chainForm(chain, catalogue.credentials.get(chain.credentialId)?.name ?? '')
  return {
    fragment: {
      models: [{ model_id: model.modelId, status: model.status, chains: [{ ...form, status }] }],
    },
  }
}

function moveOf(body: JsonObject, old: JsonObject): ChainMove {
  const { credential, forward_model_id: forward } = body
  return {
    id: chainId(Number(old['id'])),
    ...(typeof credential === 'string' ? { credential } : {}),
    ...(typeof forward === 'string' ? { forwardModelId: forward } : {}),
  }
}

/** undefined: the body does not mention costs, or has none. */
function costOf(body: JsonObject, row: JsonObject, catalogue: Catalogue): Pricing | undefined {
  const { cost } = body
  const model = catalogue.models.get(modelId(textOf(row, 'model_id')))
  if (!isJsonObject(cost) || model === undefined) return undefined
  const read = readPricingForm(cost, costContext(model, catalogue))
  return read.kind === 'pricing' ? read.pricing : undefined
}

/** A cost without a currency is in the platform's own; if the prices are in another, a currency is required. */
function costContext({ pricing }: Model, { settings }: Catalogue) {
  return { settings, replaced: { currency: pricing.currency } }
}

function costEdit(body: JsonObject, old: JsonObject, catalogue: Catalogue) {
  const id = chainId(Number(old['id']))
  const pricing = costOf(body, old, catalogue)
  const model = catalogue.models.get(modelId(textOf(old, 'model_id')))
  const from = isJsonObject(old['cost']) ? old['cost'] : {}
  const to = isJsonObject(body['cost']) ? body['cost'] : {}
  const fields = compareForms(from, to)
  const difference: Difference = { action: 'change', what: 'cost of chain', name: String(id), fields }
  return {
    more: async ({ prices }: Pick<ApiContext['storage'], 'prices'>) => {
      const now = (model === undefined ? null : costForm(model, (await prices.costs()).get(id))) ?? {}
      if (compareForms(from, now).length > 0)
        throw new StorageConflict(`the cost of chain ${id} was changed by somebody else just now`)
      await prices.putCost(id, pricing)
    },
    moreDifferences: fields.length === 0 ? [] : [difference],
  }
}

function costForm(model: Model, pricing: Pricing | undefined): JsonObject | null {
  if (pricing === undefined) return null
  const { pricing: form } = modelForm({ ...model, pricing })
  return isJsonObject(form) ? form : null
}
