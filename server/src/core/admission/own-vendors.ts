import type { AccountRow } from '../ledger/hot-rows.ts'
import type { Demand } from '../ledger/operations.ts'
import type { VendorCode } from '../ids.ts'

/** Vendors of a model that the account has credentials of its own for, and that ask for one. */
export function ownVendors(
  { byokVendors }: Pick<AccountRow, 'byokVendors'>,
  { vendors, keylessVendors = [] }: Pick<Demand, 'vendors' | 'keylessVendors'>,
): readonly VendorCode[] {
  return vendors.filter((vendor) => byokVendors.includes(vendor) && !keylessVendors.includes(vendor))
}
