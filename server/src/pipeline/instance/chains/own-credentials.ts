/** Customers' own credentials: for which vendors they count, and what may stand in one. */
import type { Demand } from '../../../core/ledger/operations.ts'
import type { Catalogue, Chain, CredentialSecret } from '../../../core/catalogue.ts'
import type { VendorCode } from '../../../core/ids.ts'
import { providerOf } from '../../../providers/index.ts'
import { findMisplacedField, holdsKey } from '../../../upstream/credentials/auth.ts'

type DemandVendors = Pick<Demand, 'vendors' | 'keylessVendors'>

/** Vendors behind these chains, and those of them where an own credential pays for nothing. */
export function demandVendors(chains: readonly Chain[], catalogue: Catalogue): DemandVendors {
  const vendors = [...new Set(chains.map((chain) => chain.vendorCode))]
  const keyless = chains.filter((chain) => !asksForKey(chain, catalogue))
  if (keyless.length === 0) return { vendors }
  return { vendors, keylessVendors: [...new Set(keyless.map((chain) => chain.vendorCode))] }
}

/** A server that serves the operator without a key serves anybody who comes through this gateway. */
function asksForKey({ vendorCode, credentialId }: Chain, { vendors, credentials }: Catalogue): boolean {
  const kind = vendors.get(vendorCode)?.kind
  const provider = kind === undefined ? undefined : providerOf(kind)
  const credential = credentials.get(credentialId)
  if (provider === undefined || provider.ownServer === true || credential === undefined) return false
  return holdsKey(credential.secret, provider.publicFields)
}

/** Why a customer's own credential cannot be taken for a vendor, and the field that says so; undefined: it can. */
export function findOwnCredentialMistake(
  { vendors, credentials }: Pick<Catalogue, 'vendors' | 'credentials'>,
  { vendor, credential }: { readonly vendor: VendorCode; readonly credential: CredentialSecret },
): { readonly field: string; readonly message: string } | undefined {
  const kind = vendors.get(vendor)?.kind
  const provider = kind === undefined ? undefined : providerOf(kind)
  if (provider === undefined) return undefined
  const { publicFields } = provider
  const platforms = [...credentials.values()].filter(({ vendorCode }) => vendorCode === vendor)
  const keyless = platforms.length > 0 && !platforms.some(({ secret }) => holdsKey(secret, publicFields))
  if (provider.ownServer === true || keyless)
    return { field: 'vendor', message: 'needs no key, so own credentials are not used there' }
  if (!holdsKey(credential, publicFields))
    return { field: 'secret', message: 'must hold a key of the vendor' }
  const misplaced = findMisplacedField(credential, publicFields)
  return misplaced === undefined
    ? undefined
    : { field: `fields.${misplaced}`, message: 'cannot stand in an address' }
}
