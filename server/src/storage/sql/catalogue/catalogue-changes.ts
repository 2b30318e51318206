/** One change of the catalogue, matched by natural key (gateway file). */
import type { Transaction } from 'kysely'
import type { Chain, Group, ModelFields, Plan, Settings, Vendor } from '../../../core/catalogue.ts'
import { StorageConflict } from '../../failures/conflict.ts'
import type { CatalogueChange } from '../../stores/records.ts'
import type { SecretBox } from '../../secret-box.ts'
import type { SqlEngine } from '../engine.ts'
import type { Schema } from '../schema.ts'
import { sealCredential } from './sealed-credential.ts'
import { changeRate, lockRate } from '../ledger/own-rate.ts'
import type { Announcement } from '../../announcement.ts'

export interface CatalogueTools {
  readonly engine: SqlEngine
  readonly secrets: SecretBox
  readonly newId: () => string
  readonly now: () => number
}

type Database = Transaction<Schema>
type Change<Kind extends CatalogueChange['kind']> = Extract<CatalogueChange, { readonly kind: Kind }>

/** Returns what is to be announced besides the catalogue. */
export async function applyCatalogueChange(
  database: Database,
  change: CatalogueChange,
  tools: CatalogueTools,
): Promise<readonly Announcement[] | void> {
  switch (change.kind) {
    case 'put-settings':
      return putSettings(database, change.settings, tools)
    case 'put-vendor':
      return putVendor(database, change.vendor)
    case 'put-credential':
      return putCredential(database, change, tools)
    case 'put-model':
      return putModel(database, change.model, tools)
    case 'put-chain':
      return putChain(database, change)
    case 'move-chain':
      return moveChain(database, change)
    case 'put-group':
      return putGroup(database, change.group)
    case 'put-plan':
      return putPlan(database, change.plan)
    case 'disable-vendor':
      await database
        .updateTable('vendors')
        .set({ status: 'disabled' })
        .where('code', '=', change.code)
        .execute()
      return
    case 'disable-credential':
      return disableCredential(database, change)
    case 'disable-model':
      await database
        .updateTable('models')
        .set({ status: 'disabled' })
        .where('model_id', '=', change.modelId)
        .execute()
      return
    case 'disable-chain':
      return disableChain(database, change.id)
    case 'remove-group':
      await database.deleteFrom('protocol_groups').where('name', '=', change.name).execute()
      return
    case 'remove-plan':
      await database.deleteFrom('plans').where('code', '=', change.code).execute()
      return
  }
}

/** What a sealed credential belongs to; see `SecretBox`. */
export function credentialPurpose(id: string): string {
  return `credential:${id}`
}

async function putSettings(
  database: Database,
  settings: Settings,
  { engine }: CatalogueTools,
): Promise<readonly Announcement[]> {
  await lockRate(engine, database)
  const changed = await changeRate(database, settings)
  const body = JSON.stringify(settings)
  await database
    .insertInto('settings')
    .values({ id: 1, body })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ body }))
    .execute()
  // Every account with amounts set in money may have changed.
  return changed ? [{ kind: 'everything' }] : []
}

async function putVendor(database: Database, vendor: Vendor): Promise<void> {
  const row = {
    name: vendor.name,
    kind: vendor.kind,
    base_url: vendor.baseUrl ?? null,
    timeouts: JSON.stringify(vendor.timeouts),
    status: vendor.status,
  }
  await database
    .insertInto('vendors')
    .values({ code: vendor.code, ...row })
    .onConflict((conflict) => conflict.column('code').doUpdateSet(row))
    .execute()
}

async function putCredential(
  database: Database,
  change: Change<'put-credential'>,
  { secrets, newId }: CatalogueTools,
): Promise<void> {
  const known = await findCredential(database, change.vendorCode, change.name)
  const id = known ?? newId()
  const row = {
    limits: JSON.stringify(change.limits),
    status: change.status,
    ...(change.secret !== undefined && {
      sealed: sealCredential(secrets, change.secret, credentialPurpose(id)),
    }),
  }
  if (known === undefined) {
    await database
      .insertInto('credentials')
      .values({ id, vendor_code: change.vendorCode, name: change.name, ...row })
      .execute()
  } else {
    await database.updateTable('credentials').set(row).where('id', '=', id).execute()
  }
}

async function disableCredential(
  database: Database,
  { vendorCode, name }: Change<'disable-credential'>,
): Promise<void> {
  await database
    .updateTable('credentials')
    .set({ status: 'disabled' })
    .where('vendor_code', '=', vendorCode)
    .where('name', '=', name)
    .execute()
}

async function putModel(database: Database, model: ModelFields, { now }: CatalogueTools): Promise<void> {
  const row = {
    name: model.name,
    status: model.status,
    client_visible: model.clientVisible ? 1 : 0,
    support_features: JSON.stringify(model.supportFeatures),
    required_verification: model.requiredVerification,
    required_plan: model.requiredPlan,
    context_tokens: model.contextTokens ?? null,
    max_output_tokens: model.maxOutputTokens ?? null,
    subscription_covered: model.subscriptionCovered ? 1 : 0,
    pricing: JSON.stringify(model.pricing),
    surcharges: JSON.stringify(model.surcharges),
    refuse: JSON.stringify(model.refuse),
  }
  await database
    .insertInto('models')
    .values({
      model_id: model.modelId,
      position: await nextPosition(database),
      created_at: now(),
      ...row,
    })
    .onConflict((conflict) => conflict.column('model_id').doUpdateSet(row))
    .execute()
}

async function nextPosition(database: Database): Promise<bigint> {
  const row = await database
    .selectFrom('models')
    .select((select) => select.fn.max('position').as('position'))
    .executeTakeFirst()
  return (row?.position ?? 0n) + 1n
}

async function putChain(database: Database, { chain, credentialName }: Change<'put-chain'>): Promise<void> {
  const credential = await findCredential(database, chain.vendorCode, credentialName)
  if (credential === undefined) {
    throw new Error(
      `chain of ${chain.modelId}: vendor ${chain.vendorCode} has no credential ${credentialName}`,
    )
  }
  const row = chainColumns(chain)
  await database
    .insertInto('chains')
    .values({
      model_id: chain.modelId,
      vendor_code: chain.vendorCode,
      credential_id: credential,
      protocol: chain.protocol,
      forward_model_id: chain.forwardModelId,
      ...row,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['model_id', 'vendor_code', 'credential_id', 'protocol', 'forward_model_id'])
        .doUpdateSet(row),
    )
    .execute()
}

/** The chain's earlier health says nothing about its new place. */
async function moveChain(
  database: Database,
  { id, vendorCode, from, to }: Change<'move-chain'>,
): Promise<readonly Announcement[]> {
  const [before, after] = [
    await findCredential(database, vendorCode, from.credentialName),
    await findCredential(database, vendorCode, to.credentialName),
  ]
  if (after === undefined) {
    throw new Error(`chain ${id}: vendor ${vendorCode} has no credential ${to.credentialName}`)
  }
  const moved =
    before === undefined
      ? undefined
      : await database
          .updateTable('chains')
          .set({ credential_id: after, forward_model_id: to.forwardModelId })
          .where('id', '=', BigInt(id))
          .where('vendor_code', '=', vendorCode)
          .where('credential_id', '=', before)
          .where('forward_model_id', '=', from.forwardModelId)
          .executeTakeFirst()
  if (moved?.numUpdatedRows !== 1n)
    throw new StorageConflict(`chain ${id} was changed by somebody else just now`)
  const stays = before === after && from.forwardModelId === to.forwardModelId
  return stays ? [] : [{ kind: 'chain', chainId: id }]
}

async function disableChain(database: Database, id: number): Promise<void> {
  await database.updateTable('chains').set({ status: 'disabled' }).where('id', '=', BigInt(id)).execute()
}

function chainColumns(chain: Omit<Chain, 'id' | 'credentialId'>) {
  return {
    priority: chain.priority,
    weight: chain.weight,
    rate_multiplier: chain.rateMultiplier,
    stream_usage: chain.streamUsage,
    client_gone_grace_ms: chain.clientGoneGraceMs,
    min_bytes_per_second: chain.minBytesPerSecond,
    capabilities: JSON.stringify(chain.capabilities),
    status: chain.status,
  }
}

async function putGroup(database: Database, group: Group): Promise<void> {
  const row = { protocol: group.protocol, models: JSON.stringify(group.models) }
  await database
    .insertInto('protocol_groups')
    .values({ name: group.name, ...row })
    .onConflict((conflict) => conflict.column('name').doUpdateSet(row))
    .execute()
}

async function putPlan(database: Database, plan: Plan): Promise<void> {
  const row = {
    level: plan.level,
    price: plan.price,
    currency: plan.currency,
    period_days: plan.periodDays,
    quota: JSON.stringify(plan.quota),
  }
  await database
    .insertInto('plans')
    .values({ code: plan.code, ...row })
    .onConflict((conflict) => conflict.column('code').doUpdateSet(row))
    .execute()
}

async function findCredential(database: Database, vendor: string, name: string): Promise<string | undefined> {
  const row = await database
    .selectFrom('credentials')
    .select('id')
    .where('vendor_code', '=', vendor)
    .where('name', '=', name)
    .executeTakeFirst()
  return row?.id
}
