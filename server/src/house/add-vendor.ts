/** A preset added to a catalogue that is there: what it has already stays as it is. */
import type { Environment } from '../config/environment.ts'
import type { Catalogue } from '../core/catalogue.ts'
import type { Actor } from '../management/admin/acts.ts'
import { environmentVendors } from '../providers/catalogue/index.ts'
import type { EnvironmentVendor } from '../providers/catalogue/listing.ts'
import type { CatalogueChange } from '../storage/records.ts'
import type { Storage } from '../storage/storage.ts'
import { firstCatalogue } from './first-catalogue.ts'

export type VendorAdded =
  | {
      readonly kind: 'added'
      readonly vendor: EnvironmentVendor
      readonly changes: readonly CatalogueChange[]
    }
  /** A sentence that says what to change. */
  | { readonly kind: 'refused'; readonly message: string }

/** `changes` is empty where the catalogue has all of it. */
export async function addVendor(
  storage: Pick<Storage, 'catalogue' | 'audit'>,
  code: string,
  { environment, actor }: { readonly environment: Environment; readonly actor: Actor },
): Promise<VendorAdded> {
  const vendor = environmentVendors.find((known) => known.code === code)
  if (vendor === undefined) return refused(`there is no preset ${code}: sluice models presets shows them`)
  const catalogue = await storage.catalogue.read()
  const { currency } = catalogue.settings
  if (currency !== 'CNY')
    return refused(
      `presets are priced in yuan and settings.currency is ${currency}: write the models with prices of your own, sluice apply -f`,
    )
  const offer = firstCatalogue(environment, [vendor])
  if (offer.length === 0)
    return refused(`${vendor.variable ?? 'its key'} is not set: it has to hold the key of ${vendor.name}`)
  const kept = [...catalogue.credentials.values()].find(({ vendorCode }) => vendorCode === code)?.name
  const changes = offer
    .filter((change) => isNew(change, catalogue))
    .map((change) =>
      change.kind === 'put-chain' && kept !== undefined ? { ...change, credentialName: kept } : change,
    )
  if (changes.length === 0) return { kind: 'added', vendor, changes }
  await storage.audit.act(async (stores) => {
    await stores.catalogue.apply(changes)
    const told = changes.map((change) => ({ field: nameOf(change), from: null, to: 'create' }))
    return {
      value: undefined,
      act: { at: actor.at, actor, action: 'vendor.add-preset', subject: code, changes: told },
    }
  })
  return { kind: 'added', vendor, changes }
}

/** Vendors with a preset whose key the environment holds and the catalogue has not. */
export function offeredVendors(environment: Environment, catalogue: Catalogue): readonly EnvironmentVendor[] {
  const codes: ReadonlySet<string> = new Set(catalogue.vendors.keys())
  return environmentVendors.filter(
    ({ code, variable }) =>
      variable !== undefined && (environment[variable]?.trim() ?? '') !== '' && !codes.has(code),
  )
}

const refused = (message: string): VendorAdded => ({ kind: 'refused', message })

/** Of the four kinds that a preset is made of. */
function isNew(change: CatalogueChange, { vendors, credentials, models }: Catalogue): boolean {
  if (change.kind === 'put-vendor') return !vendors.has(change.vendor.code)
  if (change.kind === 'put-credential')
    return ![...credentials.values()].some(({ vendorCode }) => vendorCode === change.vendorCode)
  if (change.kind === 'put-model') return !models.has(change.model.modelId)
  if (change.kind !== 'put-chain') return false
  const { modelId, vendorCode, protocol } = change.chain
  const known = models.get(modelId)?.chains ?? []
  return !known.some((chain) => chain.vendorCode === vendorCode && chain.protocol === protocol)
}

/** Without what is secret. */
function nameOf(change: CatalogueChange): string {
  if (change.kind === 'put-vendor') return `vendor ${change.vendor.code}`
  if (change.kind === 'put-credential') return `credential ${change.vendorCode} / ${change.name}`
  if (change.kind === 'put-model') return `model ${change.model.modelId}`
  if (change.kind !== 'put-chain') return change.kind
  const { modelId, vendorCode, protocol } = change.chain
  return `chain ${modelId} / ${vendorCode} ${protocol}`
}
