/** The built-in vendors with models and list prices, in the management API's form. */
import type { Environment } from '../config/environment.ts'
import type { Catalogue } from '../core/catalogue.ts'
import type { VendorPreset } from '../management/admin/presets.ts'
import { environmentVendors } from '../providers/catalogue/index.ts'
import { catalogueOf, keyOf } from './first-catalogue.ts'

export function knownPresets(environment: Environment): readonly VendorPreset[] {
  return environmentVendors.map((vendor) => {
    const own = keyOf(vendor, environment)
    return {
      ...vendor,
      hasKey: vendor.variable === undefined || own !== undefined,
      changes: (key) => catalogueOf([{ vendor, key: key ?? own }]),
    }
  })
}

/** Presets whose key is in the environment and that the catalogue does not have. */
export function offeredPresets(environment: Environment, catalogue: Catalogue): readonly VendorPreset[] {
  const codes: ReadonlySet<string> = new Set(catalogue.vendors.keys())
  return knownPresets(environment).filter(
    ({ code, variable, hasKey }) => variable !== undefined && hasKey && !codes.has(code),
  )
}
