/** Which vendors a first run knows: one line each, in the order they are shown. */
import { sandboxVendor } from '../sandbox/models.ts'
import type { EnvironmentVendor } from './listing.ts'

export const environmentVendors: readonly EnvironmentVendor[] = [sandboxVendor]
