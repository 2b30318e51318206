/** The catalogue: read as one immutable value, changed by natural key in one transaction. */
import type { Kysely } from 'kysely'
import type {
  Catalogue,
  Chain,
  Credential,
  CredentialSecret,
  Group,
  Model,
  Plan,
  Vendor,
} from '../../../core/catalogue.ts'
import {
  type CredentialId,
  credentialId,
  type ModelId,
  type VendorCode,
  vendorCode,
} from '../../../core/ids.ts'
import type { SecretBox } from '../../secret-box.ts'
import type { AnnouncedWrite } from '../announced-write.ts'
import { applyCatalogueChange, credentialPurpose } from './catalogue-changes.ts'
import {
  decodeChain,
  decodeGroup,
  decodeModel,
  decodePlan,
  decodeStatus,
  decodeVendor,
} from './catalogue-rows.ts'
import { readObservations, writeObservations } from './chain-observations.ts'
import { decodePolicy } from '../accounts/account-row.ts'
import type { SqlEngine } from '../engine.ts'
import type { Schema } from '../schema.ts'
import { openCredential } from './sealed-credential.ts'
import { readSettings } from './settings.ts'
import { findRateHold } from '../ledger/own-rate.ts'
import type { Announcement } from '../../announcement.ts'
import type { CatalogueStore } from '../../stores/catalogue.ts'

export interface CatalogueStoreOptions {
  readonly engine: SqlEngine
  readonly reader: Kysely<Schema>
  readonly write: AnnouncedWrite
  readonly secrets: SecretBox
  readonly newId: () => string
  readonly now: () => number
}

const NO_SECRET: CredentialSecret = { secret: undefined, fields: {} }

export function createCatalogueStore(options: CatalogueStoreOptions): CatalogueStore {
  const { engine, reader, write, secrets, newId, now } = options
  return {
    // One snapshot, so that no chain is read without its model. SQLite provides that in any transaction.
    read: () =>
      reader.isTransaction
        ? readCatalogue(reader, secrets)
        : reader
            .transaction()
            .setIsolationLevel('repeatable read')
            .execute((transaction) => readCatalogue(transaction, secrets)),

    apply: (changes) =>
      write(async (transaction) => {
        const announced: Announcement[] = changes.length === 0 ? [] : [{ kind: 'catalogue' }]
        for (const change of changes) {
          const told = await applyCatalogueChange(transaction, change, { engine, secrets, newId, now })
          announced.push(...(told ?? []))
        }
        return { value: undefined, changes: announced }
      }),

    findRateHold: (what) => findRateHold(reader, what),
    readObservations: () => readObservations(engine),
    writeObservations: (observed, at) => writeObservations(engine, observed, at),
  }
}

async function readCatalogue(database: Kysely<Schema>, secrets: SecretBox): Promise<Catalogue> {
  const chains = await readChains(database)
  return {
    settings: await readSettings(database),
    vendors: await readVendors(database),
    credentials: await readCredentials(database, secrets),
    models: await readModels(database, chains),
    groups: await readGroups(database),
    plans: await readPlans(database),
  }
}

async function readChains(database: Kysely<Schema>): Promise<ReadonlyMap<string, readonly Chain[]>> {
  const rows = await database.selectFrom('chains').selectAll().orderBy('id').execute()
  const chains = new Map<string, Chain[]>()
  for (const row of rows) {
    const chain = decodeChain(row)
    const others = chains.get(chain.modelId)
    if (others === undefined) chains.set(chain.modelId, [chain])
    else others.push(chain)
  }
  return chains
}

async function readModels(
  database: Kysely<Schema>,
  chains: ReadonlyMap<string, readonly Chain[]>,
): Promise<ReadonlyMap<ModelId, Model>> {
  const rows = await database
    .selectFrom('models')
    .selectAll()
    .orderBy('position')
    .orderBy('model_id')
    .execute()
  const models = rows.map((row) => decodeModel(row, chains.get(row.model_id) ?? []))
  return new Map(models.map((model) => [model.modelId, model]))
}

async function readVendors(database: Kysely<Schema>): Promise<ReadonlyMap<VendorCode, Vendor>> {
  const rows = await database.selectFrom('vendors').selectAll().orderBy('code').execute()
  const vendors = rows.map(decodeVendor)
  return new Map(vendors.map((vendor) => [vendor.code, vendor]))
}

async function readCredentials(
  database: Kysely<Schema>,
  secrets: SecretBox,
): Promise<ReadonlyMap<CredentialId, Credential>> {
  const rows = await database
    .selectFrom('credentials')
    .selectAll()
    .orderBy('vendor_code')
    .orderBy('name')
    .execute()
  const credentials = rows.map(
    (row): Credential => ({
      id: credentialId(row.id),
      vendorCode: vendorCode(row.vendor_code),
      name: row.name,
      secret:
        row.sealed === null ? NO_SECRET : openCredential(secrets, row.sealed, credentialPurpose(row.id)),
      limits: decodePolicy(row.limits),
      status: decodeStatus(row.status),
    }),
  )
  return new Map(credentials.map((credential) => [credential.id, credential]))
}

async function readGroups(database: Kysely<Schema>): Promise<ReadonlyMap<string, Group>> {
  const rows = await database.selectFrom('protocol_groups').selectAll().orderBy('name').execute()
  return new Map(rows.map((row) => [row.name, decodeGroup(row)]))
}

async function readPlans(database: Kysely<Schema>): Promise<ReadonlyMap<string, Plan>> {
  const rows = await database.selectFrom('plans').selectAll().orderBy('level').orderBy('code').execute()
  return new Map(rows.map((row) => [row.code, decodePlan(row)]))
}
