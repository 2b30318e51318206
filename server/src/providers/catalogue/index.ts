/** Which vendors a first run knows: one line each, in the order they are shown. */
import type { EnvironmentVendor } from './listing.ts'
import { sandboxVendor } from './sandbox.ts'

export const environmentVendors: readonly EnvironmentVendor[] = [sandboxVendor]
